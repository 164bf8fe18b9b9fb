/**
 * The folder in which an agent's tools read and write files, and nowhere else.
 *
 * A path comes from a model, and other programs may rename folders meanwhile. So a name is checked before, and the place of the opened
 * file again afterwards, before anything is read or written.
 */
import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readlink, realpath } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Refusal } from './command.ts';
import { type OutputFile, reasonOf, toOutputFile } from './output-file.ts';
import { localName } from './reveal.ts';

/** A refusal names neither the path nor anything in the file (P18). */
export interface Folder {
  /** Opens a new file that only this user can read. @throws Refusal */
  create(path: string): Promise<OutputFile>;
  /** Returns the file's name and content. @throws Refusal */
  read(path: string): Promise<{ readonly name: string; readonly bytes: Uint8Array }>;
}

const maxFileMegabytes = 32;
const maxFileBytes = maxFileMegabytes * 1024 * 1024;
const maxPathLength = 500;
const ownerOnly = 0o600;
const { O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;
/** Windows lacks the second. A pipe must not block. */
const neverThrough = (O_NOFOLLOW ?? 0) | (O_NONBLOCK ?? 0);

const nameForm = /^[\p{L}\p{M}\p{N}_. -]{1,100}$/u;

/** Hidden files configure programs, and some names are devices, so a name must be one that a received file could have. */
function isName(text: string): boolean {
  return nameForm.test(text) && localName(text) === text;
}

const sentences: Readonly<Record<string, string>> = {
  EEXIST: 'There is a file of this name already, and nothing is ever replaced: choose another name.',
  ENOENT: 'There is no such file or folder below the folder of this server.',
  ENOTDIR: 'There is no such file or folder below the folder of this server.',
  EISDIR: 'This is a folder.',
  EACCES: 'This file is not open to this user.',
  EPERM: 'This file is not open to this user.',
};

const outside =
  'This is no plain file below the folder of this server, or its path leads through a link, which is never followed.';

function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  const code = reasonOf(error);
  return new Refusal(
    'file_refused',
    sentences[code] ?? (code === 'ELOOP' ? outside : `This file cannot be used (${code}).`),
  );
}

interface Place {
  /** Absolute, without links. */
  readonly folder: string;
  readonly path: string;
}

async function placeOf(root: string, path: string): Promise<Place> {
  const names = path.length > maxPathLength ? [] : path.split('/');
  if (names.length === 0 || !names.every(isName))
    throw new Refusal(
      'file_refused',
      'A path is relative to the folder of this server, such as db.txt or staging/db.txt. Names have letters, digits, blanks and . _ - and are not hidden.',
    );
  const folder = join(root, ...names.slice(0, -1));
  // It is its own real path only if no part of it is a link.
  if ((await realpath(folder)) !== folder) throw new Refusal('file_refused', outside);
  return { folder, path: join(folder, names.at(-1) ?? '') };
}

/** Where Linux is, the kernel itself says where the file is now; elsewhere its path is resolved again. */
async function isAt(handle: FileHandle, { folder, path }: Place): Promise<boolean> {
  const [own, found] = [await handle.stat({ bigint: true }), await lstat(path, { bigint: true })];
  // A second name of the same file could be anywhere.
  const isSame = own.isFile() && own.nlink === 1n && own.ino === found.ino && own.dev === found.dev;
  const actual = await readlink(`/proc/self/fd/${handle.fd}`).catch(() => null);
  return isSame && (actual === null ? (await realpath(folder)) === folder : actual === path);
}

type Open = (path: string, flags: number, mode: number) => Promise<FileHandle>;

async function openAt(place: Place, flags: number, openFile: Open): Promise<FileHandle> {
  const handle = await openFile(place.path, flags | neverThrough, ownerOnly);
  if (await isAt(handle, place).catch(() => false)) return handle;
  await handle.close();
  throw new Refusal('file_refused', outside);
}

/** @throws Refusal */
async function readWhole(handle: FileHandle): Promise<Uint8Array> {
  const { size } = await handle.stat();
  const buffer = new Uint8Array(Math.min(size, maxFileBytes) + 1);
  let length = 0;
  for (let read = 1; read > 0 && length < buffer.length; length += read)
    read = (await handle.read(buffer, length, buffer.length - length)).bytesRead;
  if (length === buffer.length)
    throw new Refusal('file_refused', `This file is growing, or over the limit of ${maxFileMegabytes} MB.`);
  return buffer.subarray(0, length);
}

/**
 * @param openFile so that tests can rename folders meanwhile
 * @throws Error of the file system if there is no such folder
 */
export async function openFolder(given: string, openFile: Open = open): Promise<Folder> {
  const root = await realpath(given);
  if (!(await lstat(root)).isDirectory()) throw Object.assign(new Error(), { code: 'ENOTDIR' });
  return {
    async create(path) {
      try {
        const place = await placeOf(root, path);
        const handle = await openAt(place, O_WRONLY | O_CREAT | O_EXCL, openFile);
        return toOutputFile(handle, { path: place.path, target: place.path }, () => isAt(handle, place));
      } catch (error) {
        throw refusalOf(error);
      }
    },
    async read(path) {
      try {
        const place = await placeOf(root, path);
        const handle = await openAt(place, O_RDONLY, openFile);
        const bytes = await readWhole(handle).finally(() => handle.close());
        return { name: basename(place.path), bytes };
      } catch (error) {
        throw refusalOf(error);
      }
    },
  };
}
