/**
 * A new file for a value that can be had only once: opened before the value is where its name is known, so that a path that cannot be
 * written costs nothing; readable by this user alone.
 */
import { type FileHandle, open, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

export interface OutputFile {
  /** All of it, on the disk. @throws when it cannot; nothing of it is then left in the file system */
  keep(content: string | Uint8Array): Promise<void>;
  /** Everything is as before `open`. */
  drop(): Promise<void>;
}

export type OutputFileOutcome =
  | { readonly outcome: 'open'; readonly file: OutputFile }
  /** `isTaken`: another name would do. */
  | { readonly outcome: 'refused'; readonly problem: string; readonly isTaken: boolean };

export interface Place {
  /** What is opened. */
  readonly path: string;
  /** What it becomes once it is written; the same, or a file that it replaces. */
  readonly target: string;
}

const ownerOnly = 0o600;

const sentences: Readonly<Record<string, string>> = {
  EEXIST: 'is there already: choose another name, or replace it with --force',
  ENOENT: 'is in a folder that does not exist',
  ENOTDIR: 'is in a folder that does not exist',
  EISDIR: 'is a folder',
  EACCES: 'may not be written by this user',
  EPERM: 'may not be written by this user',
  EROFS: 'is on a file system that cannot be written',
};

export function reasonOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}

function refusalOf(path: string, error: unknown): OutputFileOutcome {
  const code = reasonOf(error);
  const problem = `${path} ${sentences[code] ?? `cannot be written (${code})`}.`;
  return { outcome: 'refused', problem, isTaken: code === 'EEXIST' };
}

/** Beside the file that it replaces, which stays whole until then. */
async function placeOfReplacement(path: string): Promise<Place> {
  const found = await stat(path).catch(() => null);
  if (found === null) return { path, target: path };
  // A device or a pipe would be replaced by a file for everybody.
  if (!found.isFile())
    throw Object.assign(new Error(), { code: found.isDirectory() ? 'EISDIR' : 'no regular file' });
  const target = await realpath(path);
  return { path: join(dirname(target), `.${basename(target)}.mayfly-${process.pid}`), target };
}

async function syncFolder(path: string): Promise<void> {
  // Windows opens no folder, and syncs them by itself.
  const folder = await open(dirname(path), 'r').catch(() => null);
  await folder?.sync().catch(() => undefined);
  await folder?.close();
}

export function toOutputFile(handle: FileHandle, { path, target }: Place): OutputFile {
  async function drop(): Promise<void> {
    await handle.close().catch(() => undefined);
    await rm(path, { force: true });
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

/** @param isReplacing whether a file that is there may be replaced */
export async function openOutputFile(path: string, isReplacing: boolean): Promise<OutputFileOutcome> {
  try {
    const place = isReplacing ? await placeOfReplacement(path) : { path, target: path };
    const handle = await open(place.path, 'wx', ownerOnly);
    return { outcome: 'open', file: toOutputFile(handle, place) };
  } catch (error) {
    return refusalOf(path, error);
  }
}
