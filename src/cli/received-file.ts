/**
 * A file that a stranger named, in the current folder: under a name that is one there, shown and not an option, and never over another
 * file. Its name is known only once it was read, so a taken one is numbered.
 */
import { extname } from 'node:path';
import { cut } from '../../sdk/file-name.ts';
import type { World } from './command.ts';
import type { OutputFile } from './output-file.ts';

/** Leaves room for a number: names have at most 255 bytes. */
const maxStemBytes = 200;
const mostTries = 1_000;

/** Devices of Windows, whatever follows the name. */
const deviceForm = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i;

/**
 * @param name without a folder, control and direction characters, as the client gives it
 * @returns one that no system reads as anything else than a file of this folder: hidden files configure programs, and a hyphen begins
 * an option
 */
export function localName(name: string): string {
  const kept = name
    .replace(/[<>:"/\\|?*]/g, '_')
    .replace(/^[-.\s]+/, '')
    .replace(/[.\s]+$/, '');
  if (kept === '') return 'file';
  return deviceForm.test(kept) ? `_${kept}` : kept;
}

/** `report.pdf`, `report-2.pdf`, `report-3.pdf` … */
export function numbered(name: string, number: number): string {
  const extension = cut(extname(name), 32);
  const stem = cut(name.slice(0, name.length - extname(name).length), maxStemBytes);
  return `${stem}${number === 1 ? '' : `-${number}`}${extension}`;
}

export type ReceivedFileOutcome =
  | { readonly outcome: 'open'; readonly path: string; readonly file: OutputFile }
  | { readonly outcome: 'refused'; readonly problem: string };

/** Opens it under the first name that is free. */
export async function openReceivedFile(
  name: string,
  { openOutputFile }: Pick<World, 'openOutputFile'>,
): Promise<ReceivedFileOutcome> {
  const local = localName(name);
  let problem = '';
  for (let number = 1; number <= mostTries; number += 1) {
    const path = numbered(local, number);
    const opened = await openOutputFile(path, false);
    if (opened.outcome === 'open') return { outcome: 'open', path, file: opened.file };
    ({ problem } = opened);
    if (!opened.isTaken) break;
  }
  return { outcome: 'refused', problem };
}
