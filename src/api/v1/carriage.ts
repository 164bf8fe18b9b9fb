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
import { isUtf8AsLabelled } from './charset.ts';
import { formPairs, jsonPairs, malformed, multipartPairs, type Pair, toText } from './pairs.ts';

/** What was given: non-empty texts by name, of the names the operation knows. */
export type Parameters = ReadonlyMap<string, string>;

/** The one parameter that existing clients send with brackets, always with a single entry. */
const listSpelling = 'recipient[]';

/** Body and query of a POST, merged: the body wins, the empty text counts as not given, unknown names are ignored. */
export async function readParameters(exchange: Exchange, known: ReadonlySet<string>): Promise<Parameters> {
  const given = collect(await bodyPairs(exchange), known);
  if (exchange.rawQuery === '') return given;
  const merged = collect(queryPairs(exchange), known);
  for (const [name, value] of given) merged.set(name, value);
  return merged;
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

function collect(pairs: readonly Pair[], known: ReadonlySet<string>): Map<string, string> {
  const values = new Map<string, string>();
  for (const [name, value] of pairs) {
    const base = baseName(name);
    if (!known.has(base)) continue;
    if (name !== base && name !== listSpelling)
      throw malformed(`The parameter "${base}" takes one plain value.`);
    if (values.has(base)) throw malformed(`The parameter "${base}" was given more than once.`);
    values.set(base, textOf(base, value));
  }
  for (const [name, value] of values) if (value === '') values.delete(name);
  return values;
}

/** `a` of `a[]` and `a[x]`. */
function baseName(name: string): string {
  const bracket = name.indexOf('[');
  return bracket < 0 ? name : name.slice(0, bracket);
}

/** The text of a value; JSON brings other types. */
function textOf(name: string, value: unknown): string {
  const single = name === 'recipient' ? onlyEntry(value) : value;
  if (typeof single === 'string') {
    if (!single.isWellFormed()) throw malformed(`The parameter "${name}" is not well-formed text.`);
    return single;
  }
  if (single === null || single === undefined) return '';
  if (numeric.has(name) && (typeof single === 'number' || typeof single === 'boolean')) return String(single);
  throw malformed(`The parameter "${name}" must be a text.`);
}

/** The JSON spelling of `recipient[]`: a list of one or none. */
function onlyEntry(value: unknown): unknown {
  return Array.isArray(value) && value.length <= 1 ? value[0] : value;
}

/** Parameters that a JSON client naturally writes as a number. */
const numeric: ReadonlySet<string> = new Set(['ttl', 'length']);
