/** Draws values in this browser. The server only renders the page: it gets stand-ins for the texts, never the texts themselves. */
import { generateValue, random } from '../../../sdk/drawing.ts';
import { allCharacterSets, allDigits, drawText, drawWords } from '../../protocol/drawing.ts';
import { find } from './dom.ts';
import {
  asideName,
  type Drawable,
  type DrawableField,
  drawableFields,
  drawnName,
  drawOver,
  fieldNamed,
  passphraseDigits,
  passphraseWords,
  shareFields,
  takeBack,
  template,
  wordListSize,
} from './share-fields.ts';
import { namedTexts } from './share-parts.ts';

async function drawPassphrase(count: number): Promise<string> {
  const { words = '' } = find('#generate', HTMLButtonElement)?.dataset ?? {};
  const response = await fetch(words);
  const list = (await response.text()).trim().split('\n');
  // Fails rather than drawing from an incomplete list.
  if (!response.ok || list.length !== wordListSize) throw new Error('there are no words to draw from');
  return drawWords(list, count, random);
}

/** Draws without checks: the server has already accepted the form. */
function drawFor(draw: string, form: FormData): string | Promise<string> {
  if (draw === 'template') return template;
  if (draw === 'code') return drawText(allDigits, passphraseDigits, random);
  if (draw === 'passphrase') return drawPassphrase(passphraseWords);
  if (form.get(shareFields.suggestStyle) === 'words')
    return drawPassphrase(Number(form.get(shareFields.suggestWords)));
  const sets = allCharacterSets.filter((set) => form.has(`suggest-${set}`));
  return generateValue(Number(form.get(shareFields.suggestLength)), sets);
}

type Texts = Readonly<Record<DrawableField, Drawable>>;

function textsNow(): Texts {
  const texts = new Map(namedTexts());
  const of = (field: DrawableField): Drawable => {
    const aside = asideName(field, '');
    const kept = [...texts].filter(([name]) => name.startsWith(aside)).map(([, text]) => text);
    return { text: texts.get(field) ?? '', drawn: texts.get(drawnName(field)) ?? '', aside: kept };
  };
  return { secret: of('secret'), passphrase: of('passphrase') };
}

/** Tells the server which texts exist, and whether a field still contains the drawn value. */
function standIns(texts: Texts): [string, string][] {
  return drawableFields.flatMap((field) => {
    const { text, drawn, aside } = texts[field];
    const isDrawn = drawn !== '' && text === drawn;
    return [
      [field, text === '' ? '' : isDrawn ? 'drawn' : 'typed'],
      [drawnName(field), drawn === '' ? '' : 'drawn'],
      ...aside.map((_text, at): [string, string] => [asideName(field, at), 'typed']),
    ];
  });
}

function fill(answer: Document, texts: Texts): void {
  const set = (name: string, text: string) => {
    const field = answer.querySelector<HTMLInputElement | HTMLTextAreaElement>(`#share [name="${name}"]`);
    if (field !== null) Object.assign(field, { value: text, defaultValue: text });
  };
  for (const field of drawableFields) {
    const { text, drawn, aside } = texts[field];
    set(field, text);
    set(drawnName(field), drawn);
    for (const [at, kept] of aside.entries()) set(asideName(field, at), kept);
  }
  set('note', find('#note', HTMLInputElement)?.value ?? '');
}

/** Returns the stand-ins for a sealed form, so that a refusal comes back with a field for each text. */
export function standInsBeside(): [string, string][] {
  return standIns(textsNow()).filter(([name]) => name !== 'secret' && name !== 'passphrase');
}

export function keepTexts(answer: Document): void {
  fill(answer, textsNow());
}

/** Adds stand-ins to a body that has the pressed button. @returns draws, and fills the answer with the texts */
export function drawing(form: HTMLFormElement, body: URLSearchParams, { name, value }: HTMLButtonElement) {
  const field = fieldNamed(value);
  const texts = textsNow();
  const sent = new FormData(form);
  for (const [name, text] of standIns(texts)) body.append(name, text);
  return async (answer: Document): Promise<void> => {
    const isRefused = answer.querySelector('.news') === null;
    const typed = texts[field];
    if (isRefused) fill(answer, texts);
    else if (name === shareFields.takeBack) fill(answer, { ...texts, [field]: takeBack(typed) });
    else fill(answer, { ...texts, [field]: drawOver(typed, await drawFor(value, sent)) });
  };
}
