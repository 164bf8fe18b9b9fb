/**
 * How v1's parameters travel: from the bytes of a request to named texts.
 *
 * Owns: reading a query string, a form, a multipart body and a JSON object, and merging them. Invariant: a value
 * arrives byte for byte or the request is refused (invalid UTF-8, invalid percent-encoding, lone surrogates), and a
 * parameter has one value or none: what a second reader could take differently is refused, never guessed.
 * Sources: the WHATWG URL standard (form encoding), RFC 7578 (multipart), RFC 8259 (JSON); real clients of the existing
 * service use every one of these carriages, some with a Content-Type that says something else.
 */
import type { Exchange } from '../../http/operation.ts';
import { RequestProblem } from '../../http/problem.ts';
import { isUtf8AsLabelled } from './charset.ts';
import type { Dialect } from './dialect.ts';
import { nameIgnored } from './ignored.ts';
import { formPairs, jsonPairs, malformed, multipartPairs, type Pair, repeated, toText } from './pairs.ts';

/** What was given: non-empty texts by name, of the names the operation knows. */
export type Parameters = ReadonlyMap<string, string>;

/** The one parameter that existing clients send with brackets. */
const listSpelling = 'recipient[]';
type ListDialect = Pick<Dialect, 'severalRecipients'>;

/**
 * Body and query of a POST, merged: the body wins, and the empty text counts as not given. What the operation does not
 * know is ignored, and named in the answer, so that a misspelt parameter is not lost in silence.
 */
export async function readParameters(
  exchange: Exchange,
  known: ReadonlySet<string>,
  dialect: ListDialect,
): Promise<Parameters> {
  const inQuery = exchange.rawQuery === '' ? [] : queryPairs(exchange);
  nameIgnored(exchange, namesBeside(known, inQuery));
  const inBody = await bodyPairs(exchange);
  nameIgnored(exchange, namesBeside(known, [...inQuery, ...inBody]));
  const merged = collect(inQuery, known, dialect);
  for (const [name, value] of collect(inBody, known, dialect)) merged.set(name, value);
  return merged;
}

/** For a GET, which takes no parameters: a query that cannot be read changes nothing of its answer. */
export function ignoreQuery(exchange: Exchange): void {
  if (exchange.rawQuery === '') return;
  try {
    nameIgnored(exchange, namesBeside(nothing, formPairs(exchange.rawQuery)));
  } catch (error) {
    if (!(error instanceof RequestProblem)) throw error;
  }
}

const nothing: ReadonlySet<string> = new Set();

/** Not that of a piece without a value, of which nothing is lost: it may be a piece of a secret that was not escaped. */
function namesBeside(known: ReadonlySet<string>, pairs: readonly Pair[]): string[] {
  return pairs.flatMap(([name, value]) => (value === undefined || known.has(baseName(name)) ? [] : [name]));
}

/**
 * The runtime writes U+FFFD for bytes of a request target that are not UTF-8, and a raw `#` ends the query early: what
 * stood there is lost before it gets here, so neither can be kept byte for byte.
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

async function bodyPairs(exchange: Exchange): Promise<readonly Pair[]> {
  const bytes = await exchange.body();
  if (bytes.length === 0) return [];
  const contentType = exchange.request.headers.get('content-type') ?? '';
  const mediaType = contentType.split(';', 1)[0]?.trim().toLowerCase();
  const text = toText(bytes);
  if (!isUtf8AsLabelled(contentType, text))
    throw malformed('The body must be UTF-8, and it says that it is not.');
  if (mediaType === 'application/json') return jsonPairs(text);
  if (mediaType === 'multipart/form-data') return multipartPairs(bytes, contentType);
  return formPairs(text);
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
    setOnce(values, 'recipient', recipients.length === 1 ? only : dialect.severalRecipients(recipients));
  }
  for (const [name, value] of values) if (value === '') values.delete(name);
  return values;
}

function setOnce(values: Map<string, string>, name: string, value: string): void {
  if (values.has(name)) throw repeated(name);
  values.set(name, value);
}

/** `recipient[]`, and a JSON list under the plain name. */
function isList(name: string, value: unknown): boolean {
  return name === listSpelling || (name === 'recipient' && Array.isArray(value));
}

function entriesOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value];
}

/** `a` of `a[]` and `a[x]`. */
function baseName(name: string): string {
  const bracket = name.indexOf('[');
  return bracket < 0 ? name : name.slice(0, bracket);
}

/** The text of a value; JSON brings other types. */
function textOf(name: string, value: unknown): string {
  if (typeof value === 'string') {
    if (!value.isWellFormed()) throw malformed(`The parameter "${name}" is not well-formed text.`);
    return value;
  }
  if (value === null || value === undefined) return '';
  if (numeric.has(name) && (typeof value === 'number' || typeof value === 'boolean')) return inDigits(value);
  throw malformed(`The parameter "${name}" must be a text.`);
}

/** Parameters that a JSON client naturally writes as a number. */
const numeric: ReadonlySet<string> = new Set(['ttl', 'length']);

/** A whole number in digits however large, as a form would bring it, and not as `1e+21`. */
function inDigits(value: number | boolean): string {
  return Number.isInteger(value) ? String(BigInt(value)) : String(value);
}
