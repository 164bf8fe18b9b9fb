/** Each kind of setting turns text into a safe value of its final type or says what is allowed. It never repairs the text. */
import { z } from 'zod';
import type { Plans } from '../core/plans.ts';
import { Sensitive } from '../core/sensitive.ts';
import { type Locale, supportedLocales } from '../locale/catalogues.ts';
import { readJson } from './json.ts';
import { builtInRateLimits, plansFile, type RateLimitTable, rateLimitsFile } from './json-files.ts';
import { type TextForm, whyUnread } from './text.ts';

export type ReadText = (path: string) => string;

export type Parsed<T> =
  | { readonly value: T }
  /** Printed after `NAME is "text": `. */
  | { readonly problem: string }
  | Objections;

export interface Objections {
  /** Each is printed directly after the variable's name. */
  readonly objections: readonly string[];
  /** Only servers refuse the value, because commands do not need it. */
  readonly isForServer: boolean;
}

export interface Kind<T> {
  /** Completes "it must be …". */
  readonly allowed: string;
  /** Contains a secret, which is never printed; `<variable>_FILE` can name a file to read it from. */
  readonly isSecret: boolean;
  readonly form: TextForm;
  /** @param text never empty: an empty variable counts as unset */
  parse(text: string, readText: ReadText): Parsed<T>;
  /** @param text the text that the value was parsed from; `null` for a default */
  show(value: T, text: string | null): string;
}

/** A message that replaces "it must be …". */
export class Complaint {
  readonly params: { readonly problem: string } | Objections;
  constructor(params: Complaint['params']) {
    this.params = params;
  }
}

/** Makes a schema from a parser; `undefined` means not allowed. */
export function readBy<T>(parse: (text: string) => T | Complaint | undefined): z.ZodType<T, string> {
  return z.string().transform((text, context): T => {
    const value = parse(text);
    if (value !== undefined && !(value instanceof Complaint)) return value;
    context.addIssue({ code: 'custom', ...(value !== undefined && { params: { complaint: value } }) });
    return z.NEVER;
  });
}

export function kind<T>(
  allowed: string,
  schema: z.ZodType<T, string>,
  show: (value: T) => string = String,
): Kind<T> {
  const parse = (text: string): Parsed<T> => {
    const parsed = schema.safeParse(text);
    if (parsed.success) return { value: parsed.data };
    const [issue] = parsed.error.issues;
    const complaint: unknown = issue?.code === 'custom' ? issue.params?.complaint : undefined;
    return complaint instanceof Complaint ? complaint.params : { problem: `it must be ${allowed}` };
  };
  return { allowed, isSecret: false, form: 'word', parse, show };
}

export function optional<T>(of: Kind<T>, shownAs = 'none'): Kind<T | null> {
  return { ...of, show: (value, text) => (value === null ? shownAs : of.show(value, text)) };
}

export function hidden<T>(of: Kind<T>): Kind<T> {
  return { ...of, isSecret: true, show: () => 'set, not shown' };
}

function sensitive(allowed: string, schema: z.ZodType<string, string>): Kind<Sensitive<string>> {
  return hidden(
    kind(
      allowed,
      schema.transform((text) => new Sensitive(text)),
    ),
  );
}

export function wholeNumber(min: number, max: number): Kind<number> {
  const digits = z.string().regex(/^(0|[1-9][0-9]{0,15})$/);
  return kind(
    `a whole number from ${min} to ${max}`,
    digits.transform(Number).pipe(z.number().min(min).max(max)),
  );
}

function quoted(words: readonly string[]): string {
  return words.map((word) => `"${word}"`).join(' or ');
}

export function oneOf<const T extends string>(...allowed: readonly T[]): Kind<T> {
  return kind(quoted(allowed), z.enum(allowed));
}

export function yesNo(yes: string, no: string): Kind<boolean> {
  return kind(
    quoted([yes, no]),
    z.enum([yes, no]).transform((word) => word === yes),
    (value) => (value ? yes : no),
  );
}

const unitBytes: Readonly<Record<string, number>> = {
  MB: 1e6,
  MiB: 2 ** 20,
  GB: 1e9,
  GiB: 2 ** 30,
  TB: 1e12,
  TiB: 2 ** 40,
};

function parseByteSize(text: string): number | undefined {
  const [, digits = '', unit = ''] = /^([1-9][0-9]{0,5}) ?([MGT]i?B)$/.exec(text) ?? [];
  const bytes = Number(digits) * (unitBytes[unit] ?? Number.NaN);
  return Number.isNaN(bytes) ? undefined : bytes;
}

