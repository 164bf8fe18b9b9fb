/**
 * The carriages of v1, each turned into pairs of a name and a value.
 *
 * Owns: the three parsers. Invariant: strict where the platform's own parsers repair: a text with an invalid escape or
 * an invalid byte is refused, a byte order mark stays, nothing is trimmed.
 */
import { RequestProblem } from '../../http/problem.ts';
import { repeatsName } from '../json-names.ts';

/** The value is a text, save in JSON, and `undefined` where a form has no `=`. */
export type Pair = readonly [name: string, value: unknown];

/** `application/x-www-form-urlencoded`, and query strings. */
export function formPairs(text: string): readonly Pair[] {
  const pairs: Pair[] = [];
  for (const part of text.split('&')) {
    if (part === '') continue;
    const equals = part.indexOf('=');
    if (equals < 0) pairs.push([unescapeText(part), undefined]);
    else pairs.push([unescapeText(part.slice(0, equals)), unescapeText(part.slice(equals + 1))]);
  }
  return pairs;
}

function unescapeText(text: string): string {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    throw malformed('The percent-encoding is invalid, or what it encodes is not UTF-8.');
  }
}

/** The members of a JSON object. A name that stands twice in it, or in what it holds, is refused. */
export function jsonPairs(text: string): readonly Pair[] {
  const parsed = parseJson(text);
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw malformed('The body must be a JSON object.');
  }
  if (repeatsName(text)) throw malformed('The JSON body names a member more than once.');
  return Object.entries(parsed);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw malformed('The body is not valid JSON.');
  }
}

/**
 * `multipart/form-data`, by the platform's parser. That parser decodes text leniently and drops a byte order mark, so
 * it is given every byte as one character, and each part is decoded strictly afterwards. Files are refused.
 */
export async function multipartPairs(bytes: Uint8Array, contentType: string): Promise<readonly Pair[]> {
  const pairs: Pair[] = [];
  for (const [name, value] of await parseMultipart(bytes, contentType)) {
    if (typeof value !== 'string') throw malformed('A file was sent; parameters are plain texts.');
    pairs.push([decodePart(name), decodePart(value)]);
  }
  return pairs;
}

async function parseMultipart(bytes: Uint8Array, contentType: string): Promise<FormData> {
  const onePerByte = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  try {
    return await new Response(onePerByte, { headers: { 'content-type': contentType } }).formData();
  } catch {
    throw malformed('The multipart body is not well formed.');
  }
}

function decodePart(onePerByte: string): string {
  return toText(Buffer.from(onePerByte, 'latin1'));
}

// The byte order mark is kept: values are opaque and come back byte for byte.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Exactly the text that the bytes encode, or a refusal. */
export function toText(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw malformed('The request is not valid UTF-8.');
  }
}

export function malformed(message: string): RequestProblem {
  return new RequestProblem({ problem: 'malformed', message });
}

export function repeated(name: string): RequestProblem {
  return malformed(`The parameter "${name}" was given more than once.`);
}
