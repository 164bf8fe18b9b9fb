/**
 * What was typed into the share form. Reading loses nothing: whatever was sent comes back in its field, even if it
 * makes no sense. What was typed before a value was drawn over it stays in hidden fields of the form; only an unchanged
 * drawn value is ever dropped.
 */

import type { Plan } from '../../core/plans.ts';
import type { SealedInput } from '../../core/secrets/end-to-end.ts';
import { RequestProblem } from '../../http/problem.ts';
import type { Locale } from '../../locale/catalogues.ts';
import { fromBase64Url } from '../../protocol/base64url.ts';
import type { NoticeKind } from '../../protocol/vocabulary.ts';
import { readNoticeKinds } from '../kit/field.tsx';
import type { Form } from '../kit/form.ts';
import type { Frame } from '../kit/layout.tsx';
import { offerOf, readLifetime, readMailLanguage, type TypedLifetime } from './fields.tsx';
import { emptySuggestion, type GenerateField, readSuggestion, type TypedSuggestion } from './generate.tsx';

export type ShareField =
  | 'secret'
  | 'passphrase'
  | 'memo'
  | 'ttl-amount'
  | 'recipient'
  | 'share-domain'
  | 'notify'
  | GenerateField;

/** A field into which a value can be drawn. */
export interface Drawable {
  readonly text: string;
  /** What was last drawn into it. */
  readonly drawn: string;
  /** What was typed there before, newest last. */
  readonly aside: readonly string[];
}

export type DrawableField = 'secret' | 'passphrase';

export interface TypedShare extends Readonly<Record<DrawableField, Drawable>> {
  readonly memo: string;
  readonly lifetime: TypedLifetime;
  readonly recipient: string;
  /** Of the mail. */
  readonly locale: Locale;
  /** `''` for the site's own. */
  readonly shareDomain: string;
  readonly notify: readonly NoticeKind[];
  readonly suggestion: TypedSuggestion;
}

const nothingDrawn: Drawable = { text: '', drawn: '', aside: [] };

/** What was just drawn or put back. */
export interface ShareNews {
  readonly field: DrawableField;
  /** Entropy of what was drawn; `null` if a typed text was put back. */
  readonly bits: number | null;
}

/** @param notify the account's own choice */
export function emptyShare(plan: Plan, { words }: Frame, notify: readonly NoticeKind[]): TypedShare {
  return {
    secret: nothingDrawn,
    passphrase: nothingDrawn,
    memo: '',
    lifetime: { choice: plan.ttlDefaultSeconds, amount: '', unit: 'hours' },
    recipient: '',
    locale: words.locale,
    shareDomain: '',
    notify,
    suggestion: emptySuggestion,
  };
}

export function readShare(form: Form, empty: TypedShare, plan: Plan, frame: Frame): TypedShare {
  return {
    secret: readDrawable(form, 'secret'),
    passphrase: readDrawable(form, 'passphrase'),
    memo: form.text('memo'),
    lifetime: readLifetime(form, offerOf(plan)),
    recipient: form.text('recipient'),
    locale: readMailLanguage(form, frame),
    shareDomain: form.text('share-domain'),
    notify: readNoticeKinds(form) ?? empty.notify,
    suggestion: readSuggestion(form),
  };
}

/** Names the field that a value is drawn into; absent for the secret. */
export const drawField = 'draw';
/** Of the button that puts the newest text back, with the name of its field. */
export const takeBackField = 'take-back';

const asidePrefix: Readonly<Record<DrawableField, string>> = { secret: '', passphrase: 'passphrase-' };

export function drawnName(field: DrawableField): string {
  return `${asidePrefix[field]}drawn`;
}

export function asideName(field: DrawableField, at: number): string {
  return `${asidePrefix[field]}aside-${at}`;
}

function readDrawable(form: Form, field: DrawableField): Drawable {
  const aside: string[] = [];
  const next = () => form.text(asideName(field, aside.length));
  for (let text = next(); text !== ''; text = next()) aside.push(text);
  return { text: form.text(field), drawn: form.text(drawnName(field)), aside };
}

/** Which field the press of a button was about. */
export function fieldNamed(name: string): DrawableField {
  return name === 'passphrase' ? name : 'secret';
}

export function drawOver(typed: Drawable, value: string): Drawable {
  return { text: value, drawn: value, aside: [...typed.aside, ...ownText(typed)] };
}

/** Puts the newest text back in the field and what was typed there last in line, so that each gets its turn. */
export function takeBack(typed: Drawable): Drawable {
  const newest = typed.aside.at(-1);
  if (newest === undefined) return typed;
  return { text: newest, drawn: '', aside: [...ownText(typed), ...typed.aside.slice(0, -1)] };
}

/** The content of the field if it was typed, not drawn. */
function ownText({ text, drawn }: Drawable): readonly string[] {
  return text === '' || text === drawn ? [] : [text];
}

/**
 * What the script sealed, in place of secret and passphrase; `null` if it sealed nothing.
 * @throws RequestProblem `malformed` for what no script of this version sends
 */
export function readSealed(form: Form): SealedInput | null {
  const version = form.text('sealed-version');
  if (version === '') return null;
  if (version !== '1') throw malformed('The form was sealed in a way that this version does not know');
  return {
    ciphertext: bytesIn(form, 'sealed-ciphertext'),
    linkHash: bytesIn(form, 'sealed-link'),
    proofHash: bytesIn(form, 'sealed-proof'),
    hasPassphrase: form.text('sealed-passphrase') !== '',
  };
}

/** @throws RequestProblem `malformed` */
function bytesIn(form: Form, name: string): Uint8Array {
  const bytes = fromBase64Url(form.text(name));
  if (bytes === null) throw malformed('The form was sealed wrongly');
  return bytes;
}

function malformed(message: string): RequestProblem {
  return new RequestProblem({ problem: 'malformed', message });
}
