/** The key file of a running server: a change by `mayfly keys` takes effect within a second, once it matches the store (P12). */
import type { RootStore } from '../core/ports/roots.ts';
import type { After } from '../core/time.ts';
import { createKeyRing, type KeyRing, type RootKey } from '../crypto/keyring.ts';
import type { Log } from './log.ts';
import { readRootKeys, versionOfFile } from './root-key-file.ts';
import { verifyRoots } from './root-keys.ts';

export const rootKeysPollMs = 1_000;
/** Within this time every working server has loaded a new root. */
export const rootKeysTakenMs = 4 * rootKeysPollMs;

export interface RootKeyWatchDeps {
  readonly path: string;
  /** Verified at the start. */
  readonly ring: KeyRing;
  readonly store: RootStore;
  readonly log: Log;
  readonly after: After;
  readonly readFile?: typeof readRootKeys;
}

export interface RootKeyWatch {
  /** Follows the file: finds every root loaded since the start, and wraps under the newest. */
  readonly ring: KeyRing;
  stop(): Promise<void>;
}

export function watchRootKeys(deps: RootKeyWatchDeps): RootKeyWatch {
  const { path, ring, store, log, after, readFile = readRootKeys } = deps;
  let verified = ring;
  /** The file as last read, not yet verified: used to find roots, never to wrap. */
  let filed = ring;
  let { current } = ring;
  let readVersion = versionOfFile(path);
  let taken = readVersion;
  /** The file version last refused: logged once, but reread until it can be used. */
  let refusedAt: string | null = null;
  let stopped = false;
  let running: Promise<void> = Promise.resolve();
  let callOff = after(rootKeysPollMs, poll);

  function read(): KeyRing | null {
    const version = versionOfFile(path);
    const reading = readFile(path);
    // The failure may be temporary, such as a lack of file descriptors: the next look-up tries again.
    if (reading.outcome !== 'read') return null;
    readVersion = version;
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
      // The store did not respond, so the file was not taken, and the next poll tries again.
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
        // Another process may have re-wrapped a secret under a root that was added since the last read.
        if (root !== null || versionOfFile(path) === readVersion) return root;
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
