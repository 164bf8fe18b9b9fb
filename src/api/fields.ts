/**
 * The fields of both API versions: each field's wire format, and the core value that it becomes. Texts arrive byte for byte;
 * nothing is trimmed or repaired. Anything that depends on the caller's plan is left to the core.
 */

import { z } from 'zod';
import type { CreationOptions } from '../core/secrets/outcomes.ts';
import { Sensitive } from '../core/sensitive.ts';
import type { Exchange } from '../http/operation.ts';
import { allCharacterSets, type CharacterSet, generatedLength } from '../protocol/drawing.ts';
import { keyForm } from '../protocol/link.ts';
import { type NoticeKind, noticeKinds } from '../protocol/vocabulary.ts';

interface Words {
  readonly description: string;
  readonly examples?: unknown[];
}

interface RefusingWords extends Words {
  readonly refusal: string;
}

// Responses.

export const key = z
  .string()
  .regex(keyForm)
  .meta({ examples: ['4k1zq0v9x7c2m8t5w3h6j0n4b1d7f2g'] });

export const time = z
  .int()
  .min(0)
  .meta({ description: 'Unix time in seconds, UTC.', examples: [1_746_700_000] });

export const seconds = z
  .int()
  .min(0)
  .meta({ examples: [604_800] });

// Texts.

export const notText = 'Must be a text';
export const illFormed = 'Must be well-formed Unicode text';

/** Lone surrogates have no UTF-8 encoding, so they could not be returned as received. */
export const text = z.string(notText).refine((value) => value.isWellFormed(), illFormed);

/** Clients send an empty text or null to mean "not given". */
export const optionalText = (words: Words) =>
  text
    .nullish()
    .meta({ ...words })
    .transform((given) => (given === '' ? null : (given ?? null)));

export const sensitiveText = (words: Words) =>
  text
    .nullish()
    .meta({ ...words })
    .transform(sensitiveOf);

function sensitiveOf(given: string | null | undefined): Sensitive<string> | null {
  return given === undefined || given === null || given === '' ? null : new Sensitive(given);
}

// Numbers.

/** A whole number in decimal digits; empty means "not given". */
export const digits = (refusal: string) => z.string().regex(/^[0-9]*$/, refusal);

interface Range {
  readonly min: number;
  readonly max: number;
}

/** The digits of a number within the range, or an empty text. */
export const digitsWithin = ({ min, max }: Range, refusal: string, mostDigits = Number.POSITIVE_INFINITY) =>
  digits(refusal).refine(
    (given) => given === '' || (given.length <= mostDigits && Number(given) >= min && Number(given) <= max),
    refusal,
  );

/** Not `z.int()`, which rejects unsafe integers: large numbers are clamped instead of refused. */
const wholeNumber = (refusal: string) =>
  z.number(refusal).min(0, refusal).refine(Number.isInteger, refusal).meta({ type: 'integer' });

/** Seconds, or `null` for the plan's default. Existing clients send zero to mean "not given". */
export const ttl = ({ refusal, ...words }: RefusingWords) =>
  z
    .union([digits(refusal), wholeNumber(refusal), z.null()], refusal)
    .optional()
    .meta({ ...words })
    .transform((given) => {
      const ttlSeconds = Math.min(Number(given ?? 0), Number.MAX_SAFE_INTEGER);
      return ttlSeconds === 0 ? null : ttlSeconds;
    });

const lengthRange = `${generatedLength.min} to ${generatedLength.max}`;
export const notLength = `a whole number from ${lengthRange}`;
export const lengthWords = {
  description: `Characters to generate, ${lengthRange}; ${generatedLength.default} when absent.`,
};

/** @param mostDigits including leading zeros */
export const numberWithin = (range: Range, { refusal, ...words }: RefusingWords, mostDigits?: number) =>
  z
    .union(
      [
        z.int(refusal).min(range.min, refusal).max(range.max, refusal),
        digitsWithin(range, refusal, mostDigits),
        z.null(),
      ],
      refusal,
    )
    .optional()
    .meta({ ...words })
    .transform(numberOf);

/** @param mostDigits including leading zeros */
export const length = (words: RefusingWords, mostDigits?: number) =>
  numberWithin(generatedLength, words, mostDigits);

function numberOf(given: string | number | null | undefined): number | null {
  return given === undefined || given === null || given === '' ? null : Number(given);
}

