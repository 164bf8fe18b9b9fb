/**
 * The log: JSON lines through pino. Only the closed set of `log-lines.ts` can be logged (P18). Logging never delays a response: lines are
 * written once per turn of the event loop, a reader that stalls or leaves never stalls a request (P24), and lines that do not fit the
 * buffer are dropped and counted. pino takes about 35 ms to load, so it loads after the first responses.
 */

import { writeSync } from 'node:fs';
import type { Logger as Pino } from 'pino';
import { type Fields, type LogLevel, type LogLine, levelOf, toFields } from './log-lines.ts';

export type Log = (line: LogLine) => void;

export interface Logger {
  readonly log: Log;
  /** Writes the lines still in memory. Later lines need another `close`. */
  close(): Promise<void>;
}

export interface LoggerDeps {
  readonly level: LogLevel;
  readonly writer: LineWriter;
  readonly wallClockMs: () => number;
  readonly after: (milliseconds: number, run: () => void) => void;
}

const rank: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };
/** Longer than startup and the first responses take. */
const loadDelayMs = 300;

interface HeldLine {
  readonly level: LogLevel;
  readonly timeMs: number;
  readonly fields: Fields;
}

/** Lines are written later than their events happen, so the time is set per line. */
interface OpenPino {
  readonly pino: Pino;
  readonly setTime: (timeMs: number) => void;
}

async function openPino(level: LogLevel, collect: (text: string) => void): Promise<OpenPino> {
  const { pino } = await import('pino');
  let time = '';
  let ofMs = Number.NaN;
  const options = {
    level,
    // Omits process id and host name, which reveal nothing about the service.
    base: null,
    timestamp: () => time,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  const setTime = (timeMs: number): void => {
    // Lines from one turn usually share a millisecond.
    if (timeMs === ofMs) return;
    ofMs = timeMs;
    time = `,"time":"${new Date(timeMs).toISOString()}"`;
  };
  return { pino: pino(options, { write: collect }), setTime };
}

export function createLogger(deps: LoggerDeps): Logger {
  let held: HeldLine[] = [];
  let text = '';
  let opening: Promise<OpenPino> | null = null;
  let scheduled = false;

  async function drain(): Promise<void> {
    opening ??= openPino(deps.level, (line) => {
      text += line;
    });
    const { pino, setTime } = await opening;
    scheduled = false;
    const dropped = deps.writer.takeDropped();
    if (dropped > 0) log({ event: 'log_dropped', records: dropped });
    const lines = held;
    held = [];
    for (const { level, timeMs, fields } of lines) {
      setTime(timeMs);
      pino[level](fields);
    }
    if (text !== '') deps.writer.write(text);
    text = '';
  }

  function log(line: LogLine): void {
    const level = levelOf(line);
    if (rank[level] < rank[deps.level]) return;
    held.push({ level, timeMs: deps.wallClockMs(), fields: toFields(line) });
    if (scheduled) return;
    scheduled = true;
    deps.after(opening === null ? loadDelayMs : 0, () => void drain());
  }

  return { log, close: drain };
}

const maxBacklogBytes = 1_048_576;

export interface LineWriter {
  write(text: string): void;
  takeDropped(): number;
}

/** Returns how many bytes it wrote; throws errors with a `code`, like `node:fs`. */
export type WriteBytes = (bytes: Uint8Array) => number;

export function writeTo(fileDescriptor: number): WriteBytes {
  return (bytes) => writeSync(fileDescriptor, bytes);
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EAGAIN';
}

export function createLineWriter(writeBytes: WriteBytes, later: (retry: () => void) => void): LineWriter {
  let backlog: Uint8Array = new Uint8Array();
  let waiting = false;
  let dropped = 0;

  function drain(): void {
    waiting = false;
    try {
      while (backlog.length > 0) backlog = backlog.subarray(writeBytes(backlog));
    } catch (error) {
      if (!isBusy(error)) {
        // The reader is gone.
        backlog = new Uint8Array();
        return;
      }
      waiting = true;
      later(drain);
    }
  }

  return {
    write(text) {
      const bytes = Buffer.from(text, 'utf8');
      if (backlog.length + bytes.length > maxBacklogBytes) {
        dropped += text.split('\n').length - 1;
        return;
      }
      backlog = backlog.length === 0 ? bytes : Buffer.concat([backlog, bytes]);
      if (!waiting) drain();
    },
    takeDropped() {
      const count = dropped;
      dropped = 0;
      return count;
    },
  };
}
