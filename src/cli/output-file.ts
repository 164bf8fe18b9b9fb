/** A new file for a value that opens only once. Opened first, so that an unwritable path costs nothing. Only this user can read it. */
import { type FileHandle, open, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

export interface OutputFile {
  /** Writes and syncs everything. @throws after removing what was written */
  keep(content: string | Uint8Array): Promise<void>;
  /** Closes and removes the file. */
  drop(): Promise<void>;
}

export type OutputFileOutcome =
  | { readonly outcome: 'open'; readonly file: OutputFile }
  /** `isTaken`: a different name would work. */
  | { readonly outcome: 'refused'; readonly problem: string; readonly isTaken: boolean };

interface Place {
  readonly path: string;
  /** The final path: `path` itself, or the file to replace. */
  readonly target: string;
}

const ownerOnly = 0o600;

const sentences: Readonly<Record<string, string>> = {
  EEXIST: 'already exists: choose another name, or replace it with --force',
  ENOENT: 'is in a folder that does not exist',
  ENOTDIR: 'is in a folder that does not exist',
  EISDIR: 'is a folder',
  EACCES: 'is not writable for this user',
  EPERM: 'is not writable for this user',
  EROFS: 'is on a read-only file system',
};

export function reasonOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}

function refusalOf(path: string, error: unknown): OutputFileOutcome {
  const code = reasonOf(error);
  const problem = `${path} ${sentences[code] ?? `cannot be written (${code})`}.`;
  return { outcome: 'refused', problem, isTaken: code === 'EEXIST' };
}

/** Returns a place next to the file to replace, which stays intact until the rename. */
async function placeOfReplacement(path: string): Promise<Place> {
  const found = await stat(path).catch(() => null);
  if (found === null) return { path, target: path };
  // The rename would replace a device or pipe for every user.
  if (!found.isFile())
    throw Object.assign(new Error(), { code: found.isDirectory() ? 'EISDIR' : 'no regular file' });
  const target = await realpath(path);
  return { path: join(dirname(target), `.${basename(target)}.mayfly-${process.pid}`), target };
}

async function syncFolder(path: string): Promise<void> {
  // Windows cannot open folders, and syncs them itself.
  const folder = await open(dirname(path), 'r').catch(() => null);
  await folder?.sync().catch(() => undefined);
  await folder?.close();
}

/** @param isInPlace whether `path` is still this file, so that nothing else is removed */
export function toOutputFile(
  handle: FileHandle,
  { path, target }: Place,
  isInPlace: () => Promise<boolean> = async () => true,
): OutputFile {
  async function drop(): Promise<void> {
    const isOurs = await isInPlace().catch(() => false);
    await handle.close().catch(() => undefined);
    if (isOurs) await rm(path, { force: true });
  }
  return {
    async keep(content) {
      try {
        await handle.writeFile(content);
        await handle.sync();
        await handle.close();
        if (target !== path) await rename(path, target);
        await syncFolder(target);
      } catch (error) {
        await drop();
        throw error;
      }
    },
    drop,
  };
}

/** @param isReplacing whether an existing file may be replaced */
export async function openOutputFile(path: string, isReplacing: boolean): Promise<OutputFileOutcome> {
  try {
    const place = isReplacing ? await placeOfReplacement(path) : { path, target: path };
    const handle = await open(place.path, 'wx', ownerOnly);
    return { outcome: 'open', file: toOutputFile(handle, place) };
  } catch (error) {
    return refusalOf(path, error);
  }
}
