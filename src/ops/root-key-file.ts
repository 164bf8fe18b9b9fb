/**
 * The key file: the wrapping roots of this installation, as `{"version":1,"roots":[{"kid":1,"key":"<base64url of 32 bytes>","created":"<ISO
 * 8601>"}]}`, readable by its owner alone. Changes are atomic, and only one command at a time can make one.
 */
import {
  closeSync,
  fchownSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { readJson } from '../config/json.ts';
import { createKeyRing, type KeyRing, type RootKey } from '../crypto/keyring.ts';
import type { RandomBytes } from '../crypto/random.ts';
import { fromBase64Url, toBase64Url } from '../protocol/base64url.ts';

export type Refused = { readonly outcome: 'refused'; readonly problem: string };

export interface FiledRoot extends RootKey {
  /** ISO 8601; absent in a file that was written by hand. */
  readonly created?: string | undefined;
}

export type RootKeysReading =
  | { readonly outcome: 'read'; readonly ring: KeyRing; readonly roots: readonly FiledRoot[] }
  | { readonly outcome: 'missing' }
  | Refused;

const rootBytes = 32;
export const restore = 'Restore it from your backup, or the secrets stored so far cannot be opened';

export function refused(problem: string): Refused {
  return { outcome: 'refused', problem };
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason';
}

// No message contains any of the file's content.
const keyRule = 'must be 32 bytes in base64url: 43 characters';
const kidRule = 'must be a whole number from 1 to 65535';
const key = z.string(keyRule).transform((text, context) => {
  const bytes = fromBase64Url(text);
  if (bytes?.length === rootBytes) return bytes;
  context.addIssue(keyRule);
  return z.NEVER;
});
const root = z.object(
  {
    kid: z.int(kidRule).min(1, kidRule).max(0xffff, kidRule),
    key,
    created: z.string('must be a time').optional(),
  },
  'must be an object of kid, key',
);
const rootsRule = 'must be a list of roots, at least one, with different kids';
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
  .transform(({ roots }) => ({ ring: createKeyRing(roots), roots }));

/** Windows has no such permission bits. */
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
    const file = readJson(readFileSync(path), keyFile);
    return 'value' in file
      ? { outcome: 'read', ...file.value }
      : refused(`The key file ${path} is damaged: ${file.problems.join(', and ')}. ${restore}.`);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return { outcome: 'missing' };
    return refused(`The key file ${path} cannot be read (${codeOf(error)}): let this user read it.`);
  }
}

