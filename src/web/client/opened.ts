/** Shows what was decrypted: text as text, a file by name and size, with a preview only of what is safe to show. */
import type { Content } from '../../../sdk/sealing.ts';
import { sizeText } from '../../locale/size.ts';
import { beginCopying } from './copying.ts';
import { countGraphemes, countLines } from './reading.ts';
import { drawGlyphs, listPairs, nameHidden, sayCount } from './reading-view.ts';
import { beginCover, blobOf, find, showInstead } from './shown.ts';

type FileContent = Extract<Content, { kind: 'file' }>;

/** Longer texts are only downloaded. */
const maxShownBytes = 200_000;

/** Known by its first bytes, never by what the sender says; `null` for anything else. */
export function pictureTypeOf(bytes: Uint8Array): string | null {
  const ascii = (from: number, length: number) => String.fromCharCode(...bytes.subarray(from, from + length));
  if (ascii(0, 8) === '\x89PNG\r\n\x1a\n') return 'image/png';
  if (ascii(0, 3) === '\xff\xd8\xff') return 'image/jpeg';
  if (ascii(0, 6) === 'GIF87a' || ascii(0, 6) === 'GIF89a') return 'image/gif';
  if (ascii(0, 4) === 'RIFF' && ascii(8, 4) === 'WEBP') return 'image/webp';
  return null;
}

/** The text of a file that is one; `null` if it holds anything that a text does not. */
function textOf(bytes: Uint8Array): string | null {
  if (bytes.length === 0 || bytes.length > maxShownBytes) return null;
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return /[^\P{Cc}\r\n\t]/u.test(text) ? null : text;
  } catch {
    return null;
  }
}

function count(id: string, counted: number): void {
  const place = document.getElementById(id);
  sayCount(place, place?.dataset.forms, counted);
}

function showText(text: string): void {
  const value = find('#value', HTMLTextAreaElement);
  if (value === null) return;
  value.value = text;
  // For browsers that do not size a field by its content.
  const rows = text.split('\n').reduce((sum, line) => sum + 1 + Math.floor(line.length / 60), 0);
  value.rows = text.includes('\n') ? Math.min(Math.max(rows, 3), 18) : 1;
  count('characters', countGraphemes(text));
  const lines = countLines(text);
  if (lines === 1) document.getElementById('lines')?.remove();
  else count('lines', lines);
  drawGlyphs(text);
  nameHidden(text);
  if (!/[^\P{Cc}\n\t]/u.test(text)) document.getElementById('inexact')?.remove();
}

function showFile({ name, bytes: given }: FileContent): void {
  const bytes = new Uint8Array(given);
  document.getElementById('file-name')?.replaceChildren(name);
  document
    .getElementById('file-size')
    ?.replaceChildren(sizeText(document.documentElement.lang, bytes.length));
  const download = find('#download', HTMLAnchorElement);
  if (download !== null) {
    download.download = name;
    download.href = blobOf(bytes, 'application/octet-stream');
  }
  const type = pictureTypeOf(bytes);
  const picture = find('#preview', HTMLImageElement);
  if (type === null || picture === null) return;
  picture.onload = () => {
    picture.hidden = false;
  };
  picture.src = blobOf(bytes, type);
}

/** In place of the page; its elements are those of the template. */
export function showOpened(content: Content): void {
  const main = showInstead('#opened');
  if (main === null) return;
  // Another language would be another page.
  document.querySelector('form.language')?.remove();
  const text = content.kind === 'text' ? content.text : textOf(content.bytes);
  const parts = new Set([content.kind, ...(text === null ? [] : ['value'])]);
  for (const part of main.querySelectorAll<HTMLElement>('[data-for]'))
    if (!parts.has(part.dataset.for as 'text')) part.remove();
  if (text !== null) showText(text);
  if (content.kind === 'file') showFile(content);
  const save = find('#save', HTMLAnchorElement);
  if (save !== null && text !== null)
    save.href = blobOf(new TextEncoder().encode(text), 'text/plain;charset=utf-8');
  beginCover(text ?? '');
  if (text !== null) listPairs(text);
  beginCopying();
  (find('h1', HTMLElement) ?? main).focus();
}
