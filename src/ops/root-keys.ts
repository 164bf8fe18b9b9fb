/**
 * The wrapping roots against the store: checked at the start, added and retired.
 *
 * A start with a wrong, damaged, lost or world-readable key file refuses to serve and says what to do (P12). A new file is made only for a
 * store that has never held a secret, and is on disk before the first is wrapped. A root wraps nothing before the store keeps its check.
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

/** As `compareRoots`, and whether the store still takes secrets under the newest root, which it does not of an old copy. */
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

/** What is wrong with a root, given the check that the store keeps of it; `null` when nothing is. */
function judgeRoot(root: RootKey, kept: Uint8Array | null, isInUse: boolean): string | null {
  // The check is kept before the first secret is wrapped, so secrets without one were wrapped under who knows what.
  if (kept === null)
    return isInUse ? `the store has secrets under root ${root.kid} and no check of it` : null;
  const own = rootCheck(root);
  if (kept.length === own.length && timingSafeEqual(kept, own)) return null;
  return `root ${root.kid} is not the one that this store was written with`;
}

/** As `compareRootsToServe`, and keeps the checks of new roots: after it the ring may wrap secrets. */
export async function verifyRoots(
  ring: KeyRing,
  path: string,
  store: RootStore,
): Promise<{ readonly outcome: 'verified' } | Refused> {
  const compared = await compareRootsToServe(ring, path, store);
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

export interface FirstRootDeps extends NewRootDeps {
  /** Whether other machines may serve the store. */
  readonly isShared: boolean;
}

/** The first file of a store, where this node is the one to make it. */
async function makeFirst(
  path: string,
  store: RootStore,
  deps: FirstRootDeps,
): Promise<ReturnType<typeof readRootKeys>> {
  if (await hasServed(store)) {
    const copy = deps.isShared ? 'Another node may have it: copy that node’s key file here. ' : '';
    return refused(`The key file ${path} is missing. ${copy}${restore}.`);
  }
  // Before the store is asked: it says so once, and a folder that cannot be written would be the end of it.
  const prepared = prepareRootKeys(path, deps);
  if (prepared.outcome === 'refused') return prepared;
  if (await store.mayMakeRoots()) return prepared.place();
  prepared.drop();
  return refused(
    `The key file ${path} is missing, and another node was the first to start on this store: copy that node’s key file here. ` +
      'If no node has one, run mayfly keys create on one of them.',
  );
}

/** The ring to serve with: read, or made for a store that never served, and checked against the store. */
export async function openRootKeys(
  path: string,
  store: RootStore,
  deps: FirstRootDeps,
): Promise<OpenRootKeys> {
  const found = readRootKeys(path);
  const isNew = found.outcome === 'missing';
  const reading = isNew ? await makeFirst(path, store, deps) : found;
  if (reading.outcome === 'missing') return refused(`The key file ${path} vanished while it was read.`);
  if (reading.outcome === 'refused') return reading;
  const verified = await verifyRoots(reading.ring, path, store);
  return verified.outcome === 'refused' ? verified : { outcome: 'open', ring: reading.ring, isNew };
}

/**
 * Makes the key file for a store that has never served, on the operator's word: the nodes that share it need one before they start.
 * @param store `null`: it is not there yet
 */
export async function createRoots(
  path: string,
  store: RootStore | null,
  deps: NewRootDeps,
): Promise<{ readonly outcome: 'made' } | Refused> {
  const found = readRootKeys(path);
  if (found.outcome === 'refused') return found;
  if (found.outcome === 'read') return refused(`There is a key file ${path} already: nothing was changed.`);
  if (store !== null && (await hasServed(store)))
    return refused(
      `The store was served with a key file that is not here. Copy it from another node to ${path}, or restore it from your backup.`,
    );
  const prepared = prepareRootKeys(path, deps);
  if (prepared.outcome === 'refused') return prepared;
  // A node that has no file makes none from now on; whether one did so before, its start decides.
  await store?.mayMakeRoots();
  const made = prepared.place();
  return made.outcome === 'read' ? { outcome: 'made' } : refused(`The key file ${path} cannot be read.`);
}

type ReadFile = Extract<ReturnType<typeof readRootKeys>, { outcome: 'read' }>;

/** A fresh root whose check the store keeps, so that no other node has one of its key id. */
async function drawRoot(file: ReadFile, store: RootStore, deps: NewRootDeps): Promise<FiledRoot | null> {
  for (let kid = file.ring.current.kid + 1; kid <= 0xffff; kid += 1) {
    const root = newRoot(kid, deps);
    const own = rootCheck(root);
    if (timingSafeEqual(await store.addRootCheck(kid, own), own)) return root;
  }
  return null;
}

/** Adds a root to the key file; servers wrap new secrets under it once they have taken it from there. */
export function addRoot(path: string, store: RootStore, deps: NewRootDeps): Promise<RootKeysChange> {
  return changeRootKeys(path, deps, async (file) => {
    const compared = await compareRoots(file.ring, path, store);
    if (compared.outcome === 'refused') return compared;
    const root = await drawRoot(file, store, deps);
    return root === null
      ? refused('There is no key id left: 65535 is the last.')
      : { outcome: 'changed', roots: [...file.roots, root] };
  });
}

/**
 * Removes from the key file the older roots that no secret is under any more. They are closed first, so that none comes under them
 * between the look and the removal; servers must have taken the current root by then, or they store nothing.
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
