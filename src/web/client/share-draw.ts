/**
 * Generating while the secret is encrypted in this browser: the value is drawn here, as `core/secrets/generated-value.ts` draws
 * it, and neither it nor anything typed is sent. The server only makes the page, of a form with stand-ins in place of texts.
 */
import { element, namedTexts } from './share-parts.ts';

/** Each equally likely, without modulo bias. */
function below(bound: number): number {
  const ceiling = 2 ** 32 - (2 ** 32 % bound);
  for (;;) {
    const [drawn = 0] = crypto.getRandomValues(new Uint32Array(1));
    if (drawn < ceiling) return drawn % bound;
  }
}

/** Drawn again until every chosen set occurs, so that all texts that qualify are equally likely. */
function drawCharacters(length: number, sets: readonly string[]): string {
  const alphabet = sets.join('');
  for (;;) {
    const drawn = Array.from({ length }, () => alphabet[below(alphabet.length)] ?? '');
    if (sets.every((set) => drawn.some((character) => set.includes(character)))) return drawn.join('');
  }
}

async function drawWords(count: number): Promise<string> {
  const { words = '' } = element('sealing', HTMLDivElement)?.dataset ?? {};
  const response = await fetch(words);
  const list = (await response.text()).trim().split('\n');
  // Fail rather than draw from half a list.
  if (!response.ok || list.length !== 7_776) throw new Error('there are no words to draw from');
  return Array.from({ length: count }, () => list[below(list.length)] ?? '').join('-');
}

/** Of a form that the server has found nothing wrong with. */
function drawFor(form: FormData): string | Promise<string> {
  if (form.get('suggest-style') === 'words') return drawWords(Number(form.get('suggest-words')));
  const boxes = document.querySelectorAll<HTMLInputElement>('#share input[data-characters]:checked');
  const sets = [...boxes].map((box) => box.dataset.characters ?? '');
  return drawCharacters(Number(form.get('suggest-length')), sets);
}

interface Texts {
  readonly secret: string;
  readonly drawn: string;
  readonly passphrase: string;
  /** Newest last. */
  readonly aside: readonly string[];
}

function textsNow(): Texts {
  const texts = new Map(namedTexts());
  const of = (name: string) => texts.get(name) ?? '';
  const aside = [...texts].filter(([name]) => name.startsWith('aside-')).map(([, text]) => text);
  return { secret: of('secret'), drawn: of('drawn'), passphrase: of('passphrase'), aside };
}

/** As `share-form.ts` of the server does it. */
function own({ secret, drawn }: Texts): readonly string[] {
  return secret === '' || secret === drawn ? [] : [secret];
}

function takenBack(texts: Texts): Texts {
  const newest = texts.aside.at(-1) ?? texts.secret;
  return { ...texts, secret: newest, drawn: '', aside: [...own(texts), ...texts.aside.slice(0, -1)] };
}

/** What the server needs to know of the texts: which there are, and whether the value is still the drawn one. */
function standIns({ secret, drawn, aside }: Texts): [string, string][] {
  const isDrawn = drawn !== '' && secret === drawn;
  return [
    ['secret', secret === '' ? '' : isDrawn ? 'drawn' : 'typed'],
    ['drawn', drawn === '' ? '' : 'drawn'],
    ...aside.map((_text, at): [string, string] => [`aside-${at}`, 'typed']),
  ];
}

function fill(answer: Document, { secret, drawn, passphrase, aside }: Texts): void {
  const set = (name: string, text: string) => {
    const field = answer.querySelector<HTMLInputElement | HTMLTextAreaElement>(`#share [name="${name}"]`);
    if (field !== null) Object.assign(field, { value: text, defaultValue: text });
  };
  set('secret', secret);
  set('drawn', drawn);
  set('passphrase', passphrase);
  aside.forEach((text, at) => {
    set(`aside-${at}`, text);
  });
}

/** For a form whose secret is sent sealed: a refusal then comes back with a place for each text. */
export function standInsBeside(): [string, string][] {
  return standIns(textsNow()).filter(([name]) => name !== 'secret');
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

/** @param body what the form holds beside the texts */
export function drawing(form: HTMLFormElement, body: URLSearchParams, isTakingBack: boolean): Drawing {
  const texts = textsNow();
  const fields = new FormData(form);
  for (const [name, text] of standIns(texts)) body.append(name, text);
  return {
    body,
    async fill(answer) {
      const hasNews = answer.getElementById('news') !== null;
      if (!hasNews) fill(answer, texts);
      else if (isTakingBack) fill(answer, takenBack(texts));
      else {
        const value = await drawFor(fields);
        fill(answer, { ...texts, secret: value, drawn: value, aside: [...texts.aside, ...own(texts)] });
      }
    },
  };
}
