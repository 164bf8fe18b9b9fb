/**
 * Checks the wrapping roots against the store at startup, and adds and retires them. With a wrong, damaged, lost or world-readable key
 * file, the server refuses to serve and says what to do (P12). A new file is created only for a store that has never contained a secret,
 * and is on disk before the first secret is wrapped. A root wraps nothing until the store has its check.
 */
import { timingSafeEqual } from 'node:crypto';
import type { RootStore, RotationStore } from '../core/ports/roots.ts';
import { type KeyRing, type RootKey, rootCheck } from '../crypto/keyring.ts';
import {
  changeRootKeys,
  type FiledRoot,
  type NewRootDeps,
  newRoot,
  prepareRootKeys,
  type Refused,
  type RootKeysChange,
  readRootKeys,
  refused,
  restore,
} from './root-key-file.ts';

/** A store that has never served has neither checks nor secrets. Accounts do not count: no root wraps them. */
async function hasServed(store: RootStore): Promise<boolean> {
  return (await store.findRootCheck(1)) !== null || (await store.rootKidsInUse()).length > 0;
}

/**
 * Checks that the ring has the roots that this store was written with. Changes nothing.
 * @param ring `null` if there is no key file, which is fine if the store has never served
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

/** Does the same as `compareRoots`, and refuses an old copy of the file: the store accepts no more secrets under its newest root. */
export async function compareRootsToServe(
  ring: KeyRing | null,
  path: string,
  store: RootStore,
): ReturnType<typeof compareRoots> {
  const compared = await compareRoots(ring, path, store);
  if (ring === null || compared.outcome === 'refused') return compared;
  if (ring.current.kid >= (await store.findFirstOpenRoot())) return compared;
  return refused(
    `The key file ${path} is an old copy: its roots were rotated since, and the store takes no secret under them. ` +
      'Restore the newest copy, or run mayfly keys add.',
  );
}

function judgeRoot(root: RootKey, kept: Uint8Array | null, isInUse: boolean): string | null {
  // A root's check is stored before its first secret is wrapped, so if it is missing, this may not be the key that wrapped the secrets.
  if (kept === null)
    return isInUse ? `the store has secrets under root ${root.kid} but no check for it` : null;
  const own = rootCheck(root);
  if (kept.length === own.length && timingSafeEqual(kept, own)) return null;
  return `root ${root.kid} is not the one that this store was written with`;
}

/** Does the same as `compareRootsToServe`, and stores the checks of new roots. Afterwards the ring may wrap secrets. */
export async function verifyRoots(
  ring: KeyRing,
  path: string,
  store: RootStore,
): Promise<{ readonly outcome: 'verified' } | Refused> {
  const compared = await compareRootsToServe(ring, path, store);
  if (compared.outcome === 'refused') return compared;
  for (const root of ring.all) {
    // Another node may have added a check since: the stored one decides, not the one read earlier.
    const problem = judgeRoot(root, await store.addRootCheck(root.kid, rootCheck(root)), false);
    if (problem !== null) return refused(`The key file ${path}: ${problem}. ${restore}.`);
  }
  return { outcome: 'verified' };
}

export type OpenRootKeys =
  | {
      readonly outcome: 'open';
      readonly ring: KeyRing;
      /** Whether this start created the file. */
      readonly isNew: boolean;
    }
  | Refused;

export interface FirstRootDeps extends NewRootDeps {
  readonly isShared: boolean;
}

async function makeFirst(
  path: string,
  store: RootStore,
  deps: FirstRootDeps,
): Promise<ReturnType<typeof readRootKeys>> {
  if (await hasServed(store)) {
    const copy = deps.isShared ? 'Another node may have it: copy that node’s key file here. ' : '';
    return refused(`The key file ${path} is missing. ${copy}${restore}.`);
  }
  // Done before asking the store, which agrees only once: failing to write to the folder after that would be final.
  const prepared = prepareRootKeys(path, deps);
  if (prepared.outcome === 'refused') return prepared;
  if (await store.mayMakeRoots()) return prepared.place();
  prepared.drop();
  return refused(
    `The key file ${path} is missing, and another node was the first to start on this store: copy that node’s key file here. ` +
      'If no node has one, run mayfly keys create on one of them.',
  );
}

