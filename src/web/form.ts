/**
 * A form as a browser posts it.
 *
 * Owns: the strict reading of `application/x-www-form-urlencoded` (WHATWG URL §5.1), and of `multipart/form-data` (RFC
 * 7578, taken apart by the runtime) where a form brings a file. Invariant: what was typed comes out
 * as it was typed or the form is refused: ill-formed UTF-8, a broken escape and a field given twice are malformed, never
 * repaired. A browser sends every line break of a text field as CR LF (HTML §4.10.22.7); what was typed had LF, so that
 * is what comes out.
 */
import { RequestProblem } from '../http/problem.ts';

export interface Form {
  /** The field's text; `''` when it was not sent. */
  text(name: string): string;
  /** The file's content; `null` when none was chosen. Its name and type are the sender's word and not read. */
  file(name: string): Uint8Array | null;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** @throws RequestProblem `malformed` or `unsupported_media_type`. */
export function parseForm(body: Uint8Array, contentType: string | null): Form {
  if (body.length > 0 && !/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(contentType ?? '')) {
    throw new RequestProblem({ problem: 'unsupported_media_type' });
  }
  const fields = new Map<string, string>();
  for (const pair of Buffer.from(body).toString('latin1').split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decode(equals === -1 ? pair : pair.slice(0, equals));
    if (fields.has(name)) throw malformed('A field was sent twice');
    fields.set(name, equals === -1 ? '' : decode(pair.slice(equals + 1)));
  }
  return { text: (name) => (fields.get(name) ?? '').replaceAll('\r\n', '\n'), file: () => null };
}

/** As `parseForm`, and a form that brings a file as well. */
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
      // A browser sends an empty file where none was chosen (HTML §4.10.22.4).
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

/** @param encoded one byte a character. */
function decode(encoded: string): string {
  if (/%(?![0-9a-f]{2})/i.test(encoded)) throw malformed('The form holds an invalid percent-encoding');
  const bytes = encoded.replaceAll('+', ' ').replace(/%([0-9a-f]{2})/gi, (_escape, digits: string) => {
    return String.fromCharCode(Number.parseInt(digits, 16));
  });
  try {
    return utf8.decode(Buffer.from(bytes, 'latin1'));
  } catch {
    throw malformed('The form holds text that is not UTF-8');
  }
}

function malformed(message: string): RequestProblem {
  return new RequestProblem({ problem: 'malformed', message });
}
