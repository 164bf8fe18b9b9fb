/**
 * The wrapping roots of this installation: reading the key file, making it once, and checking it against the store.
 *
 * The file is `{"version":1,"roots":[{"kid":1,"key":"<base64url of 32 bytes>","created":"<ISO 8601>"}]}`. A start with a wrong, damaged,
 * lost or world-readable key file refuses to serve and says what to do (P12). A new file is made only for a store that has never held a
 * secret, and is on disk before the first is wrapped.
 */
import { timingSafeEqual } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { readJson } from '../config/json.ts';
import type { RootStore } from '../core/root-store.ts';
import { createKeyRing, type KeyRing, type RootKey, rootCheck } from '../crypto/keyring.ts';
import type { RandomBytes } from '../crypto/random.ts';

type Refused = { readonly outcome: 'refused'; readonly problem: string };
export type RootKeysReading =
  | { readonly outcome: 'read'; readonly ring: KeyRing }
  | { readonly outcome: 'missing' }
  | Refused;

const rootBytes = 32;
const restore = 'Restore it from your backup, or the secrets stored so far cannot be opened';

function refused(problem: string): Refused {
  return { outcome: 'refused', problem };
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason';
}

// No message holds any of the file's content.
const keyRule = 'must be 32 bytes in base64url: 43 characters';
const kidRule = 'must be a whole number from 1 to 65535';
const key = z.string(keyRule).transform((text, context) => {
  const bytes = new Uint8Array(Buffer.from(text, 'base64url'));
  // 43 characters carry two bits too many: only one spelling of a key is accepted.
  if (bytes.length === rootBytes && Buffer.from(bytes).toString('base64url') === text) return bytes;
  context.addIssue(keyRule);
  return z.NEVER;
});
const root = z.object(
  { kid: z.int(kidRule).min(1, kidRule).max(0xffff, kidRule), key },
  'must be an object of kid, key',
);
const rootsRule = 'must be a list of at least one root, each with a kid of its own';
const keyFile = z
  .object(
    {
      version: z.literal(1, 'must be 1'),
      roots: z
        .array(root, rootsRule)
        .refine(
          (roots) => roots.length > 0 && new Set(roots.map(({ kid }) => kid)).size === roots.length,
          rootsRule,
        ),
    },
    'must be a JSON object of version, roots',
  )
  .transform(({ roots }) => createKeyRing(roots));

/** Whether others than the owner may read it. Windows has no such bits. */
function isOpenToOthers(path: string): boolean {
  return process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0;
}

export function readRootKeys(path: string): RootKeysReading {
  try {
    if (isOpenToOthers(path)) {
      return refused(
        `The key file ${path} can be read by other users of this machine: run chmod 600 ${path}`,
      );
    }
    const file = readJson(readFileSync(path, 'utf8'), keyFile);
    return 'value' in file
      ? { outcome: 'read', ring: file.value }
      : refused(`The key file ${path} is damaged: ${file.problems.join(', and ')}. ${restore}.`);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return { outcome: 'missing' };
    return refused(`The key file ${path} cannot be read (${codeOf(error)}): let this user read it.`);
  }
}

