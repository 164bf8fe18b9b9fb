/**
 * How much more fits, said only once most of the room is used. The limit counts bytes and people count characters: while all
 * of a text takes the same for each, the count is exact; in a mixed one it is the text's own average, and says "about".
 */
import { element } from './share-parts.ts';

const nearPart = 0.8;

const encoder = new TextEncoder();
export const bytesIn = (text: string): number => encoder.encode(text).length;

export type Room =
  | { readonly kind: 'plenty' }
  | { readonly kind: 'left' | 'about' | 'over'; readonly characters: number };

/** Characters are code points, as deleting removes them in most scripts. */
export function roomIn(text: string, limitBytes: number): Room {
  const used = bytesIn(text);
  if (used < nearPart * limitBytes || text === '') return { kind: 'plenty' };
  if (used > limitBytes) return { kind: 'over', characters: beyond(text, used - limitBytes) };
  const sizes = new Set<number>();
  let characters = 0;
  for (const character of text) {
    sizes.add(sizeOf(character));
    characters += 1;
  }
  const left = Math.floor(((limitBytes - used) * characters) / used);
  return { kind: sizes.size === 1 ? 'left' : 'about', characters: left };
}

/** How many characters at the end have to go. */
function beyond(text: string, bytes: number): number {
  let characters = 0;
  for (let [at, freed] = [text.length, 0]; freed < bytes && at > 0; characters += 1) {
    const code = text.codePointAt(at - 2) ?? 0;
    const character = code > 0xffff ? String.fromCodePoint(code) : text.charAt(at - 1);
    at -= character.length;
    freed += sizeOf(character);
  }
  return characters;
}

/** Of one character in UTF-8. */
function sizeOf(character: string): number {
  const code = character.codePointAt(0) ?? 0;
  return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
}

let last: Room['kind'] = 'plenty';

/** Of the form that the page now shows. */
export function tellRoom(text: string | null, limitBytes: number): void {
  const counter = element('counter', HTMLParagraphElement);
  if (counter === null) return;
  const room: Room = text === null ? { kind: 'plenty' } : roomIn(text, limitBytes);
  counter.hidden = room.kind === 'plenty';
  counter.classList.toggle('over', room.kind === 'over');
  counter.textContent =
    room.kind === 'plenty' ? '' : spoken(counter.dataset[room.kind] ?? '{}', room.characters);
  if (isNews(room.kind)) document.getElementById('counter-spoken')?.replaceChildren(counter.textContent);
  last = room.kind;
}

/** Heard when the limit comes near, and when it is passed. */
function isNews(kind: Room['kind']): boolean {
  const stage = (each: Room['kind']) => ['plenty', 'over'].indexOf(each);
  return stage(kind) !== stage(last);
}

/** @param forms of the plural, as JSON */
function spoken(forms: string, count: number): string {
  const { lang } = document.documentElement;
  const texts = JSON.parse(forms) as Readonly<Record<string, string>>;
  const text = texts[new Intl.PluralRules(lang).select(count)] ?? texts.other ?? '';
  return text.replace('{count}', new Intl.NumberFormat(lang).format(count));
}
