/**
 * Writing lines to a stream that may be slow or gone.
 *
 * Owns: the buffer between the log and its file descriptor. Invariant: a reader that stalls or leaves never stalls a
 * request (P24): what does not fit is dropped and counted, and memory stays bounded.
 */
import { writeSync } from 'node:fs';

const maxBacklogBytes = 1_048_576;

export interface LineWriter {
  /** Takes whole lines. */
  write(text: string): void;
  /** Lines dropped since the last call. */
  takeDropped(): number;
}

/** Writes some of the bytes and says how many; throws an error with `code` as `node:fs` does. */
export type WriteBytes = (bytes: Uint8Array) => number;

export function writeTo(fileDescriptor: number): WriteBytes {
  return (bytes) => writeSync(fileDescriptor, bytes);
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EAGAIN';
}

/** @param writeBytes where to, @param later runs a function after a short while, to try a busy pipe again */
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
        // The reader is gone: nobody will ever see these lines.
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