// Lists of names.

export const charsetNames = allCharacterSets.join(', ');
export const noticeNames = noticeKinds.join(', ');

const mostNames = 16;

interface Names<Name extends string> {
  readonly known: readonly Name[];
  /** The word for an empty list; `null` if there must be a name. */
  readonly empty: string | null;
}

const charsets: Names<CharacterSet> = { known: allCharacterSets, empty: null };
const notices: Names<NoticeKind> = { known: noticeKinds, empty: 'none' };

/** Matches comma-separated names. */
function namesForm({ known, empty }: Names<string>, most: number | null = null) {
  const one = `(?:${known.join('|')})`;
  const list = `${one}(?:,${one})${most === null ? '*' : `{0,${most - 1}}`}`;
  return new RegExp(`^(?:${empty === null ? list : `${empty}|${list}`})?$`);
}

/** Reads names from a list or from one comma-separated text: the known ones, each once, in the order given. */
function namesIn<Name extends string>({ known, empty }: Names<Name>) {
  return (given: string | readonly string[] | null | undefined): readonly Name[] | null => {
    if (given === undefined || given === null || given === '') return null;
    if (given === empty) return [];
    const names = new Set(typeof given === 'string' ? given.split(',') : given);
    return [...names].flatMap((name) => known.find((each) => each === name) ?? []);
  };
}

/** Names as one comma-separated text. */
const namesText = <Name extends string>(names: Names<Name>, { refusal, ...words }: RefusingWords) =>
  z
    .string()
    .regex(namesForm(names), refusal)
    .optional()
    .meta({ ...words })
    .transform(namesIn(names));

const namesField = <Name extends string>(names: Names<Name>, { refusal, ...words }: RefusingWords) => {
  const list = z.array(z.enum(names.known, refusal), refusal).max(mostNames, refusal);
  const text = z.string().regex(namesForm(names, mostNames), refusal);
  return z
    .union([names.empty === null ? list.min(1, refusal) : list, text, z.null()], refusal)
    .optional()
    .meta({ ...words })
    .transform(namesIn(names));
};

export const charsetText = (words: RefusingWords) => namesText(charsets, words);
export const charset = (words: RefusingWords) => namesField(charsets, words);
export const notifyText = (words: RefusingWords) => namesText(notices, words);
export const notify = (words: RefusingWords) => namesField(notices, words);

/** One address, alone or in a list. */
export const recipient = ({ refusal, ...words }: RefusingWords) =>
  z
    .union([text, z.array(text, refusal).max(1, refusal), z.null()], refusal)
    .optional()
    .meta({ ...words })
    .transform((given) => sensitiveOf(typeof given === 'object' ? given?.[0] : given));

type CreationFields = Pick<
  CreationOptions,
  'passphrase' | 'recipient' | 'notify' | 'locale' | 'memo' | 'note' | 'verify'
> & {
  readonly ttl: number | null;
  readonly share_domain: string | null;
};

export function creationOptions(fields: CreationFields, exchange: Exchange): CreationOptions {
  const { passphrase } = fields;
  return {
    passphrase,
    // Determining the prefix takes time, and only passphrase hashing needs it.
    clientPrefix: passphrase === null ? null : exchange.clientPrefix,
    ttlSeconds: fields.ttl,
    recipient: fields.recipient,
    shareDomain: fields.share_domain,
    notify: fields.notify,
    memo: fields.memo,
    note: fields.note,
    verify: fields.verify,
    arrivedOn: exchange.request.headers.get('host'),
    locale: fields.locale,
  };
}

// v2 only.

export const notRecipient = 'Must be one e-mail address';

export const newRecipient = recipient({
  refusal: notRecipient,
  description: 'Another address to send the link to; absent: the one that it was last sent to.',
  examples: ['alan@example.org'],
});

export const locale = optionalText({
  description:
    "Language of the recipient's mail, a BCP 47 tag. Where it is not offered, the mail is in the nearest or in the " +
    'default language, and `details.adjusted` says so.',
});

export const memoWords = {
  description:
    'A label for the creator alone, up to 500 characters: in no mail, and nothing that a reader of the secret sees. ' +
    'It stays with the record after the secret is gone. Empty or null: none.',
  examples: ['VPN for Al'],
};