function syncFolder(path: string): void {
  // Windows cannot open a folder; there the file's own sync has to do.
  if (process.platform === 'win32') return;
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

function writeSynced(path: string, text: string): void {
  const file = openSync(path, 'wx', 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

export interface NewRootDeps {
  readonly random: RandomBytes;
  readonly wallClockMs: () => number;
}

/**
 * Makes a file with one fresh root. A file that another process made in the meantime stays and is what counts: the link
 * fails where the name exists, and appears only with its whole content behind it.
 */
export function makeRootKeys(path: string, deps: NewRootDeps): RootKeysReading {
  const key = Buffer.from(deps.random(rootBytes)).toString('base64url');
  const created = new Date(deps.wallClockMs()).toISOString();
  const unfinished = `${path}.${Buffer.from(deps.random(8)).toString('hex')}.new`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeSynced(
      unfinished,
      `${JSON.stringify({ version: 1, roots: [{ kid: 1, key, created }] }, null, 2)}\n`,
    );
    linkSync(unfinished, path);
    syncFolder(dirname(path));
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') return refused(`The key file ${path} cannot be made (${codeOf(error)}).`);
  } finally {
    rmSync(unfinished, { force: true });
  }
  return readRootKeys(path);
}

/** A store that has never been served has neither checks nor secrets. Accounts do not count: no root wraps them. */
async function hasServed(store: RootStore): Promise<boolean> {
  return (await store.findRootCheck(1)) !== null || (await store.rootKidsInUse()).length > 0;
}

/**
 * Whether the ring holds the roots that this store was written with. Changes nothing.
 * @param ring `null`: there is no key file, which is well as long as the store has never served
 */
export async function compareRoots(
  ring: KeyRing | null,
  path: string,
  store: RootStore,
): Promise<{ readonly outcome: 'same' } | Refused> {
  if (ring === null) {
    return (await hasServed(store))
      ? refused(`The key file ${path} is missing. ${restore}.`)
      : { outcome: 'same' };
  }
  const inUse = await store.rootKidsInUse();
  const absent = inUse.find((kid) => ring.find(kid) === null);
  if (absent !== undefined) {
    return refused(
      `The key file ${path} lacks root ${absent}, which stored secrets are wrapped under. ${restore}.`,
    );
  }
  for (const root of ring.all) {
    const problem = judgeRoot(root, await store.findRootCheck(root.kid), inUse.includes(root.kid));
    if (problem !== null) return refused(`The key file ${path}: ${problem}. ${restore}.`);
  }
  return { outcome: 'same' };
}

/** What is wrong with a root, given the check that the store keeps of it; `null` when nothing is. */
function judgeRoot(root: RootKey, kept: Uint8Array | null, isInUse: boolean): string | null {
  // The check is kept before the first secret is wrapped, so secrets without one were wrapped under who knows what.
  if (kept === null)
    return isInUse ? `the store has secrets under root ${root.kid} and no check of it` : null;
  const own = rootCheck(root);
  if (kept.length === own.length && timingSafeEqual(kept, own)) return null;
  return `root ${root.kid} is not the one that this store was written with`;
}

/** As `compareRoots`, and keeps the checks of new roots: after it the ring may wrap secrets. */
async function verifyRoots(
  ring: KeyRing,
  path: string,
  store: RootStore,
): Promise<{ readonly outcome: 'verified' } | Refused> {
  const compared = await compareRoots(ring, path, store);
  if (compared.outcome === 'refused') return compared;
  for (const root of ring.all) {
    // Another node may have kept one since: what the store keeps decides, not what was read before.
    const problem = judgeRoot(root, await store.addRootCheck(root.kid, rootCheck(root)), false);
    if (problem !== null) return refused(`The key file ${path}: ${problem}. ${restore}.`);
  }
  return { outcome: 'verified' };
}

export type OpenRootKeys =
  | {
      readonly outcome: 'open';
      readonly ring: KeyRing /** Whether the file was made just now. */;
      readonly isNew: boolean;
    }
  | Refused;

/** The ring to serve with: read, or made for a store that never served, and checked against the store. */
export async function openRootKeys(path: string, store: RootStore, deps: NewRootDeps): Promise<OpenRootKeys> {
  let reading = readRootKeys(path);
  const isNew = reading.outcome === 'missing';
  if (isNew) {
    if (await hasServed(store)) return refused(`The key file ${path} is missing. ${restore}.`);
    if (!(await store.mayMakeRoots())) {
      return refused(
        `The key file ${path} is missing, and another node was the first to start on this store: copy that node’s key file here.`,
      );
    }
    reading = makeRootKeys(path, deps);
  }
  if (reading.outcome === 'missing') return refused(`The key file ${path} vanished while it was read.`);
  if (reading.outcome === 'refused') return reading;
  const verified = await verifyRoots(reading.ring, path, store);
  return verified.outcome === 'refused' ? verified : { outcome: 'open', ring: reading.ring, isNew };
}
