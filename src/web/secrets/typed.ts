/**
 * What was typed into a secret's forms. Reading loses nothing: every text comes back in its field, even if it makes no sense. Texts that a
 * drawn value replaced are kept in hidden fields of the share form; only unchanged drawn values are dropped.
 */

import { parseMetadataKey } from '../../core/keys.ts';
import type { Plan } from '../../core/plans.ts';
import type { SealedInput } from '../../core/secrets/end-to-end.ts';
import type { SuggestInput } from '../../core/secrets/outcomes.ts';
import { malformed } from '../../http/problem.ts';
import type { Locale } from '../../locale/catalogues.ts';
import {
  allCharacterSets,
  type CharacterSet,
  characterSets,
  generatedLength,
} from '../../protocol/drawing.ts';
import { type NoticeKind, noticeKinds } from '../../protocol/vocabulary.ts';
import {
  asideName,
  type Drawable,
  type DrawableField,
  drawnName,
  passphraseDigits,
  passphraseWords,
  shareFields,
  wordListSize,
} from '../client/share-fields.ts';
import type { FieldTexts } from '../kit/field.tsx';
import { bytesIn, type Form, wholeNumber } from '../kit/form.ts';
import type { Messages } from '../kit/language.ts';
import type { Frame } from '../kit/layout.tsx';

export const mailLanguageField = 'mail-language';

export function readMailLanguage(form: Form, { settings, messages }: Frame): Locale {
  return settings.locales.find((tag) => tag === form.text(mailLanguageField)) ?? messages.locale;
}

const unitSeconds = { seconds: 1, minutes: 60, hours: 3_600, days: 86_400 } as const;
export type LifetimeUnit = keyof typeof unitSeconds;

/** Seconds, or the longest lifetime possible when the form arrives. */
export type LifetimeChoice = number | 'longest';

export interface LifetimeOffer {
  readonly minSeconds: number;
  readonly maxSeconds: number;
  readonly choices: readonly LifetimeChoice[];
  readonly preset: LifetimeChoice;
}

export interface TypedLifetime {
  readonly choice: LifetimeChoice | 'other';
  readonly amount: string;
  readonly unit: LifetimeUnit;
}

const usualLifetimesSeconds = [
  300, 1_800, 3_600, 14_400, 43_200, 86_400, 259_200, 604_800, 1_209_600, 2_592_000,
];

export function usualWithin(minSeconds: number, maxSeconds: number): number[] {
  return usualLifetimesSeconds.filter((ttl) => ttl >= minSeconds && ttl <= maxSeconds);
}

/** Offers the plan's default and maximum for a new secret, and the usual lifetimes that the plan allows. */
export function offerOf(plan: Plan): LifetimeOffer {
  const { ttlMinSeconds: minSeconds, ttlMaxSeconds: maxSeconds, ttlDefaultSeconds: preset } = plan;
  const choices = new Set([...usualWithin(minSeconds, maxSeconds), preset, maxSeconds]);
  return { minSeconds, maxSeconds, preset, choices: [...choices].sort((a, b) => a - b) };
}

export function readLifetime(form: Form, offer: LifetimeOffer): TypedLifetime {
  const chosen = form.text('ttl');
  const typed = { amount: form.text('ttl-amount'), unit: unitNamed(form.text('ttl-unit')) };
  if (chosen === 'other') return { choice: 'other', ...typed };
  if (chosen === '') return { choice: offer.preset, ...typed };
  const found = offer.choices.find((choice) => String(choice) === chosen);
  // A choice no longer offered (after logging in or out, or because time has passed) appears as if typed.
  return found === undefined ? spelledOut(chosen) : { choice: found, ...typed };
}

function unitNamed(name: string): LifetimeUnit {
  const names = Object.keys(unitSeconds) as LifetimeUnit[];
  return names.find((unit) => unit === name) ?? 'hours';
}

function spelledOut(seconds: string): TypedLifetime {
  const count = wholeNumber(seconds);
  const fitting = (['days', 'hours', 'minutes'] as const).find(
    (unit) => count !== null && count > 0 && count % unitSeconds[unit] === 0,
  );
  if (count === null || fitting === undefined) return { choice: 'other', amount: seconds, unit: 'seconds' };
  return { choice: 'other', amount: String(count / unitSeconds[fitting]), unit: fitting };
}

