/**
 * What a person has typed into the form of the start page.
 *
 * Owns: the fields' names and their reading. Invariant: reading loses nothing: whatever was sent comes back in the
 * field it was typed into, also when it makes no sense.
 */

import type { NoticeKind } from '../../core/accounts/accounts.ts';
import type { Plan } from '../../core/plans.ts';
import { allCharacterSets, generatedLength } from '../../core/secrets/generated-value.ts';
import type { CharacterSet, SuggestInput } from '../../core/secrets/outcomes.ts';
import type { Locale } from '../../locale/catalogues.ts';
import type { Form } from '../kit/form.ts';
import { readNoticeKinds } from '../kit/notices.tsx';
import { type Aside, readAside } from './share-aside.ts';

export type ShareField =
  | 'secret'
  | 'passphrase'
  | 'memo'
  | 'ttl-amount'
  | 'recipient'
  | 'share-domain'
  | 'notify'
  | 'suggest-length'
  | 'suggest-sets'
  | 'suggest-words';

export const unitSeconds = { seconds: 1, minutes: 60, hours: 3_600, days: 86_400 } as const;
export type LifetimeUnit = keyof typeof unitSeconds;

export interface TypedLifetime {
  /** One of the choices, in seconds. */
  readonly choice: number | 'other';
  /** As typed; counts when the choice is `other`. */
  readonly amount: string;
  readonly unit: LifetimeUnit;
}

export interface TypedSuggestion {
  readonly style: SuggestInput['style'];
  /** As typed. */
  readonly length: string;
  readonly sets: readonly CharacterSet[];
  /** As typed. */
  readonly wordCount: string;
}

export interface TypedShare extends Aside {
  readonly passphrase: string;
  /** The creator's own label. */
  readonly memo: string;
  readonly lifetime: TypedLifetime;
  readonly recipient: string;
  /** Of the mail. */
  readonly locale: Locale;
  /** `''`: the site's own. */
  readonly shareDomain: string;
  /** Which mails its maker wants about it. */
  readonly notify: readonly NoticeKind[];
  readonly suggestion: TypedSuggestion;
}

/** What is allowed of a suggestion, and what a form begins with: enough for a password that stays. */
export const suggestionBounds = {
  length: { min: generatedLength.min, first: 16, max: generatedLength.max },
  words: { min: 3, first: 5, max: 12 },
} as const;

const usualLifetimesSeconds = [
  300, 1_800, 3_600, 14_400, 43_200, 86_400, 259_200, 604_800, 1_209_600, 2_592_000,
];

/** The usual lifetimes that the plan allows, its default and its longest among them, shortest first. */
export function lifetimeChoices(plan: Plan): number[] {
  const allowed = usualLifetimesSeconds.filter(
    (ttl) => ttl >= plan.ttlMinSeconds && ttl <= plan.ttlMaxSeconds,
  );
  return [...new Set([...allowed, plan.ttlDefaultSeconds, plan.ttlMaxSeconds])].sort((a, b) => a - b);
}

/** @param notify what the account wants unless the form says otherwise. */
export function emptyShare(plan: Plan, locale: Locale, notify: readonly NoticeKind[] = []): TypedShare {
  return {
    ...{ secret: '', drawn: '', aside: [] },
    passphrase: '',
    memo: '',
    lifetime: { choice: plan.ttlDefaultSeconds, amount: '', unit: 'hours' },
    recipient: '',
    locale,
    shareDomain: '',
    notify,
    suggestion: {
      style: 'characters',
      length: String(suggestionBounds.length.first),
      sets: allCharacterSets,
      wordCount: String(suggestionBounds.words.first),
    },
  };
}

/** @param locales those offered. */
export function readShare(form: Form, empty: TypedShare, plan: Plan, locales: readonly Locale[]): TypedShare {
  return {
    secret: form.text('secret'),
    ...readAside(form),
    passphrase: form.text('passphrase'),
    memo: form.text('memo'),
    lifetime: readLifetime(form, plan),
    recipient: form.text('recipient'),
    locale: locales.find((tag) => tag === form.text('mail-language')) ?? empty.locale,
    shareDomain: form.text('share-domain'),
    notify: readNoticeKinds(form) ?? empty.notify,
    suggestion: readSuggestion(form, empty.suggestion),
  };
}

function readLifetime(form: Form, plan: Plan): TypedLifetime {
  const chosen = form.text('ttl');
  const typed = { amount: form.text('ttl-amount'), unit: unitNamed(form.text('ttl-unit')) };
  if (chosen === 'other') return { choice: 'other', ...typed };
  if (chosen === '') return { choice: plan.ttlDefaultSeconds, ...typed };
  const found = lifetimeChoices(plan).find((seconds) => String(seconds) === chosen);
  // A choice of another plan (somebody logged in or out in between) is shown as what it would have been typed as.
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

/** `null`: the amount is no whole number. */
export function lifetimeSeconds({ choice, amount, unit }: TypedLifetime): number | null {
  if (choice !== 'other') return choice;
  const count = wholeNumber(amount.trim());
  return count === null ? null : count * unitSeconds[unit];
}

/** In ASCII digits, few enough for exact arithmetic; `null` for anything else. */
function wholeNumber(text: string): number | null {
  return /^[0-9]{1,9}$/.test(text) ? Number(text) : null;
}

function readSuggestion(form: Form, empty: TypedSuggestion): TypedSuggestion {
  // A box that is not ticked is not sent: only a form that has the boxes can say that there are none.
  if (form.text('suggest-style') === '') return empty;
  return {
    style: form.text('suggest-style') === 'words' ? 'words' : 'characters',
    length: form.text('suggest-length'),
    sets: allCharacterSets.filter((set) => form.text(`suggest-${set}`) !== ''),
    wordCount: form.text('suggest-words'),
  };
}

/** The request, or the field that does not allow one. */
export function toSuggestInput({
  style,
  length,
  sets,
  wordCount,
}: TypedSuggestion): SuggestInput | { readonly wrong: ShareField } {
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
