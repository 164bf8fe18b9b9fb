/**
 * The npm packages of the command and the client. An executable contains both. The command's npm package contains the client's and packs
 * its own folder again, because it cannot contain itself. A checkout has neither.
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { gzip } from '../../http/compression.ts';

export type DownloadName = 'mayfly.tgz' | 'client.tgz';

export interface Download {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** In hex. */
  readonly sha256: string;
}

export type FindDownload = (name: DownloadName) => Promise<Download | null>;

const blockBytes = 512;
/** 1985-10-26T08:15Z, as in npm: some tools reject times before 1980. */
const madeAtSeconds = 499_162_500;

function header(path: string, sizeBytes: number): Uint8Array {
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, '0')}\0`;
  const owner = octal(0, 7).repeat(2);
  const first = `${path.padEnd(100, '\0')}${octal(0o644, 7)}${owner}${octal(sizeBytes, 11)}${octal(madeAtSeconds, 11)}`;
  const last = `0${'\0'.repeat(100)}ustar\x0000`.padEnd(blockBytes - first.length - 8, '\0');
  // The checksum treats its own field as spaces.
  const sum = Buffer.from(`${first}${' '.repeat(8)}${last}`, 'latin1').reduce((all, byte) => all + byte, 0);
  return Buffer.from(`${first}${octal(sum, 6)} ${last}`, 'latin1');
}

/**
 * Packs only what the manifest lists, because the folder may also contain data and keys. As ustar (POSIX.1-1988) with gzip, the same
 * contents always yield the same bytes as the release.
 */
export async function packPackage(folder: string): Promise<Uint8Array<ArrayBuffer>> {
  const { files }: { files: string[] } = await Bun.file(join(folder, 'package.json')).json();
  const parts: Uint8Array[] = [];
  for (const path of ['package.json', ...files]) {
    const content = await Bun.file(join(folder, path)).bytes();
    parts.push(header(`package/${path}`, content.length), content);
    parts.push(new Uint8Array(-content.length & (blockBytes - 1)));
  }
  return gzip(new Uint8Array(Buffer.concat([...parts, new Uint8Array(2 * blockBytes)])), 6);
}

async function read(name: DownloadName): Promise<Download | null> {
  const [file, folder] = [Bun.file(join(import.meta.dir, name)), join(import.meta.dir, '..')];
  const isHere = await file.exists();
  const isOwn = name === 'mayfly.tgz' && (await Bun.file(join(folder, 'mayfly.mjs')).exists());
  if (!isHere && !isOwn) return null;
  const bytes = isHere ? await file.bytes() : await packPackage(folder);
  return { bytes, sha256: createHash('sha256').update(bytes).digest('hex') };
}

const known = new Map<DownloadName, Promise<Download | null>>();

/** Reads a package at its first request, then keeps it: 1.5 MB in total. */
export const findDownload: FindDownload = (name) => {
  const reading = known.get(name) ?? read(name);
  known.set(name, reading);
  // After a failure, the next request tries again.
  reading.catch(() => known.delete(name));
  return reading;
};