function lifetimeSeconds({ choice, amount, unit }: TypedLifetime, offer: LifetimeOffer): number | null {
  if (choice !== 'other') return secondsOf(choice, offer);
  const count = wholeNumber(amount.trim());
  return count === null ? null : count * unitSeconds[unit];
}

export function secondsOf(choice: LifetimeChoice, { maxSeconds }: LifetimeOffer): number {
  return choice === 'longest' ? maxSeconds : choice;
}

/** Returns the seconds, or what is wrong. An entry out of bounds is refused, although the service would grant the nearest lifetime. */
export function askedLifetime(
  typed: TypedLifetime,
  offer: LifetimeOffer,
  { say, duration }: Messages,
): { readonly seconds: number } | { readonly wrong: string } {
  const seconds = lifetimeSeconds(typed, offer);
  if (seconds === null) return { wrong: say('share.ttlNumber') };
  const { minSeconds, maxSeconds } = offer;
  if (seconds >= minSeconds && seconds <= maxSeconds) return { seconds };
  return { wrong: say('share.ttlOutOfRange', { min: duration(minSeconds), max: duration(maxSeconds) }) };
}

/** What a form asks for, with what was typed. */
export function askedIn(form: Form, offer: LifetimeOffer, messages: Messages) {
  const typed = readLifetime(form, offer);
  return { typed, ...askedLifetime(typed, offer, messages) };
}

/** Browsers do not send unticked boxes; this hidden field shows that the form had them. */
export const noticesField = { name: 'notify', value: 'chosen' } as const;

export function noticeField(kind: NoticeKind): string {
  return `${noticesField.name}-${kind}`;
}

export function readNoticeKinds(form: Form): readonly NoticeKind[] | null {
  if (form.text(noticesField.name) !== noticesField.value) return null;
  return noticeKinds.filter((kind) => form.text(noticeField(kind)) !== '');
}

export const generateFields = [shareFields.suggestLength, 'suggest-sets', shareFields.suggestWords] as const;
export type GenerateField = (typeof generateFields)[number];

/** How the generator draws. */
export type SuggestStyle = Exclude<SuggestInput['style'], 'digits'>;

export const drawnPassphrases = {
  passphrase: { style: 'words', count: passphraseWords },
  code: { style: 'digits', length: passphraseDigits },
} as const satisfies Record<string, SuggestInput>;

/** `first` is the form's default: enough for a long-lived password. */
export const suggestionBounds = {
  length: { min: generatedLength.min, first: 16, max: generatedLength.max },
  words: { min: 3, first: 5, max: 12 },
} as const;

/** With the form's defaults where it has no generator. Its boxes would all be missing, as if none were ticked. */
function readSuggestion(form: Form) {
  const { length, words } = suggestionBounds;
  const style: SuggestStyle = form.text(shareFields.suggestStyle) === 'words' ? 'words' : 'characters';
  const isEmpty = form.text(shareFields.suggestStyle) === '';
  return {
    style,
    length: isEmpty ? String(length.first) : form.text(shareFields.suggestLength),
    sets: allCharacterSets.filter((set) => isEmpty || form.text(`suggest-${set}`) !== ''),
    wordCount: isEmpty ? String(words.first) : form.text(shareFields.suggestWords),
  };
}
export type TypedSuggestion = ReturnType<typeof readSuggestion>;

export function toSuggestInput({
  style,
  length,
  sets,
  wordCount,
}: TypedSuggestion): SuggestInput | { readonly wrong: GenerateField } {
  if (style === 'words') {
    const count = numberWithin(wordCount, suggestionBounds.words);
    return count === null ? { wrong: 'suggest-words' } : { style, count };
  }
  const count = numberWithin(length, suggestionBounds.length);
  if (count === null) return { wrong: 'suggest-length' };
  return sets.length === 0 ? { wrong: 'suggest-sets' } : { style, length: count, charset: sets };
}

function numberWithin(text: string, { min, max }: { min: number; max: number }): number | null {
  const number = wholeNumber(text.trim());
  return number === null || number < min || number > max ? null : number;
}

/** Returns the exact entropy of the draw, rounded down; never an estimate from the value. */
export function strengthBits(input: Exclude<SuggestInput, { style: 'digits' }>): number {
  const bits =
    input.style === 'words'
      ? input.count * Math.log2(wordListSize)
      : Math.log2(textsWithEverySet(input.length, input.charset));
  return Math.floor(bits);
}

