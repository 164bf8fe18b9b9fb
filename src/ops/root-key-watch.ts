/** The key file while a server runs: what `mayfly keys` changes in it is taken within a second, once it fits the store (P12). */
import type { RootStore } from '../core/ports/roots.ts';
import { createKeyRing, type KeyRing, type RootKey } from '../crypto/keyring.ts';
import type { Log } from './log.ts';
import { readRootKeys, versionOfFile } from './root-key-file.ts';
import { verifyRoots } from './root-keys.ts';

/** How often a running server looks whether the key file has changed. */
export const rootKeysPollMs = 1_000;
/** By then every server that works has taken a root from the file. */
export const rootKeysTakenMs = 4 * rootKeysPollMs;

export interface RootKeyWatchDeps {
  readonly path: string;
  /** As the start has verified it. */
  readonly ring: KeyRing;
  readonly store: RootStore;
  readonly log: Log;
  /** Runs a function once, after so many milliseconds; returns how to call it off. */
  readonly after: (milliseconds: number, run: () => void) => () => void;
  /** Other than from the disk, in tests. */
  readonly readFile?: typeof readRootKeys;
}

export interface RootKeyWatch {
  /** Follows the file: finds every root that was taken from it since the start, and wraps under its newest. */
  readonly ring: KeyRing;
  stop(): Promise<void>;
}

/** Keeps the ring of a running server up to date with the key file. */
export function watchRootKeys(deps: RootKeyWatchDeps): RootKeyWatch {
  const { path, ring, store, log, after, readFile = readRootKeys } = deps;
  let verified = ring;
  /** As the file was last read, whatever the store knows of it: good for finding, and nothing is wrapped under it. */
  let filed = ring;
  let { current } = ring;
  let looked = versionOfFile(path);
  let taken = looked;
  /** Said once of a file, which is read again as long as it cannot be. */
  let refusedAt: string | null = null;
  let stopped = false;
  let running: Promise<void> = Promise.resolve();
  let callOff = after(rootKeysPollMs, poll);

  function read(): KeyRing | null {
    const version = versionOfFile(path);
    const reading = readFile(path);
    // Perhaps only for now, as without a free file descriptor: whoever needs a root looks again.
    if (reading.outcome !== 'read') return null;
    looked = version;
    filed = reading.ring;
    return filed;
  }

  const findKnown = (kid: number): RootKey | null => verified.find(kid) ?? filed.find(kid);

  async function take(): Promise<void> {
    const version = versionOfFile(path);
    if (version === taken) return;
    const found = read();
    const answer = found === null ? null : await verifyRoots(found, path, store);
    if (found !== null) taken = version;
    if (found === null || answer?.outcome !== 'verified') {
      if (version !== refusedAt) log({ event: 'root_keys_refused' });
      refusedAt = version;
      return;
    }
    refusedAt = null;
    const all = new Map([...verified.all, ...found.all].map((root) => [root.kid, root]));
    verified = createKeyRing([...all.values()]);
    const isNew = current.kid !== found.current.kid;
    current = found.current;
    if (isNew) log({ event: 'root_taken', kid: current.kid });
  }

  function poll(): void {
    running = take()
      // The store does not answer: the file has not been taken, so the next poll tries again.
      .catch((error: unknown) => log({ event: 'fault', where: 'keys', error }))
      .then(() => {
        if (!stopped) callOff = after(rootKeysPollMs, poll);
      });
  }

  return {
    ring: {
      get current() {
        return current;
      },
      get all() {
        return verified.all;
      },
      find(kid) {
        const root = findKnown(kid);
        // Another process has re-wrapped a secret under a root that was added since the last look.
        if (root !== null || versionOfFile(path) === looked) return root;
        read();
        return findKnown(kid);
      },
    },
    async stop() {
      stopped = true;
      callOff();
      await running;
    },
  };
}
