/**
 * v1's wire format: merges a query string, form, multipart body or JSON object into named texts.
 *
 * A value arrives byte for byte, or the request is refused (invalid UTF-8, invalid percent-encoding, lone surrogates). A
 * parameter has one value or none: anything that another parser could read differently is refused, never guessed. The platform's
 * parsers repair input; these are strict.
 * Sources: the WHATWG URL standard (form encoding), RFC 7578 (multipart), RFC 8259 (JSON). Clients of the existing service use
 * all of these, some with the wrong Content-Type.
 */
import { type output, safeParse, type ZodObject } from 'zod';
import { readAs } from '../../config/text.ts';
import { contentTypeOf } from '../../http/content-type.ts';
import { formBodyPairs, formPairs } from '../../http/form.ts';
import { readMultipart } from '../../http/multipart.ts';
import type { Exchange } from '../../http/operation.ts';
import { malformed, RequestProblem } from '../../http/problem.ts';
import { readJson } from '../json.ts';
import type { Dialect } from './dialect.ts';

/** Non-empty texts by name, for names that the operation knows. */
export type Parameters = ReadonlyMap<string, string>;

/** The only parameter that existing clients send with brackets. */
const listSpelling = 'recipient[]';
type ListDialect = Pick<Dialect, 'severalRecipients'>;

/**
 * Merges the body and query of a POST: the body wins, and an empty text counts as not given. The response names unknown
 * parameters, so that a misspelt one is not silently lost.
 */
export async function readParameters(
  exchange: Exchange,
  known: ReadonlySet<string>,
  dialect: ListDialect,
): Promise<Parameters> {
  const inQuery = exchange.rawQuery === '' ? noPairs : queryPairs(exchange);
  nameIgnored(exchange, namesBeside(known, inQuery));
  const bytes = await exchange.body();
  const inBody = bytes.length === 0 ? noPairs : await bodyPairs(bytes, exchange);
  nameIgnored(exchange, namesBeside(known, inQuery === noPairs ? inBody : [...inQuery, ...inBody]));
  const fromQuery = inQuery === noPairs ? null : collect(inQuery, known, dialect);
  const fromBody = collect(inBody, known, dialect);
  return fromQuery === null ? fromBody : new Map([...fromQuery, ...fromBody]);
}

/** Reports query parameters as ignored. A GET takes no parameters, so an unreadable query does not change its response. */
export function ignoreQuery(exchange: Exchange): void {
  if (exchange.rawQuery === '') return;
  try {
    nameIgnored(exchange, namesBeside(nothing, formPairs(exchange.rawQuery)));
  } catch (error) {
    if (!(error instanceof RequestProblem)) throw error;
  }
}

const nothing: ReadonlySet<string> = new Set();

/** Returns unknown names, except for query parts without a value, which may belong to an unescaped secret. */
function namesBeside(known: ReadonlySet<string>, pairs: readonly Pair[]): readonly string[] {
  const beside = pairs.filter(([name, value]) => value !== undefined && !known.has(baseName(name)));
  return beside.map(([name]) => name);
}

/**
 * Refuses a query that may have lost bytes: the runtime replaces bytes that are not UTF-8 with U+FFFD, and a raw `#` ends the
 * query early.
 */
function queryPairs({ rawQuery, request }: Exchange): readonly Pair[] {
  if (rawQuery.includes('%EF%BF%BD')) {
    throw malformed(
      'The query string holds bytes that are not UTF-8, or U+FFFD. Send such a text in the body.',
    );
  }
  if (request.url.includes('#')) throw malformed('A "#" in the query string must be written as %23.');
  return formPairs(rawQuery);
}

/** A body of any other type is read as a form. */
const readTypes = /^(?:application\/(?:json|x-www-form-urlencoded)|multipart\/form-data)\s*(?:;|$)/i;

function bodyPairs(bytes: Uint8Array, { request }: Exchange): readonly Pair[] | Promise<readonly Pair[]> {
  const contentType = contentTypeOf(request.headers, readTypes);
  const mediaType = contentType.split(';', 1)[0]?.trim().toLowerCase();
  const text = toText(bytes);
  if (!isUtf8AsLabelled(contentType, text))
    throw malformed('The body must be UTF-8, and it says that it is not.');
  if (mediaType === 'application/json') return jsonPairs(text);
  if (mediaType === 'multipart/form-data') return multipartPairs(bytes, contentType);
  return formBodyPairs(bytes);
}

function collect(pairs: readonly Pair[], known: ReadonlySet<string>, dialect: ListDialect) {
  const values = new Map<string, string>();
  const recipients: string[] = [];
  for (const [name, value] of pairs) {
    const base = baseName(name);
    if (!known.has(base)) continue;
    if (isList(name, value)) for (const entry of entriesOf(value)) recipients.push(textOf(base, entry));
    else if (name !== base) throw malformed(`The parameter "${base}" takes one plain value.`);
    else setOnce(values, base, textOf(base, value));
  }
  const [only] = recipients;
  if (only !== undefined) {
    const one = recipients.length === 1 ? only : dialect.severalRecipients(recipients);
    if (one === null) throw repeated('recipient');
    setOnce(values, 'recipient', one);
  }
  for (const [name, value] of values) if (value === '') values.delete(name);
  return values;
}

function setOnce(values: Map<string, string>, name: string, value: string): void {
  if (values.has(name)) throw repeated(name);
  values.set(name, value);
}

/** Recognises `recipient[]`, and a JSON list under the plain name. */
function isList(name: string, value: unknown): boolean {
  return name === listSpelling || (name === 'recipient' && Array.isArray(value));
}

function entriesOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value];
}

