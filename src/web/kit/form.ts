/**
 * Strict reading of a posted form: `application/x-www-form-urlencoded` (WHATWG URL §5.1) and, with files,
 * `multipart/form-data` (RFC 7578, taken apart by the runtime). What was typed comes out as typed or the form is
 * refused: ill-formed UTF-8, a broken escape and a repeated field are malformed, never repaired. Browsers send line
 * breaks as CR LF (HTML §4.10.22.7); they come out as LF, as they were typed.
 */
import { RequestProblem } from '../../http/problem.ts';

export interface Form {
  /** `''` if it was not sent. */
  text(name: string): string;
  /** `null` if no file was chosen. Its name and type are not read, because the sender chooses them. */
  file(name: string): Uint8Array | null;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const sign = { ampersand: 0x26, equals: 0x3d, plus: 0x2b, percent: 0x25, blank: 0x20 } as const;

/** More than any page has: without a limit, a megabyte of empty fields takes seconds (P21). */
const maxFields = 1_000;

/** @throws RequestProblem `malformed` or `unsupported_media_type`. */
export function parseForm(body: Uint8Array, contentType: string | null): Form {
  if (body.length > 0 && !/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(contentType ?? '')) {
    throw new RequestProblem({ problem: 'unsupported_media_type' });
  }
  const fields = new Map<string, string>();
  for (const pair of pairsIn(body)) {
    const equals = pair.indexOf(sign.equals);
    const name = decode(equals === -1 ? pair : pair.subarray(0, equals));
    if (fields.has(name)) throw malformed('A field was sent twice');
    if (fields.size === maxFields) throw malformed(`The form has more than ${maxFields} fields`);
    fields.set(name, equals === -1 ? '' : decode(pair.subarray(equals + 1)));
  }
  return { text: (name) => (fields.get(name) ?? '').replaceAll('\r\n', '\n'), file: () => null };
}

/** As `parseForm`, and also forms with a file. */
export async function parseUpload(body: Uint8Array, contentType: string | null): Promise<Form> {
  if (contentType === null || !/^multipart\/form-data\s*;/i.test(contentType))
    return parseForm(body, contentType);
  const fields = await readParts(body, contentType);
  const files = new Map<string, Uint8Array>();
  const texts = new Map<string, string>();
  for (const name of new Set(fields.keys())) {
    const [field, ...more] = fields.getAll(name);
    if (more.length > 0) throw malformed('A field was sent twice');
    if (field instanceof Blob) files.set(name, await field.bytes());
    else texts.set(name, field ?? '');
  }
  return {
    text: (name) => (texts.get(name) ?? '').replaceAll('\r\n', '\n'),
    file: (name) => {
      const bytes = files.get(name);
      // Browsers send an empty file if none was chosen (HTML §4.10.22.4).
      return bytes === undefined || bytes.length === 0 ? null : bytes;
    },
  };
}

async function readParts(body: Uint8Array, contentType: string): Promise<FormData> {
  try {
    return await new Response(new Uint8Array(body), { headers: { 'content-type': contentType } }).formData();
  } catch {
    throw malformed('The form does not hold the parts it announces');
  }
}

function* pairsIn(body: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < body.length; ) {
    const found = body.indexOf(sign.ampersand, start);
    const end = found === -1 ? body.length : found;
    if (end > start) yield body.subarray(start, end);
    start = end + 1;
  }
}

/** Byte by byte: replacing by pattern takes a hundred times as long for a megabyte of escapes (P21). */
function decode(encoded: Uint8Array): string {
  const bytes = new Uint8Array(encoded.length);
  let length = 0;
  for (let at = 0; at < encoded.length; at += 1) {
    let byte = encoded[at] ?? 0;
    if (byte === sign.plus) byte = sign.blank;
    else if (byte === sign.percent) {
      byte = 16 * hexDigit(encoded[at + 1]) + hexDigit(encoded[at + 2]);
      at += 2;
    }
    bytes[length] = byte;
    length += 1;
  }
  try {
    return utf8.decode(bytes.subarray(0, length));
  } catch {
    throw malformed('The form holds text that is not UTF-8');
  }
}

function hexDigit(byte: number | undefined): number {
  if (byte === undefined) throw malformed('The form holds an invalid percent-encoding');
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  if (letter >= 0x61 && letter <= 0x66) return letter - 0x57;
  throw malformed('The form holds an invalid percent-encoding');
}

/** In ASCII digits, few enough for exact arithmetic; `null` for anything else. */
export function wholeNumber(text: string): number | null {
  return /^[0-9]{1,9}$/.test(text) ? Number(text) : null;
}

function malformed(message: string): RequestProblem {
  return new RequestProblem({ problem: 'malformed', message });
}
