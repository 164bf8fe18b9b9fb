/**
 * Parses `application/x-www-form-urlencoded` strictly (WHATWG URL §5.1), in bodies and query strings: ill-formed UTF-8 and broken escapes
 * are refused as malformed, never repaired.
 */
import { malformed, type RequestProblem } from './problem.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

const sign = { plus: 0x2b, percent: 0x25, blank: 0x20 } as const;
const escapes = /[%+]/;

/** More fields than any form here has, empty ones included: each costs as much as a hundred bytes of text (P21). */
export const mostFields = 100;

export type FormPair = readonly [name: string, value: string | undefined];

/** Returns the pairs in order, skipping only empty fields. @throws RequestProblem `malformed` */
export function formPairs(text: string): readonly FormPair[] {
  const pairs: FormPair[] = [];
  let fields = 0;
  for (let start = 0; start < text.length; ) {
    fields += 1;
    if (fields > mostFields) throw malformed(`There are more than ${mostFields} fields.`);
    const found = text.indexOf('&', start);
    const end = found === -1 ? text.length : found;
    if (end > start) pairs.push(pairOf(text.slice(start, end)));
    start = end + 1;
  }
  return pairs;
}

/**
 * Refuses a part without `=`: it is usually the rest of a value whose `&` was not escaped, so it can be neither dropped nor quoted.
 * @throws RequestProblem `malformed`
 */
export function formBodyPairs(body: Uint8Array): readonly (readonly [name: string, value: string])[] {
  return formPairs(inUtf8(body)).map(([name, value]) => {
    if (value !== undefined) return [name, value];
    throw malformed(
      'A part of the body has no "=": write an & inside a value as %26 (curl: --data-urlencode).',
    );
  });
}

function pairOf(field: string): FormPair {
  const equals = field.indexOf('=');
  if (equals === -1) return [decode(field), undefined];
  return [decode(field.slice(0, equals)), decode(field.slice(equals + 1))];
}

/** Works byte by byte, because a regular expression takes a hundred times as long on a megabyte of escapes (P21). */
function decode(text: string): string {
  if (!escapes.test(text)) return text;
  const encoded = encoder.encode(text);
  const bytes = new Uint8Array(encoded.length);
  let length = 0;
  for (let at = 0; at < encoded.length; at += 1) {
    let byte = encoded[at] ?? 0;
    if (byte === sign.plus) byte = sign.blank;
    else if (byte === sign.percent) {
      byte = 16 * hexDigit(encoded[at + 1] ?? 0) + hexDigit(encoded[at + 2] ?? 0);
      at += 2;
    }
    bytes[length] = byte;
    length += 1;
  }
  return inUtf8(bytes.subarray(0, length));
}

function inUtf8(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw brokenEscape();
  }
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  if (letter >= 0x61 && letter <= 0x66) return letter - 0x57;
  throw brokenEscape();
}

function brokenEscape(): RequestProblem {
  return malformed('The percent-encoding is invalid, or what it encodes is not UTF-8.');
}
