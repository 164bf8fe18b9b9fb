/**
 * v2's wire format: reads the body (JSON, or a form in the dialect that reads forms), header texts and the query, and writes the
 * notes in `details`.
 *
 * A request becomes an object or a `RequestProblem`, never any other error. A name given twice is refused, since two parsers
 * could read it differently. `ignored` lists unknown fields, and `adjusted` shows what was granted instead of what was
 * requested. Both are absent when empty, and bounded because they repeat client input.
 */
import { type output, type ZodObject, type ZodType, z } from 'zod';
import { contentTypeOf } from '../../http/content-type.ts';
import { formBodyPairs } from '../../http/form.ts';
import type { Exchange } from '../../http/operation.ts';
import { type FieldError, malformed, RequestProblem } from '../../http/problem.ts';
import { seconds } from '../fields.ts';
import { readJson } from '../json.ts';
import type { Dialect } from './dialect.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

export function invalidFields(...errors: FieldError[]): RequestProblem {
  return new RequestProblem({ problem: 'invalid_fields', errors });
}

const jsonType = /^application\/json *(?:;|$)/i;
const jsonOrFormType = /^application\/(?:json|x-www-form-urlencoded) *(?:;|$)/i;
// JSON is UTF-8 even if a parameter claims otherwise (RFC 8259 §8.1), so any other charset makes it a different content type.
const otherCharset = /; *charset=(?!"?utf-8"? *(?:;|$))/i;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Returns `undefined` if no body was sent, which needs no content type, or if the form is empty, in the dialect that reads forms. */
async function readValue(exchange: Exchange, { readsForms }: Pick<Dialect, 'readsForms'>): Promise<unknown> {
  const bytes = await exchange.body();
  if (bytes.length === 0) return readsForms ? {} : undefined;
  const read = readsForms ? jsonOrFormType : jsonType;
  const contentType = contentTypeOf(exchange.request.headers, read);
  if (!read.test(contentType) || otherCharset.test(contentType)) {
    throw new RequestProblem({ problem: 'unsupported_media_type' });
  }
  return jsonType.test(contentType) ? parseJson(decodeUtf8(bytes)) : parseForm(bytes);
}

function parseJson(text: string): unknown {
  const read = readJson(text);
  if (read.outcome === 'refused') throw malformed(`The body ${read.fault}`);
  return read.value;
}

/** Parses `a=1` and `a[b]=1` into the equivalent JSON object. */
function parseForm(bytes: Uint8Array): JsonObject {
  const outer = new Map<string, unknown>();
  const nested = new Map<string, Map<string, unknown>>();
  for (const [name, value] of formBodyPairs(bytes)) {
    const [, form, field] = /^([^[\]]+)(?:\[([^[\]]+)\])?$/.exec(name) ?? [];
    if (form === undefined) throw malformed('The body nests a field deeper than one level');
    const fields = field === undefined ? outer : (nested.get(form) ?? new Map<string, unknown>());
    const key = field ?? form;
    if (fields.has(key)) throw malformed('The body names a member more than once');
    fields.set(key, value);
    if (field !== undefined) nested.set(form, fields);
  }
  for (const [form, fields] of nested) {
    if (outer.has(form)) throw malformed('The body names a member more than once');
    outer.set(form, Object.fromEntries(fields));
  }
  return Object.fromEntries(outer);
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw malformed('The body is not valid UTF-8');
  }
}

async function readBody(exchange: Exchange, dialect: Dialect): Promise<JsonObject | undefined> {
  const body = await readValue(exchange, dialect);
  if (body === undefined || isObject(body)) return body;
  throw invalidFields({ field: '', message: 'The body must be a JSON object' });
}

/** Returns the body as an object, which is empty if none was sent. */
export async function readObject(exchange: Exchange, dialect: Dialect): Promise<JsonObject> {
  return (await readBody(exchange, dialect)) ?? {};
}