function showByteSize(bytes: number): string {
  const units = Object.entries(unitBytes).sort(([, one], [, other]) => other - one);
  const [unit, size] = units.find(([, each]) => bytes % each === 0) ?? ['B', 1];
  return `${bytes / size}${unit}`;
}

/** In bytes; `null` means no limit. */
export const byteLimit: Kind<number | null> = kind(
  'a size in MB, MiB, GB, GiB, TB or TiB, such as 500MB or 10GiB, or "none"',
  readBy((text) => (text === 'none' ? null : parseByteSize(text))),
  (bytes) => (bytes === null ? 'none' : showByteSize(bytes)),
);

export const filePath: Kind<string> = { ...kind('a path', z.string().regex(/^[^\0]*$/)), form: 'exact' };

const singleLine = z.string().regex(/^[^\r\n\0]*$/);

export const plainText = kind('text without line breaks', singleLine);
export const sensitiveLine = sensitive('text without line breaks', singleLine);
export const sensitiveText = { ...sensitive('text', z.string()), form: 'value' } as const;

const addressForm = /^[^\s<>@,;:"]+@[^\s<>@,;:"]+$/;

/** An RFC 5322 addr-spec in its usual form, alone or after a name. `mail/` checks it in full. */
export const mailSender = kind(
  'an address such as mayfly@example.org or "Mayfly <mayfly@example.org>"',
  z
    .string()
    .max(430)
    .refine((text) => addressForm.test(/^[^<>\r\n\0]{1,100}<([^<>]{3,320})>$/.exec(text)?.[1] ?? text)),
);

export const mailAddress = kind(
  'one address such as bounces@example.org',
  z.string().max(320).regex(addressForm),
);

export function parts<T>(one: z.ZodType<T, string>): z.ZodType<T[], string> {
  return z
    .string()
    .transform((text) => text.split(',').map((part) => part.trim()))
    .pipe(z.array(one));
}

export function showList(values: Iterable<string>): string {
  return [...values].join(', ') || 'none';
}

export function listOf<T extends string>(allowed: string, one: z.ZodType<T, string>): Kind<readonly T[]> {
  return kind<readonly T[]>(allowed, parts(one), showList);
}

const localeTag = readBy((text): Locale | Complaint | undefined => {
  const tag = canonicalTag(text);
  if (tag === undefined) return undefined;
  const spoken = supportedLocales.join(', ');
  const unknown = ` names the language "${tag}", which Mayfly does not have: it has ${spoken}.`;
  return (
    supportedLocales.find((locale) => locale === tag) ??
    new Complaint({ objections: [unknown], isForServer: true })
  );
});

function canonicalTag(text: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(text)[0];
  } catch {
    // A RangeError means that the text is not a language tag.
    return undefined;
  }
}

export const locale = kind('a language tag such as en or pt-BR', localeTag);
export const locales: Kind<readonly Locale[]> = {
  ...listOf('language tags separated by commas, such as en, fr', localeTag),
  show: (values, text) => (text === null ? 'all shipped' : showList(values)),
};

function inJsonFile<T>(path: Kind<string>, file: z.ZodType<T>, isForServer: boolean) {
  return (text: string, readText: ReadText): Parsed<T> => {
    const named = path.parse(text, readText);
    if (!('value' in named)) return named;
    let json: string;
    try {
      json = readText(text);
    } catch (error) {
      return { objections: [` names a file that ${whyUnread(error)}: ${text}`], isForServer };
    }
    const read = readJson(json, file);
    if ('value' in read) return read;
    return { objections: read.problems.map((problem) => ` (${text}): ${problem}.`), isForServer };
  };
}

export const plans: Kind<Plans> = {
  ...filePath,
  parse: inJsonFile(filePath, plansFile, false),
  show: (_, text) => text ?? 'none',
};

const limitsPath = kind(
  '"on", "off" or the path of a JSON file',
  z.string().refine((text) => text.includes('/') || text.endsWith('.json')),
);
const limitsInFile = inJsonFile(limitsPath, rateLimitsFile, true);

export const rateLimits: Kind<RateLimitTable | 'off'> = {
  ...limitsPath,
  parse(text, readText) {
    if (text === 'on') return { value: builtInRateLimits };
    return text === 'off' ? { value: text } : limitsInFile(text, readText);
  },
  show: (_, text) => text ?? 'on',
};

/** An ISO 8601 date, as the Unix time at which it starts in UTC. */
export const day: Kind<number> = kind(
  'a day such as 2027-01-31',
  z.iso.date().transform((text) => Date.parse(`${text}T00:00:00Z`) / 1_000),
  dayText,
);

function dayText(seconds: number): string {
  return new Date(seconds * 1_000).toISOString().slice(0, 10);
}
