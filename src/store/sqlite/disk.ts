/** What the event loop has done for it where it must not wait: see disk-thread.ts. */
import { closeSync, openSync } from 'node:fs';

/** What the thread does, one task after the other. */
export interface DiskTasks {
  /** Moves the log into the database, and begins the next one; whether all of it was moved. TRUNCATE empties it as well. */
  writeOut(database: string, mode: 'PASSIVE' | 'TRUNCATE'): boolean;
  /**
   * Whether the store may be trusted again after a failure: opens it, writes the log over itself and out into the database, so that nothing
   * depends on pages that a failed sync may have dropped, and checks the database.
   */
  check(database: string): boolean;
  holdBallast(path: string, sizeBytes: number): boolean;
  giveUpBallast(path: string): void;
  close(): void;
}

/** A number is a file to be synced: each batch asks that, and a number costs the least to send. */
export type DiskAsk = number | { readonly name: keyof DiskTasks; readonly args: readonly unknown[] };
export type DiskAnswer =
  /** It is synced. */
  | null
  | { readonly answer: unknown }
  /** `code`: SQLite's or the system's, such as `EIO`; `''` if there is none. */
  | { readonly message: string; readonly code: string };

/** The thread that waits for the disk. It does one thing after the other. */
export class Disk {
  readonly #worker = new Worker(new URL('./disk-thread.ts', import.meta.url).href, { smol: true });
  readonly #log: number;
  #asked: PromiseWithResolvers<unknown>[] = [];
  #hasEnded = false;

  /**
   * @param log the path of a log that is there
   * @param onEnd called when the thread has ended by itself
   */
  constructor(log: string, onEnd: (message: string) => void) {
    this.#log = openSync(log, 'r+');
    this.#worker.onmessage = ({ data }: MessageEvent<DiskAnswer>) => {
      const asked = this.#asked.shift();
      if (data === null) asked?.resolve(null);
      else if ('answer' in data) asked?.resolve(data.answer);
      else asked?.reject(Object.assign(new Error(data.message), { code: data.code }));
    };
    this.#worker.onerror = ({ message }) => {
      this.#hasEnded = true;
      onEnd(message);
      for (const { reject } of this.#asked.splice(0)) reject(new Error(message));
    };
  }

  /** Resolves when all that was written to the log before is on the disk. */
  async sync(): Promise<void> {
    await this.#send(this.#log);
  }

  ask<N extends keyof DiskTasks>(
    name: N,
    ...args: Parameters<DiskTasks[N]>
  ): Promise<ReturnType<DiskTasks[N]>> {
    return this.#send({ name, args }) as Promise<ReturnType<DiskTasks[N]>>;
  }

  #send(ask: DiskAsk): Promise<unknown> {
    if (this.#hasEnded) return Promise.reject(new Error('the thread has ended'));
    const asked = Promise.withResolvers<unknown>();
    this.#asked.push(asked);
    this.#worker.postMessage(ask);
    return asked.promise;
  }

  async close(): Promise<void> {
    await this.ask('close').catch(() => {});
    this.#worker.terminate();
    closeSync(this.#log);
  }
}