export async function openRootKeys(
  path: string,
  store: RootStore,
  deps: FirstRootDeps,
): Promise<OpenRootKeys> {
  const found = readRootKeys(path);
  const isNew = found.outcome === 'missing';
  const reading = isNew ? await makeFirst(path, store, deps) : found;
  if (reading.outcome === 'missing') return refused(`The key file ${path} disappeared while it was read.`);
  if (reading.outcome === 'refused') return reading;
  const verified = await verifyRoots(reading.ring, path, store);
  return verified.outcome === 'refused' ? verified : { outcome: 'open', ring: reading.ring, isNew };
}

/**
 * Creates the key file of a store that has never served, on the operator's command: nodes that share the store need it before they start.
 * @param store `null` if it has not been created yet
 */
export async function createRoots(
  path: string,
  store: RootStore | null,
  deps: NewRootDeps,
): Promise<{ readonly outcome: 'made' } | Refused> {
  const found = readRootKeys(path);
  if (found.outcome === 'refused') return found;
  if (found.outcome === 'read') return refused(`The key file ${path} already exists: nothing was changed.`);
  if (store !== null && (await hasServed(store)))
    return refused(
      `The store was served with a key file that is missing here. Copy it from another node to ${path}, or restore it from your backup.`,
    );
  const prepared = prepareRootKeys(path, deps);
  if (prepared.outcome === 'refused') return prepared;
  // From now on no node without a key file creates one; if one has already done so, that shows when it starts.
  await store?.mayMakeRoots();
  const made = prepared.place();
  return made.outcome === 'read' ? { outcome: 'made' } : refused(`The key file ${path} cannot be read.`);
}

type ReadFile = Extract<ReturnType<typeof readRootKeys>, { outcome: 'read' }>;

/** Returns a root whose check the store has, so no other node can use its key id; `null` if no id is left. */
async function drawRoot(file: ReadFile, store: RootStore, deps: NewRootDeps): Promise<FiledRoot | null> {
  for (let kid = file.ring.current.kid + 1; kid <= 0xffff; kid += 1) {
    const root = newRoot(kid, deps);
    const own = rootCheck(root);
    if (timingSafeEqual(await store.addRootCheck(kid, own), own)) return root;
  }
  return null;
}

export function addRoot(path: string, store: RootStore, deps: NewRootDeps): Promise<RootKeysChange> {
  return changeRootKeys(path, deps, async (file) => {
    const compared = await compareRoots(file.ring, path, store);
    if (compared.outcome === 'refused') return compared;
    const root = await drawRoot(file, store, deps);
    return root === null
      ? refused('No key id is left: 65535 is the last.')
      : { outcome: 'changed', roots: [...file.roots, root] };
  });
}

/**
 * Removes older roots that wrap no secrets from the key file. They are closed first, so that no secret is added in between. Servers must
 * already have loaded the current root, or they cannot store anything.
 */
export function retireRoots(
  path: string,
  store: RootStore & Pick<RotationStore, 'closeRootsBefore' | 'forgetRoots'>,
  deps: Pick<NewRootDeps, 'random'>,
): Promise<RootKeysChange> {
  return changeRootKeys(path, deps, async ({ ring, roots }) => {
    const compared = await compareRoots(ring, path, store);
    if (compared.outcome === 'refused') return compared;
    await store.closeRootsBefore(ring.current.kid);
    const inUse = await store.rootKidsInUse();
    const stays = ({ kid }: FiledRoot) => kid === ring.current.kid || inUse.includes(kid);
    const gone = roots.filter((each) => !stays(each)).map(({ kid }) => kid);
    await store.forgetRoots(gone);
    return { outcome: 'changed', roots: roots.filter(stays) };
  });
}