/** Counts the texts with a character from every set, by inclusion–exclusion. The count stays below 2^1024 up to 128 characters. */
function textsWithEverySet(length: number, sets: readonly CharacterSet[]): number {
  const sizes = sets.map((set) => characterSets[set].length);
  const whole = sizes.reduce((sum, size) => sum + size, 0);
  let texts = 0;
  for (let left = 0; left < 2 ** sizes.length; left += 1) {
    const without = sizes.filter((_size, at) => (left >> at) % 2 === 1);
    const alphabet = whole - without.reduce((sum, size) => sum + size, 0);
    texts += (without.length % 2 === 0 ? 1 : -1) * alphabet ** length;
  }
  return texts;
}

export type ShareField =
  | DrawableField
  | 'memo'
  | 'note'
  | 'ttl-amount'
  | 'recipient'
  | 'verify'
  | 'share-domain'
  | 'notify'
  | 'people'
  | GenerateField;

/** What was just put into a field. */
export interface ShareNews {
  readonly field: DrawableField;
  readonly text: string;
}

/** A form that nothing was typed into. */
export const emptyForm: Form = { text: () => '', file: () => null };

/** @param notify the notices that are ticked in a form without their boxes */
export function readShare(form: Form, plan: Plan, frame: Frame, notify: readonly NoticeKind[]) {
  return {
    secret: readDrawable(form, 'secret'),
    passphrase: readDrawable(form, 'passphrase'),
    memo: form.text('memo'),
    note: form.text('note'),
    lifetime: readLifetime(form, offerOf(plan)),
    recipient: form.text(shareFields.recipient),
    verify: form.text(shareFields.verify),
    locale: readMailLanguage(form, frame),
    /** `''` for the site's own domain. */
    shareDomain: form.text('share-domain'),
    notify: readNoticeKinds(form) ?? notify,
    suggestion: readSuggestion(form),
    /** Those who get a link each (`people.ts`); blank for one link. */
    people: form.text('people'),
    mailsEach: form.text(shareFields.mailsEach) !== '',
    verifyEach: form.text(shareFields.verifyEach) !== '',
    /** The metadata keys of links that were created before, for others. */
    created: form
      .text(shareFields.created)
      .split('.')
      .filter((key) => parseMetadataKey(key) !== null),
  };
}
export type TypedShare = Readonly<ReturnType<typeof readShare>>;

function readDrawable(form: Form, field: DrawableField): Drawable {
  const aside: string[] = [];
  const next = () => form.text(asideName(field, aside.length));
  for (let text = next(); text !== ''; text = next()) aside.push(text);
  return { text: form.text(field), drawn: form.text(drawnName(field)), aside };
}

/**
 * Returns what the script sealed in place of the secret and passphrase; `null` if it sealed nothing.
 * @throws RequestProblem `malformed` for anything this version's script does not send
 */
export function readSealed(form: Form): SealedInput | null {
  const version = form.text(shareFields.sealedVersion);
  if (version === '') return null;
  if (version !== '1') throw malformed('The form was sealed in a way that this version does not know');
  return {
    ciphertext: bytesIn(form, shareFields.sealedCiphertext),
    linkHash: bytesIn(form, shareFields.sealedLink),
    proofHash: bytesIn(form, shareFields.sealedProof),
    hasPassphrase: form.text(shareFields.sealedPassphrase) !== '',
    note: form.text(shareFields.sealedNote) === '' ? null : bytesIn(form, shareFields.sealedNote),
  };
}

export interface ShareRefusal {
  readonly field: ShareField | null;
  readonly message: string;
  /** States that nothing happened and nothing is lost. */
  readonly consolation: string;
  readonly needsLogIn?: boolean;
}

export interface ShareProps {
  readonly frame: Frame;
  readonly plan: Plan;
  readonly typed: TypedShare;
  readonly news: ShareNews | null;
  /** The caller's share domains. */
  readonly domains: readonly string[];
  readonly refusal: ShareRefusal | null;
  /** What comes from an earlier secret, and what does not. */
  readonly again?: string;
}

/** The texts of a field of the form, with what is wrong in it. */
export function textsOf(
  { refusal, news }: Partial<Pick<ShareProps, 'refusal' | 'news'>>,
  name: ShareField,
  label = '',
  hint?: string,
): FieldTexts {
  const wrong = refusal?.field === name ? refusal.message : null;
  return { name, label, hint, wrong, hasNews: news?.field === name };
}
