/** The writer thread: takes batches, commits them, answers. A slow fsync delays only its own decisions, never the event loop (P24). */
import { StoreRefusal } from '../store.ts';
import { Engine } from './engine.ts';
import { codeOf, FilesMoved, messageOf } from './files.ts';
import type { FromWriter, OpenRequest, ToWriter } from './protocol.ts';

declare const self: Worker;

const retryMilliseconds = 1_000;
let engine: Engine | null = null;

const say = (message: FromWriter, transfer: ArrayBuffer[] = []): void => self.postMessage(message, transfer);

function open(request: OpenRequest): void {
  try {
    engine = new Engine(request);
    say({ kind: 'opened' });
    engine.prepare();
  } catch (error) {
    const reason = error instanceof StoreRefusal ? error.reason : null;
    say({ kind: 'refused', reason, message: messageOf(error) });
  }
}

function runBatch(opened: Engine, batch: Extract<ToWriter, { kind: 'batch' }>): void {
  try {
    if (!opened.isSound()) throw new Error('the database is being checked after a failure');
    const { frames } = batch;
    say({ kind: 'answers', frames, ...opened.run(batch) }, [frames]);
  } catch (error) {
    const broken = !opened.isSound();
    const moved = error instanceof FilesMoved;
    say({ kind: 'failed', message: messageOf(error), code: codeOf(error), broken, moved });
    if (broken) recover(opened);
  }
}

function recover(opened: Engine): void {
  if (opened.recover()) say({ kind: 'recovered' });
  else setTimeout(() => recover(opened), retryMilliseconds);
}

self.onmessage = ({ data }: MessageEvent<ToWriter>) => {
  if (data.kind === 'open') open(data);
  if (data.kind === 'batch' && engine !== null) runBatch(engine, data);
  if (data.kind === 'close') {
    engine?.close();
    say({ kind: 'closed' });
  }
};