function syncFolder(path: string): void {
  // Windows cannot open a folder; there the file's own sync must suffice.
  if (process.platform === 'win32') return;
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** Changes the owner by descriptor, not by path, because the folder's owner could swap in a symlink. */
function writeSynced(path: string, text: string, owner: Owner | null): void {
  const file = openSync(path, 'wx', 0o600);
  try {
    writeFileSync(file, text);
    if (owner !== null && process.platform !== 'win32') fchownSync(file, owner.uid, owner.gid);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

export interface NewRootDeps {
  readonly random: RandomBytes;
  readonly wallClockMs: () => number;
}

export const newRoot = (kid: number, deps: NewRootDeps): FiledRoot => ({
  kid,
  key: deps.random(rootBytes),
  created: new Date(deps.wallClockMs()).toISOString(),
});

/** Writes to a new file beside the key file, so that the key file is never partial. Returns the new path. */
function writeBeside(
  path: string,
  roots: readonly FiledRoot[],
  deps: Pick<NewRootDeps, 'random'>,
  owner: Owner | null,
): string {
  const beside = `${path}.${Buffer.from(deps.random(8)).toString('hex')}.new`;
  const texts = roots.map(({ kid, key, created }) => ({
    kid,
    key: toBase64Url(key),
    created,
  }));
  writeSynced(beside, `${JSON.stringify({ version: 1, roots: texts }, null, 2)}\n`, owner);
  return beside;
}

/** A file with one new root, under a temporary name. */
export interface PreparedRootKeys {
  readonly outcome: 'prepared';
  /**
   * Gives the file its final name. If another process has already created that file, it is kept and used: linking fails if the name exists,
   * and never shows partial content.
   */
  place(): RootKeysReading;
  drop(): void;
}

/** Does everything that could fail for lack of rights or space before the creation is announced. */
export function prepareRootKeys(path: string, deps: NewRootDeps): PreparedRootKeys | Refused {
  const cannot = (error: unknown) => refused(`The key file ${path} cannot be created (${codeOf(error)}).`);
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const unfinished = writeBeside(path, [newRoot(1, deps)], deps, null);
    const drop = () => rmSync(unfinished, { force: true });
    const place = () => {
      try {
        linkSync(unfinished, path);
        syncFolder(dirname(path));
      } catch (error) {
        if (codeOf(error) !== 'EEXIST') return cannot(error);
      } finally {
        drop();
      }
      return readRootKeys(path);
    };
    return { outcome: 'prepared', place, drop };
  } catch (error) {
    return cannot(error);
  }
}

/** Replaces the file but keeps its owner. @throws file system errors */
function replaceRoots(path: string, roots: readonly FiledRoot[], deps: Pick<NewRootDeps, 'random'>): void {
  // An operator may be root, but the server is not.
  const beside = writeBeside(path, roots, deps, statSync(path));
  try {
    renameSync(beside, path);
    syncFolder(dirname(path));
  } finally {
    rmSync(beside, { force: true });
  }
}

/** Removes files left by a command that was killed before the rename, whose roots may have been retired. */
function removeUnfinished(path: string): void {
  const isUnfinished = new RegExp(`^${RegExp.escape(basename(path))}\\.[0-9a-f]{16}\\.new$`);
  for (const name of readdirSync(dirname(path)))
    if (isUnfinished.test(name)) rmSync(join(dirname(path), name), { force: true });
}

export type RootKeysChange = { readonly outcome: 'changed'; readonly roots: readonly FiledRoot[] } | Refused;

/** Changes the key file, one process at a time: with two, one would lose its root and every secret already wrapped under it. */
export async function changeRootKeys(
  path: string,
  deps: Pick<NewRootDeps, 'random'>,
  change: (file: Extract<RootKeysReading, { outcome: 'read' }>) => Promise<RootKeysChange>,
): Promise<RootKeysChange> {
  const target = targetOf(path);
  const lock = `${target}.lock`;
  const locked = takeLock(lock, path);
  if (locked !== null) return locked;
  try {
    const file = readRootKeys(path);
    if (file.outcome === 'missing') return refused(`The key file ${path} is missing. ${restore}.`);
    if (file.outcome === 'refused') return file;
    const changed = await change(file);
    if (changed.outcome === 'refused') return changed;
    return putInPlace(target, changed, deps) ?? changed;
  } finally {
    rmSync(lock, { force: true });
  }
}

/** Resolves symlinks, so that the link is kept and all names of a file share one lock. */
function targetOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function takeLock(lock: string, path: string): Refused | null {
  try {
    closeSync(openSync(lock, 'wx', 0o600));
    return null;
  } catch (error) {
    return refused(
      codeOf(error) === 'EEXIST'
        ? `Another command is changing the key file ${path}. If none is, remove ${lock}.`
        : `The key file ${path} cannot be changed (${codeOf(error)}): let this user write to its folder.`,
    );
  }
}

function putInPlace(
  target: string,
  { roots }: Extract<RootKeysChange, { outcome: 'changed' }>,
  deps: Pick<NewRootDeps, 'random'>,
): Refused | null {
  try {
    removeUnfinished(target);
    replaceRoots(target, roots, deps);
    return null;
  } catch (error) {
    return refused(
      `The key file ${target} could not be written (${codeOf(error)}): mayfly keys list shows its content.`,
    );
  }
}

/** Returns the same value as long as the text and permissions are unchanged. */
export function versionOfFile(path: string): string {
  try {
    const { dev, ino, size, mode, ctimeNs } = statSync(path, { bigint: true });
    return [dev, ino, size, mode, ctimeNs].join(' ');
  } catch (error) {
    return codeOf(error);
  }
}

/** Returns the time since the file was created or changed; 0 if it is missing or dated in the future. */
export function ageOfFileMs(path: string, wallClockMs: () => number): number {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? 0 : Math.max(0, wallClockMs() - stat.ctimeMs);
}
