/** Shows an opened value: a text as text, with reading aids, or a file by name and size, with a preview of safe types only. */
import type { Content } from '../../../sdk/sealing.ts';
import { sizeText } from '../../locale/size.ts';
import { beginCopying } from './copying.ts';
import { at, byId, countText, find } from './dom.ts';
import {
  countGraphemes,
  countLines,
  drawingOf,
  glyphsOf,
  isInexact,
  markHidden,
  pairsIn,
  rowsFor,
  spell,
} from './reading.ts';
import { beginCover, blobOf, showInstead } from './shown.ts';

type FileContent = Extract<Content, { kind: 'file' }>;

const maxShownBytes = 200_000;

/** Detects a picture's type from its first bytes, never from what the sender claims. Returns `null` for anything else. */
export function pictureTypeOf(bytes: Uint8Array): string | null {
  const ascii = (from: number, length: number) => String.fromCharCode(...bytes.subarray(from, from + length));
  if (ascii(0, 8) === '\x89PNG\r\n\x1a\n') return 'image/png';
  if (ascii(0, 3) === '\xff\xd8\xff') return 'image/jpeg';
  if (ascii(0, 6) === 'GIF87a' || ascii(0, 6) === 'GIF89a') return 'image/gif';
  if (ascii(0, 4) === 'RIFF' && ascii(8, 4) === 'WEBP') return 'image/webp';
  return null;
}

/** Returns a text file's text; `null` if the bytes cannot be shown as text. */
function textOf(bytes: Uint8Array): string | null {
  if (bytes.length === 0 || bytes.length > maxShownBytes) return null;
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return /[^\P{Cc}\r\n\t]/u.test(text) ? null : text;
  } catch {
    return null;
  }
}

function element(name: 'span' | 'bdi' | 'mark' | 'b' | 'li', text: string, kind = ''): HTMLElement {
  const made = document.createElement(name);
  made.textContent = text;
  if (kind !== '') made.className = kind;
  return made;
}

function drawGlyphs(text: string): void {
  const runs = glyphsOf(text);
  if (runs.length === 0) return;
  byId('reading').classList.add(...drawingOf(text).split(' '));
  const drawn = runs.map((run) => (run.kind === 'letter' ? run.text : element('span', run.text, run.kind)));
  document.querySelector('.glyphs')?.replaceChildren(...drawn);
}

function spellOut(text: string): void {
  const place = byId('spelled');
  const { words = '', signs = '', capital = '' } = place.dataset;
  const items = spell(text, { words, signs, capital }).map(({ kind, character, said }) => {
    const item = element('li', '');
    item.append(element('b', character, kind), ' ', element('bdi', said));
    return item;
  });
  if (items.length === 0) place.remove();
  place.querySelector('ol')?.append(...items);
}

function nameHidden(text: string): void {
  const place = byId('hidden-ones');
  const { count, parts } = markHidden(text);
  if (count === 0) place.remove();
  place.querySelector('summary')?.replaceChildren(countText(place.dataset.forms, count));
  const marks = parts.map(({ name, text: part }) =>
    name === null ? element('bdi', part) : element('mark', name),
  );
  place.querySelector('.marked')?.replaceChildren(...marks);
}

/** Lists lines such as `NAME=value`, each with a copy button, above the collapsed full text. Call this before `beginCopying`. */
export function listPairs(text: string): void {
  const template = find('#pairs', HTMLTemplateElement);
  const reading = document.getElementById('reading');
  const pairs = pairsIn(text);
  if (template === null || reading === null || pairs.length === 0) return;
  const made = document.importNode(template.content, true);
  const list = made.querySelector('.pairs');
  const row = list?.querySelector('li');
  const whole = made.querySelector('details');
  if (!list || !row || !whole) return;
  list.replaceChildren(
    ...pairs.map(({ name, value }, at) => {
      const item = document.importNode(row, true);
      const [said, shown, button] = [item.children[0], item.children[1], item.querySelector('button')];
      said?.append(name);
      shown?.append(value);
      if (shown) shown.id = `pair-${at}`;
      if (button !== null) {
        button.dataset.copy = `#pair-${at}`;
        button.ariaLabel = (button.dataset.label ?? '').replace('{name}', name);
      }
      return item;
    }),
  );
  reading.replaceWith(made);
  whole.append(reading);
  // Without a clipboard, copying needs the field to be visible.
  whole.open = !isSecureContext;
  const all = document.querySelector('[data-copy="#value"] span');
  if (all !== null) all.textContent = template.dataset.all ?? '';
}

function count(id: string, counted: number): void {
  const place = byId(id);
  place.replaceChildren(countText(place.dataset.forms, counted));
}

function showText(text: string): void {
  const value = at('textarea', 'value');
  value.value = text;
  value.rows = rowsFor(text);
  count('characters', countGraphemes(text));
  const lines = countLines(text);
  if (lines === 1) byId('lines').remove();
  else count('lines', lines);
  drawGlyphs(text);
  spellOut(text);
  nameHidden(text);
  if (!isInexact(text)) byId('inexact').remove();
}

function showFile({ name, bytes: given }: FileContent): void {
  const bytes = new Uint8Array(given);
  byId('file-name').replaceChildren(name);
  byId('file-size').replaceChildren(sizeText(document.documentElement.lang, bytes.length));
  const href = blobOf(bytes, 'application/octet-stream');
  Object.assign(at('a', 'download'), { download: name, href });
  const type = pictureTypeOf(bytes);
  const picture = at('img', 'preview');
  if (type === null) return;
  picture.onload = () => {
    picture.hidden = false;
  };
  picture.src = blobOf(bytes, type);
}

export function showOpened(content: Content): void {
  const sky = document.querySelector('#sealed > .day');
  const main = showInstead('#opened');
  if (main === null) return;
  // The same mayfly opens its wings.
  if (sky !== null) main.querySelector('.opened')?.prepend(sky);
  // Changing the language would load a page without the value.
  document.querySelector('a.language')?.remove();
  const text = content.kind === 'text' ? content.text : textOf(content.bytes);
  const parts = new Set([content.kind, ...(text === null ? [] : ['value'])]);
  for (const part of main.querySelectorAll<HTMLElement>('[data-for]'))
    if (!parts.has(part.dataset.for as 'text')) part.remove();
  if (text !== null) showText(text);
  if (content.kind === 'file') showFile(content);
  if (text !== null)
    at('a', 'save').href = blobOf(new TextEncoder().encode(text), 'text/plain;charset=utf-8');
  beginCover(text ?? '');
  if (text !== null) listPairs(text);
  beginCopying();
  (find('h1', HTMLElement) ?? main).focus();
}
