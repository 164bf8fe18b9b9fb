/** The share form's fields: the server renders and reads them by these names, and the script sends them. */
export const shareFields = {
  /** Says what to draw: `passphrase`, `code` or `template`; absent for a value. */
  draw: 'draw',
  /** Names the button that puts the newest text back; its value names the field. */
  takeBack: 'take-back',
  /** Sent by the script, which then opens the receipt itself. */
  byScript: 'by-script',
  recipient: 'recipient',
  /** Whether the server mails each of several people their link. */
  mailsEach: 'mails-each',
  /** Gets a code when somebody opens the secret. */
  verify: 'verify',
  /** Whether each of several people gets their own code. */
  verifyEach: 'verify-each',
  /** The keys of the receipts of several people, as in the address of their page. */
  created: 'created',
  suggestStyle: 'suggest-style',
  suggestLength: 'suggest-length',
  suggestWords: 'suggest-words',
  sealedVersion: 'sealed-version',
  sealedCiphertext: 'sealed-ciphertext',
  sealedLink: 'sealed-link',
  sealedProof: 'sealed-proof',
  sealedPassphrase: 'sealed-passphrase',
  sealedNote: 'sealed-note',
} as const;

export const drawableFields = ['secret', 'passphrase'] as const;
export type DrawableField = (typeof drawableFields)[number];

export interface Drawable {
  readonly text: string;
  readonly drawn: string;
  /** Texts typed earlier, newest last. */
  readonly aside: readonly string[];
}

const prefixes = { secret: '', passphrase: 'passphrase-' } as const;

export function drawnName(field: DrawableField): string {
  return `${prefixes[field]}drawn`;
}

export function asideName(field: DrawableField, at: number | ''): string {
  return `${prefixes[field]}aside-${at}`;
}

/** Returns whether a field's text is for the recipient alone: the value, the passphrase, the texts that drawn values replaced, the note. */
export function isContentName(name: string): boolean {
  if (name === 'note') return true;
  return drawableFields.some(
    (field) => name === field || name === drawnName(field) || name.startsWith(asideName(field, '')),
  );
}

/** Returns the field that a button fills, from the button's value. */
export function fieldNamed(name: string): DrawableField {
  return name === 'passphrase' || name === 'code' ? 'passphrase' : 'secret';
}

export function drawOver(typed: Drawable, value: string): Drawable {
  return { text: value, drawn: value, aside: [...typed.aside, ...ownText(typed)] };
}

/** Puts the newest text back and moves the current one to the end of the line, so that each gets its turn. */
export function takeBack(typed: Drawable): Drawable {
  const newest = typed.aside.at(-1);
  if (newest === undefined) return typed;
  return { text: newest, drawn: '', aside: [...ownText(typed), ...typed.aside.slice(0, -1)] };
}

function ownText({ text, drawn }: Drawable): readonly string[] {
  return text === '' || text === drawn ? [] : [text];
}

/** 6^5, the number of results of five dice. */
export const wordListSize = 7_776;

/** 64 bits are enough, because guesses are limited. Words are easy to read aloud. */
export const passphraseWords = 5;

/** With 100 guesses in a secret's life (P14), one in 10,000 is found. */
export const passphraseDigits = 6;

/** The recipient's page gives each line that is filled in a button that copies it. */
export const template = 'USERNAME=\nPASSWORD=\nTOTP_SEED=\nNOTE=';
