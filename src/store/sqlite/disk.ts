import { closeSync, openSync } from 'node:fs';

export interface DiskTasks {
  /** Checkpoints the log and begins the next one. Returns whether the whole log was moved. `TRUNCATE` also empties the file. */
  writeOut(database: string, mode: 'PASSIVE' | 'TRUNCATE'): boolean;
  /**
   * Returns whether the store may be trusted again after a failure. Rewrites and checkpoints the log, so that nothing
   * depends on pages that a failed sync may have dropped, and checks the database.
   */
  check(database: string): boolean;
  holdBallast(path: string, sizeBytes: number): boolean;
  giveUpBallast(path: string): void;
  close(): void;
}

/** A number, which is the cheapest message to send, is the descriptor of a file to sync. */
export type DiskAsk = number | { readonly name: keyof DiskTasks; readonly args: readonly unknown[] };
export type DiskAnswer =
  | null
  | { readonly answer: unknown }
  /** `code`: SQLite's or the system's, such as `EIO`; `''` if unknown. */
  | { readonly message: string; readonly code: string };

/** Runs one task at a time. */
export class Disk {
  readonly #worker = new Worker(new URL('./disk-thread.ts', import.meta.url).href, { smol: true });
  readonly #log: number;
  #asked: PromiseWithResolvers<unknown>[] = [];
  #hasEnded = false;

  /**
   * @param log the path of an existing log
   * @param onEnd called if the thread ends on its own
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

  /** Syncs everything written to the log before the call. */
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
