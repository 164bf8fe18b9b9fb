/** The threads that wait for the disk, seen from the event loop: see disk-thread.ts. */
import { closeSync, openSync } from 'node:fs';

/** What the thread does, one task after the other. */
export interface DiskTasks {
  /** All that was written to the file is on the disk. @throws when it may not be */
  sync(file: number): void;
  writeOut(database: string, mode: 'PASSIVE' | 'TRUNCATE'): boolean;
  /** `writeOut`, and begins the next log. */
  startOver(database: string, mode: 'PASSIVE' | 'TRUNCATE'): boolean;
  /**
   * Whether the store may be trusted again after a failure: opens it anew, writes out every frame, so that nothing rests on pages that a
   * failed sync may have dropped, and checks the database.
   */
  check(database: string): boolean;
  holdBallast(path: string, sizeBytes: number): boolean;
  giveUpBallast(path: string): void;
  close(): void;
}

export type DiskAsk = { readonly name: keyof DiskTasks; readonly args: readonly unknown[] };
export type DiskAnswer =
  | { readonly answer: unknown }
  /** `code`: SQLite's or the system's, such as `EIO`; `''` if there is none. */
  | { readonly message: string; readonly code: string };

export class DiskThread {
  readonly #worker = new Worker(new URL('./disk-thread.ts', import.meta.url).href, { smol: true });
  #asked: PromiseWithResolvers<unknown>[] = [];
  #hasEnded = false;

  /** @param onEnd it has ended by itself: nothing more will be answered */
  constructor(onEnd: (message: string) => void) {
    this.#worker.onmessage = ({ data }: MessageEvent<DiskAnswer>) => {
      const asked = this.#asked.shift();
      if ('answer' in data) asked?.resolve(data.answer);
      else asked?.reject(Object.assign(new Error(data.message), { code: data.code }));
    };
    this.#worker.onerror = ({ message }) => {
      this.#hasEnded = true;
      onEnd(message);
      for (const { reject } of this.#asked.splice(0)) reject(new Error(message));
    };
  }

  ask<N extends keyof DiskTasks>(
    name: N,
    ...args: Parameters<DiskTasks[N]>
  ): Promise<ReturnType<DiskTasks[N]>> {
    if (this.#hasEnded) return Promise.reject(new Error('the thread has ended'));
    const asked = Promise.withResolvers<unknown>();
    this.#asked.push(asked);
    this.#worker.postMessage({ name, args } satisfies DiskAsk);
    return asked.promise as Promise<ReturnType<DiskTasks[N]>>;
  }

  async close(): Promise<void> {
    await this.ask('close').catch(() => {});
    this.#worker.terminate();
  }
}

export interface Disk {
  /** Resolves when all that was written to the log before is on the disk. */
  readonly sync: () => Promise<void>;
  /** The thread for what takes longer; it is begun when it is first needed. */
  readonly long: () => DiskThread;
  close(): Promise<void>;
}

/** @param log the path of a log that is there */
export function openDisk(log: string, onEnd: (message: string) => void): Disk {
  const file = openSync(log, 'r+');
  const syncing = new DiskThread(onEnd);
  let long: DiskThread | null = null;
  return {
    sync: () => syncing.ask('sync', file),
    long: () => (long ??= new DiskThread(onEnd)),
    async close() {
      await Promise.all([syncing.close(), long?.close()]);
      closeSync(file);
    },
  };
}