/** Returns `a` for `a[]` and `a[x]`. */
function baseName(name: string): string {
  const bracket = name.indexOf('[');
  return bracket < 0 ? name : name.slice(0, bracket);
}

function textOf(name: string, value: unknown): string {
  if (typeof value === 'string') {
    if (!value.isWellFormed()) throw malformed(`The parameter "${name}" is not well-formed text.`);
    return value;
  }
  if (value === null || value === undefined) return '';
  if (numeric.has(name) && (typeof value === 'number' || typeof value === 'boolean')) return inDigits(value);
  throw malformed(`The parameter "${name}" must be a text.`);
}

/** Parameters that JSON clients naturally send as numbers. */
const numeric: ReadonlySet<string> = new Set(['ttl', 'length']);

/** Formats the value as a form would send it, not as `1e+21`. */
function inDigits(value: number | boolean): string {
  return Number.isInteger(value) ? String(BigInt(value)) : String(value);
}

/** The value is a text, except in JSON; it is `undefined` if a query part has no `=`. */
type Pair = readonly [name: string, value: unknown];
const noPairs: readonly Pair[] = [];

/** Reads a JSON object; refuses a name given twice, at any depth. */
function jsonPairs(text: string): readonly Pair[] {
  const read = readJson(readAs('document', text));
  if (read.outcome === 'refused') throw malformed(`The body ${read.fault}.`);
  const { value } = read;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw malformed('The body must be a JSON object.');
  }
  return Object.entries(value);
}

/**
 * The platform's parser decodes leniently and drops a byte order mark, so it gets each byte as one character, and each part is
 * then decoded strictly. Files are refused.
 */
async function multipartPairs(bytes: Uint8Array, contentType: string): Promise<readonly Pair[]> {
  const onePerByte = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  const pairs: Pair[] = [];
  for (const [name, value] of await readMultipart(onePerByte, contentType, 'The multipart body')) {
    if (typeof value !== 'string') throw malformed('A file was sent; parameters are plain texts.');
    pairs.push([decodePart(name), decodePart(value)]);
  }
  return pairs;
}

function decodePart(onePerByte: string): string {
  return toText(Buffer.from(onePerByte, 'latin1'));
}

// Keeps the byte order mark: values are opaque and are returned byte for byte.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function toText(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw malformed('The request is not valid UTF-8.');
  }
}

function repeated(name: string): RequestProblem {
  return malformed(`The parameter "${name}" was given more than once.`);
}

/**
 * Charset labels that mean UTF-8. Nothing is converted: clients send `charset=ISO-8859-1` with plain ASCII, where it makes no
 * difference. If the label would make a parser read a different text, the body is refused.
 */
const utf8Labels: ReadonlySet<string> = new Set(['', 'utf-8', 'utf8', 'unicode-1-1-utf-8']);
/** Charsets that may give ASCII bytes another meaning. */
const shiftsAscii = /^(?:utf-?(?:16|32|7)|ucs|unicode|iso-?10646|iso-?2022|csiso2022|hz|ibm|cp037|ebcdic)/;
/** Non-ASCII characters, raw or percent-encoded. */
const beyondAscii = /[\u0080-\uffff]|%[89a-fA-F][\da-fA-F]/;

/** @param text the body, read as UTF-8 */
function isUtf8AsLabelled(contentType: string, text: string): boolean {
  if (!contentType.includes(';')) return true;
  const [, quoted, plain] = /;\s*charset\s*=\s*(?:"([^"]*)"|([^\s;]*))/i.exec(contentType) ?? [];
  const label = (quoted ?? plain ?? '').trim().toLowerCase();
  return utf8Labels.has(label) || !(shiftsAscii.test(label) || beyondAscii.test(text));
}

const ignoredHeader = 'mayfly-ignored';
const maxNames = 20;
/** The part of a name that the header shows. */
const shownStart = /^[\w.[\]-]{0,40}/;

/**
 * Lists unknown parameters, never a value (P18), on one short line of harmless ASCII that cannot end the header or begin another.
 * A truncated name ends in `*`, a truncated list in `...`.
 */
export function nameIgnored(exchange: Exchange, names: readonly string[]): void {
  if (names.length === 0) return;
  const shown = [...new Set(names.map(shownName))];
  const listed = shown.length > maxNames ? [...shown.slice(0, maxNames), '...'] : shown;
  exchange.setAnswerHeader(ignoredHeader, listed.join(', '));
}

function shownName(name: string): string {
  const [start = ''] = shownStart.exec(name) ?? [];
  return start === name && name !== '' ? name : `${start}*`;
}

/**
 * Checks parameters against the form's schema, in its order. The first wrong one causes a refusal that names it and never repeats
 * its value (P18). Works field by field, because most fields are absent, and parsing the whole object costs half as much again.
 */
export function createFormParser<Form extends ZodObject>(form: Form) {
  const names = Object.keys(form.shape);
  const absent = form.parse({});
  return (given: Parameters, dialect: Dialect): output<Form> => {
    const fields: Record<string, unknown> = { ...absent };
    for (const name of names) {
      const text = given.get(name);
      const read = text === undefined ? undefined : textIn(dialect, name, text);
      if (read === undefined) continue;
      const parsed = safeParse(form.shape[name], read);
      if (!parsed.success) throw malformed(parsed.error.issues[0]?.message ?? 'A parameter is malformed.');
      fields[name] = parsed.data;
    }
    // Each field has its schema's type, which TypeScript cannot infer through a loop.
    return fields as output<Form>;
  };
}

function textIn(dialect: Dialect, name: string, text: string): string | undefined {
  switch (name) {
    case 'ttl':
      return dialect.readTtl(text);
    case 'recipient':
      return dialect.readRecipient(text);
    case 'share_domain':
      return dialect.readShareDomain(text);
    default:
      return text;
  }
}