/** Like `readObject`, for an operation that needs a body. */
export async function readGivenObject(exchange: Exchange, dialect: Dialect): Promise<JsonObject> {
  const body = await readBody(exchange, dialect);
  if (body === undefined) throw malformed('A JSON body is needed');
  return body;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Limits on the field names that a response repeats. */
const mostIgnored = 20;
const longestIgnored = 100;

/**
 * Returns the unknown fields as dotted paths: a misspelt passphrase must not silently leave a secret unprotected.
 * @param known the schema of these fields
 */
export function ignoredIn(fields: JsonObject, known: ZodObject, prefix = ''): readonly string[] {
  const names = Object.keys(fields).filter((name) => !Object.hasOwn(known.shape, name));
  return names
    .slice(0, mostIgnored)
    .map((name) => `${prefix}${name}`.slice(0, longestIgnored).toWellFormed());
}

export function boundIgnored(...paths: readonly (readonly string[])[]): readonly string[] {
  return paths.flat().slice(0, mostIgnored);
}

/** @param prefix the start of a field's name in the body as sent: `secret.` or nothing */
export function parseFields<Schema extends ZodType>(
  schema: Schema,
  fields: unknown,
  prefix: string,
): output<Schema> {
  const parsed = schema.safeParse(fields);
  if (parsed.success) return parsed.data;
  const errors = new Map<string, string>();
  for (const issue of parsed.error.issues) {
    const field = prefix + issue.path.filter((name) => typeof name === 'string').join('.');
    if (!errors.has(field)) errors.set(field, issue.message);
  }
  throw invalidFields(...Array.from(errors, ([field, message]) => ({ field, message })));
}

/** Reads one query parameter in form encoding (`+` is a space). Returns `undefined` if it is absent. */
export function queryText(rawQuery: string, name: string): string | undefined {
  const found = rawQuery
    .split('&')
    .filter((pair) => pair === name || pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
  if (found.length > 1) throw malformed(`The parameter ${name} was given more than once`);
  const [text] = found;
  return text === undefined ? undefined : percentDecoded(text.replaceAll('+', ' '), name);
}

const printableAscii = /^[\x20-\x7e]*$/;

/** Strict: `decodeURIComponent` refuses broken escapes and ill-formed UTF-8, and raw bytes above ASCII are ambiguous. */
export function percentDecoded(text: string, name: string): string {
  if (!printableAscii.test(text)) throw malformed(`${name} must be percent-encoded`);
  try {
    return decodeURIComponent(text);
  } catch {
    throw malformed(`${name} is not valid percent-encoded UTF-8`);
  }
}

export function keyOf({ params }: Exchange): string {
  return params.key ?? '';
}

export interface FromBody {
  /** Unknown fields, as dotted paths. */
  readonly ignored: readonly string[];
}

/** Reads the fields of a flat body, if one was sent. */
export async function readFields<Schema extends ZodObject>(
  exchange: Exchange,
  schema: Schema,
  dialect: Dialect,
): Promise<FromBody & { readonly fields: output<Schema> }> {
  const body = await readObject(exchange, dialect);
  return { fields: parseFields(schema, body, ''), ignored: ignoredIn(body, schema) };
}

/** `continue`: false means a check only, `null` means not given. */
export const proceed = (description: string) =>
  z
    .union([z.boolean(), z.enum(['true', 'false', '']), z.null()], 'Must be true or false')
    .optional()
    .meta({ description })
    .transform((given) =>
      given === undefined || given === null || given === '' ? null : String(given) === 'true',
    );

const longestAsked = 100;

/** Repeats a requested value for comparison; a long text is truncated. */
export function asAsked(given: string): string {
  return given.slice(0, longestAsked).toWellFormed();
}

export const ignored = z.array(z.string()).optional().meta({
  description: 'Unknown fields of the body, as dotted paths, at most 20; absent when there are none.',
});

const adjustedLocale = z
  .object({ asked: z.string(), granted: z.string() })
  .optional()
  .meta({ description: 'The language of the mail, if the requested one is not offered.' });

const absent = 'What was granted instead of what was requested; absent when nothing was.';

export const localeAdjusted = z.object({ locale: adjustedLocale }).optional().meta({ description: absent });

export const adjustedLifetime = z
  .object({ asked: z.union([z.number(), z.string()]), granted: seconds })
  .optional()
  .meta({ description: 'The lifetime granted, in seconds, if the plan does not allow the one requested.' });

export const ttlAdjusted = z.object({ ttl: adjustedLifetime }).optional().meta({ description: absent });

export const adjusted = z
  .object({ ttl: adjustedLifetime, locale: adjustedLocale })
  .optional()
  .meta({ description: absent });

export function encodeRemarks<Adjusted extends object>(remarks: FromBody & { readonly adjusted: Adjusted }) {
  const { adjusted, ignored } = remarks;
  return { ...encodeAdjusted(adjusted), ...encodeIgnored(ignored) };
}

export function encodeAdjusted<Adjusted extends object>(adjusted: Adjusted): { adjusted?: Adjusted } {
  return Object.keys(adjusted).length > 0 ? { adjusted } : {};
}

export function encodeIgnored(paths: readonly string[]): { ignored?: string[] } {
  return paths.length > 0 ? { ignored: [...paths] } : {};
}

export function adjustedTtl(askedFor: number | string | null, granted: number) {
  return askedFor === null || askedFor === granted ? {} : { ttl: { asked: askedFor, granted } };
}

/** Returns nothing if the request was met: `fr` satisfies `fr-CH`, but `zh-CN` does not satisfy `zh-TW`. */
export function adjustedLocaleOf(askedFor: string | null, granted: string) {
  const isGranted = askedFor === null || `${askedFor}-`.toLowerCase().startsWith(`${granted}-`.toLowerCase());
  return isGranted ? {} : { locale: { asked: asAsked(askedFor), granted } };
}
