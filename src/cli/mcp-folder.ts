/**
 * An agent's tools read and write files in one folder only.
 *
 * A path comes from a model, and other programs may rename folders at any time. So a path is checked before a file is opened, and the
 * file's place again afterwards, before anything is read or written. A refusal names neither the path nor anything in the file (P18).
 */
import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readlink, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Refusal } from './command.ts';
import { type OutputFile, reasonOf, toOutputFile } from './output-file.ts';
import { localName } from './reveal.ts';

export type Folder = Awaited<ReturnType<typeof openFolder>>;

const maxMegabytes = 32;
const maxPathLength = 500;
const ownerOnly = 0o600;
const { O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;
/** Windows has neither. A pipe must not block. */
const neverThrough = (O_NOFOLLOW ?? 0) | (O_NONBLOCK ?? 0);

const nameForm = /^[\p{L}\p{M}\p{N}_. -]{1,100}$/u;

/** Hidden files configure programs, and some names are devices, so a name must be one that a received file could have. */
const isName = (text: string): boolean => nameForm.test(text) && localName(text) === text;

const wrongPath =
  'A path is relative to the folder of this server, such as db.txt or staging/db.txt. Names have letters, digits, blanks and . _ - and are not hidden.';
const missing = 'There is no such file or folder below the folder of this server.';
const outside =
  'This is not a plain file below the folder of this server, or its path leads through a link, which is never followed.';
const sentences: Readonly<Record<string, string>> = {
  EEXIST: 'There is a file of this name already, and nothing is ever replaced: choose another name.',
  ENOENT: missing,
  ENOTDIR: missing,
  ELOOP: outside,
};

/** A model reads only the sentence. */
export function refuse(sentence: string): never {
  throw new Refusal('refused', sentence);
}

function refuseFor(error: unknown): never {
  if (error instanceof Refusal) throw error;
  const code = reasonOf(error);
  return refuse(sentences[code] ?? `This file cannot be used (${code}).`);
}

/** Whether no part of a path is a link: it is then its own real path. */
const isPlain = async (path: string): Promise<boolean> => (await realpath(path)) === path;

/** On Linux, the kernel itself says where the file is now; elsewhere its path is resolved again. */
async function isAt(handle: FileHandle, path: string): Promise<boolean> {
  const [own, found] = [await handle.stat({ bigint: true }), await lstat(path, { bigint: true })];
  // A second name of the same file could be anywhere.
  const isSame = own.isFile() && own.nlink === 1n && own.ino === found.ino && own.dev === found.dev;
  const actual = await readlink(`/proc/self/fd/${handle.fd}`).catch(() => null);
  return isSame && (actual === null ? isPlain(dirname(path)) : actual === path);
}

/**
 * @param openFile so that tests can rename folders between the checks
 * @throws Error of the file system if there is no such folder
 */
export async function openFolder(given: string, openFile: typeof open = open) {
  const root = await realpath(given);
  if (!(await lstat(root)).isDirectory()) throw Object.assign(new Error(), { code: 'ENOTDIR' });

  async function openBelow(given: string, flags: number) {
    const names = given.split('/');
    if (given.length > maxPathLength || !names.every(isName)) refuse(wrongPath);
    const path = join(root, ...names);
    if (!(await isPlain(dirname(path)))) refuse(outside);
    const handle = await openFile(path, flags | neverThrough, ownerOnly);
    if (await isAt(handle, path).catch(() => false)) return { handle, path };
    await handle.close();
    return refuse(outside);
  }

  return {
    /** Opens a new file that only this user can read. @throws Refusal */
    async create(given: string): Promise<OutputFile> {
      const { handle, path } = await openBelow(given, O_WRONLY | O_CREAT | O_EXCL).catch(refuseFor);
      return toOutputFile(handle, { path, target: path }, () => isAt(handle, path));
    },

    /** Returns the file's name and content. @throws Refusal */
    async read(given: string) {
      const { handle, path } = await openBelow(given, O_RDONLY).catch(refuseFor);
      await using _ = handle;
      if ((await handle.stat()).size > maxMegabytes * 1024 * 1024)
        refuse(`This file is over the limit of ${maxMegabytes} MB.`);
      return { name: basename(path), bytes: new Uint8Array(await handle.readFile().catch(refuseFor)) };
    },
  };
}
