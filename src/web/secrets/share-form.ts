/**
 * What was typed into the share form. Reading loses nothing: whatever was sent comes back in its field, even if it
 * makes no sense. What was typed before a value was generated over it stays in hidden fields of the form; only an
 * unchanged generated value is ever dropped.
 */
import type { NoticeKind } from '../../core/account.ts';
import type { Plan } from '../../core/plans.ts';
import type { SealedInput } from '../../core/secrets/end-to-end.ts';
import { RequestProblem } from '../../http/problem.ts';
import type { Locale } from '../../locale/catalogues.ts';
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

export interface TypedShare {
  readonly secret: string;
  /** What was last generated into the field of the secret. */
  readonly drawn: string;
  /** What was typed there before, newest last. */
  readonly aside: readonly string[];
  readonly passphrase: string;
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

/** @param notify the account's own choice */
export function emptyShare(plan: Plan, { words }: Frame, notify: readonly NoticeKind[]): TypedShare {
  return {
    secret: '',
    drawn: '',
    aside: [],
    passphrase: '',
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
    secret: form.text('secret'),
    drawn: form.text(drawnField),
    aside: readAside(form),
    passphrase: form.text('passphrase'),
    memo: form.text('memo'),
    lifetime: readLifetime(form, offerOf(plan)),
    recipient: form.text('recipient'),
    locale: readMailLanguage(form, frame),
    shareDomain: form.text('share-domain'),
    notify: readNoticeKinds(form) ?? empty.notify,
    suggestion: readSuggestion(form),
  };
}

export const drawnField = 'drawn';
/** The button that puts the newest text back. */
export const takeBackField = 'take-back';

export function asideField(at: number): string {
  return `aside-${at}`;
}

function readAside(form: Form): readonly string[] {
  const aside: string[] = [];
  for (let text = form.text(asideField(0)); text !== ''; text = form.text(asideField(aside.length)))
    aside.push(text);
  return aside;
}

export function drawOver(typed: TypedShare, value: string): TypedShare {
  return { ...typed, secret: value, drawn: value, aside: [...typed.aside, ...ownText(typed)] };
}

/** Puts the newest text back in the field and what was typed there last in line, so that each gets its turn. */
export function takeBack(typed: TypedShare): TypedShare {
  const newest = typed.aside.at(-1);
  if (newest === undefined) return typed;
  return { ...typed, secret: newest, drawn: '', aside: [...ownText(typed), ...typed.aside.slice(0, -1)] };
}

/** The content of the field if it was typed, not generated. */
function ownText({ secret, drawn }: TypedShare): readonly string[] {
  return secret === '' || secret === drawn ? [] : [secret];
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
  const text = form.text(name);
  const bytes = Buffer.from(text, 'base64url');
  // The one encoding of its bytes, or none.
  if (bytes.toString('base64url') !== text) throw malformed('The form was sealed wrongly');
  return new Uint8Array(bytes);
}

function malformed(message: string): RequestProblem {
  return new RequestProblem({ problem: 'malformed', message });
}
