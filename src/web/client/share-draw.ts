/**
 * Values are drawn in this browser, and neither they nor anything typed is sent. The server only makes the page, of a form with stand-ins
 * in place of texts.
 */
import { generateValue, random } from '../../../sdk/drawing.ts';
import { allCharacterSets, drawWords } from '../../protocol/drawing.ts';
import { element, namedTexts } from './share-parts.ts';

async function drawPassphrase(count: number): Promise<string> {
  const { words = '' } = element('generate', HTMLButtonElement)?.dataset ?? {};
  const response = await fetch(words);
  const list = (await response.text()).trim().split('\n');
  // Fail rather than draw from half a list.
  if (!response.ok || list.length !== 7_776) throw new Error('there are no words to draw from');
  return drawWords(list, count, random);
}

/** As `generate.tsx` has it: 64 bits. */
const passphraseWords = 5;

/** Of a form that the server has found nothing wrong with. */
function drawFor(field: Field, form: FormData): string | Promise<string> {
  if (field === 'passphrase') return drawPassphrase(passphraseWords);
  if (form.get('suggest-style') === 'words') return drawPassphrase(Number(form.get('suggest-words')));
  const sets = allCharacterSets.filter((set) => form.has(`suggest-${set}`));
  return generateValue(Number(form.get('suggest-length')), sets);
}

/** The fields that values are drawn into, each with what its other texts are named after. */
const prefixes = { secret: '', passphrase: 'passphrase-' } as const;
type Field = keyof typeof prefixes;
const fields = Object.keys(prefixes) as Field[];

export const fieldNamed = (name: string): Field => (name === 'passphrase' ? name : 'secret');

/** As `share-form.ts` of the server has it. */
interface Drawable {
  readonly text: string;
  readonly drawn: string;
  /** Newest last. */
  readonly aside: readonly string[];
}

type Texts = Readonly<Record<Field, Drawable>>;

function textsNow(): Texts {
  const texts = new Map(namedTexts());
  const of = (field: Field): Drawable => {
    const [drawn, aside] = [`${prefixes[field]}drawn`, `${prefixes[field]}aside-`];
    const kept = [...texts].filter(([name]) => name.startsWith(aside)).map(([, text]) => text);
    return { text: texts.get(field) ?? '', drawn: texts.get(drawn) ?? '', aside: kept };
  };
  return { secret: of('secret'), passphrase: of('passphrase') };
}

function own({ text, drawn }: Drawable): readonly string[] {
  return text === '' || text === drawn ? [] : [text];
}

function takenBack(typed: Drawable): Drawable {
  const newest = typed.aside.at(-1) ?? typed.text;
  return { text: newest, drawn: '', aside: [...own(typed), ...typed.aside.slice(0, -1)] };
}

function drawnOver(typed: Drawable, value: string): Drawable {
  return { text: value, drawn: value, aside: [...typed.aside, ...own(typed)] };
}

/** What the server needs to know of the texts: which there are, and whether the value is still the drawn one. */
function standIns(texts: Texts): [string, string][] {
  return fields.flatMap((field) => {
    const { text, drawn, aside } = texts[field];
    const isDrawn = drawn !== '' && text === drawn;
    return [
      [field, text === '' ? '' : isDrawn ? 'drawn' : 'typed'],
      [`${prefixes[field]}drawn`, drawn === '' ? '' : 'drawn'],
      ...aside.map((_text, at): [string, string] => [`${prefixes[field]}aside-${at}`, 'typed']),
    ];
  });
}

function fill(answer: Document, texts: Texts): void {
  const set = (name: string, text: string) => {
    const field = answer.querySelector<HTMLInputElement | HTMLTextAreaElement>(`#share [name="${name}"]`);
    if (field !== null) Object.assign(field, { value: text, defaultValue: text });
  };
  for (const field of fields) {
    const { text, drawn, aside } = texts[field];
    set(field, text);
    set(`${prefixes[field]}drawn`, drawn);
    for (const [at, kept] of aside.entries()) set(`${prefixes[field]}aside-${at}`, kept);
  }
}

/** For a form whose secret is sent sealed: a refusal then comes back with a place for each text. */
export function standInsBeside(): [string, string][] {
  return standIns(textsNow()).filter(([name]) => name !== 'secret' && name !== 'passphrase');
}

/** Puts the texts of this page into a form that the server answered without them. */
export function keepTexts(answer: Document): void {
  fill(answer, textsNow());
}

export interface Drawing {
  readonly body: URLSearchParams;
  /** Into the server's answer. */
  readonly fill: (answer: Document) => Promise<void>;
}

interface Wish {
  readonly field: Field;
  readonly isTakingBack: boolean;
}

/** @param body what the form holds beside the texts */
export function drawing(form: HTMLFormElement, body: URLSearchParams, wish: Wish): Drawing {
  const { field, isTakingBack } = wish;
  const texts = textsNow();
  const sent = new FormData(form);
  for (const [name, text] of standIns(texts)) body.append(name, text);
  return {
    body,
    async fill(answer) {
      const isRefused = answer.querySelector('.news') === null;
      const typed = texts[field];
      if (isRefused) fill(answer, texts);
      else if (isTakingBack) fill(answer, { ...texts, [field]: takenBack(typed) });
      else fill(answer, { ...texts, [field]: drawnOver(typed, await drawFor(field, sent)) });
    },
  };
}
