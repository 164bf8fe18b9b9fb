/**
 * A posted form: `application/x-www-form-urlencoded` or, with files, `multipart/form-data`. Each text is returned as typed, or the form is
 * refused, for example because a field is repeated. Browsers send line breaks as CR LF (HTML §4.10.22.7); they are returned as LF.
 */
import { contentTypeOf } from '../../http/content-type.ts';
import { formBodyPairs } from '../../http/form.ts';
import { readMultipart } from '../../http/multipart.ts';
import { malformed, RequestProblem } from '../../http/problem.ts';
import { fromBase64Url } from '../../protocol/base64url.ts';

export interface Form {
  text(name: string): string;
  /** Returns `null` if no file was chosen. Ignores name and type, which the sender chooses. */
  file(name: string): Uint8Array | null;
}

const formType = /^application\/x-www-form-urlencoded\s*(?:;|$)/i;
const formOrUploadType = /^(?:application\/x-www-form-urlencoded\s*(?:;|$)|multipart\/form-data\s*;)/i;

function formOf(fields: Iterable<readonly [name: string, field: string | Uint8Array]>): Form {
  const given = new Map<string, string | Uint8Array>();
  for (const [name, field] of fields) {
    if (given.has(name)) throw malformed('A field was sent twice');
    given.set(name, field);
  }
  return {
    text(name) {
      const text = given.get(name);
      return typeof text === 'string' ? text.replaceAll('\r\n', '\n') : '';
    },
    file(name) {
      const bytes = given.get(name);
      // Browsers send an empty file if none was chosen (HTML §4.10.22.4).
      return bytes instanceof Uint8Array && bytes.length > 0 ? bytes : null;
    },
  };
}

/** @throws RequestProblem `malformed` or `unsupported_media_type`. */
export function parseForm(body: Uint8Array, headers: Headers): Form {
  if (body.length > 0 && !formType.test(contentTypeOf(headers, formType)))
    throw new RequestProblem({ problem: 'unsupported_media_type' });
  return formOf(formBodyPairs(body));
}

export async function parseUpload(body: Uint8Array, headers: Headers): Promise<Form> {
  const contentType = contentTypeOf(headers, formOrUploadType);
  if (!/^multipart/i.test(contentType)) return parseForm(body, headers);
  const fields = await readMultipart(Buffer.from(body), contentType, 'The form');
  const read = [...fields].map(
    async ([name, field]) => [name, typeof field === 'string' ? field : await field.bytes()] as const,
  );
  return formOf(await Promise.all(read));
}

/** Parses up to nine ASCII digits; returns `null` for anything else. */
export function wholeNumber(text: string): number | null {
  return /^[0-9]{1,9}$/.test(text) ? Number(text) : null;
}

/** @throws RequestProblem `malformed`, if the field is not base64url */
export function bytesIn(form: Form, name: string): Uint8Array {
  const bytes = fromBase64Url(form.text(name));
  if (bytes === null) throw malformed('The form was sealed wrongly');
  return bytes;
}
