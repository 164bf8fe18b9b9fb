/** The share form's elements, and the messages that it shows. */
import { at, byId, countText, find } from './dom.ts';
import { isContentName, shareFields } from './share-fields.ts';

/** On touch screens, focusing a field opens the keyboard, and there is no drag and drop. */
export const hasMouse = (): boolean => matchMedia('(hover: hover) and (pointer: fine)').matches;

export const shareForm = () => find('#share', HTMLFormElement);
export const secretField = () => find('#secret', HTMLTextAreaElement);

export const peopleField = () => find('#people', HTMLTextAreaElement);
export const hasPeople = (): boolean => (peopleField()?.value.trim() ?? '') !== '';

type TypedField = HTMLInputElement | HTMLTextAreaElement;

/** Works even after a field's name has been removed. */
const nameOf = (field: TypedField) => field.dataset.name ?? field.name;

/** Finds the fields whose text only the recipient may read. */
export function contentFields(): TypedField[] {
  const fields = document.querySelectorAll<TypedField>('#share :is(input, textarea)');
  return [...fields].filter((field) => isContentName(nameOf(field)));
}

/** Finds the fields to empty after creation: also those for the sender only. */
export function typedFields(): TypedField[] {
  return [...contentFields(), find('#memo', HTMLInputElement), peopleField()].filter(
    (field) => field !== null,
  );
}

/** Removes the names, so that the browser itself cannot send the fields. */
export function takeNames(): void {
  for (const field of contentFields()) {
    field.dataset.name = nameOf(field);
    field.removeAttribute('name');
  }
}

export function namedTexts(): [name: string, text: string][] {
  return contentFields().map((field) => [nameOf(field), field.value]);
}

export function bodyWithout(form: HTMLFormElement): URLSearchParams {
  const body = new URLSearchParams({ [shareFields.byScript]: '1' });
  for (const [name, text] of new FormData(form))
    if (typeof text === 'string' && !isContentName(name)) body.append(name, text);
  return body;
}

/** Shows an error at the secret's field. @param message `''` clears it */
export function sayWrong(message: string): void {
  const stopped = byId('stopped');
  if (message === '' && stopped.textContent === '') return;
  stopped.textContent = message;
  if (message === '') {
    secretField()?.removeAttribute('aria-invalid');
    return;
  }
  byId('secret-wrong').remove();
  secretField()?.setAttribute('aria-invalid', 'true');
}

export function note(template: string, fill: (note: DocumentFragment) => void = () => {}): void {
  const place = byId('unsent');
  const filled = document.importNode(at('template', template).content, true);
  fill(filled);
  place.replaceChildren(filled);
  place.scrollIntoView({ block: 'nearest' });
}

export function say(id: string, text: string | undefined): void {
  const said = byId(id);
  if (said.textContent !== text) said.textContent = text ?? '';
}

/**
 * Past this fraction of the limit, a counter shows how much more fits. The limit counts bytes, but people count characters: if all
 * characters of a text have the same size, the count is exact; otherwise it uses their average and says "about".
 */
const nearPart = 0.8;

const encoder = new TextEncoder();
export const bytesIn = (text: string): number => encoder.encode(text).length;

export type Room =
  | { readonly kind: 'plenty' }
  | { readonly kind: 'left' | 'about' | 'over'; readonly characters: number };

/** Counts code points, because deleting removes one at a time in most scripts. */
export function roomIn(text: string, limitBytes: number): Room {
  const used = bytesIn(text);
  if (used < nearPart * limitBytes || text === '') return { kind: 'plenty' };
  const sizes = Array.from(text, sizeOf);
  if (used <= limitBytes) {
    const left = Math.floor(((limitBytes - used) * sizes.length) / used);
    return { kind: new Set(sizes).size === 1 ? 'left' : 'about', characters: left };
  }
  let characters = 0;
  for (let beyond = used - limitBytes; beyond > 0; characters += 1) beyond -= sizes.pop() ?? beyond;
  return { kind: 'over', characters };
}

function sizeOf(character: string): number {
  const code = character.codePointAt(0) ?? 0;
  return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
}

let last: Room['kind'] = 'plenty';

export function tellRoom(text: string | null, limitBytes: number): void {
  const counter = byId('counter');
  const room: Room = text === null ? { kind: 'plenty' } : roomIn(text, limitBytes);
  counter.hidden = room.kind === 'plenty';
  counter.classList.toggle('over', room.kind === 'over');
  counter.textContent = room.kind === 'plenty' ? '' : countText(counter.dataset[room.kind], room.characters);
  if (isNews(room.kind)) byId('counter-spoken').replaceChildren(counter.textContent);
  last = room.kind;
}

/** Returns whether to announce the room left: on nearing the limit, and on passing it. */
function isNews(kind: Room['kind']): boolean {
  const stage = (each: Room['kind']) => ['plenty', 'over'].indexOf(each);
  return stage(kind) !== stage(last);
}
