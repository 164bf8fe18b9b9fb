/**
 * The head of an answer, read strictly.
 *
 * Owns: the status line, the fields and the framing (RFC 9112 §4, §5, §6.3). Invariant: where a body ends is either known
 * for certain or the head is refused: two lengths, a length beside a coding, any coding but `chunked`, folded or damaged
 * lines, interim answers and bodies that end with their connection are nobody's answer, so that no byte of one answer can
 * be taken for the next.
 */

export type Framing =
  | { readonly kind: 'none' }
  | { readonly kind: 'length'; readonly bytes: number }
  | { readonly kind: 'chunked' };

export interface AnswerHead {
  readonly status: number;
  /** End-to-end fields in their order, names in lower case. */
  readonly fields: [name: string, value: string][];
  readonly framing: Framing;
  /** The server ends the connection after this answer. */
  readonly isLast: boolean;
}

const statusLine = /^HTTP\/1\.1 ([2-5]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/;
const fieldLine = /^([!#$%&'*+.^_`|~\dA-Za-z-]+):[\t ]*([\t\x20-\x7e\x80-\xff]*)$/;

/** What belongs to one connection and never goes further (RFC 9110 §7.6.1), besides what `Connection` names. */
const hopByHop = new Set([
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'te',
  'trailer',
  'upgrade',
]);

interface Reading {
  readonly fields: [name: string, value: string][];
  readonly lengths: string[];
  readonly codings: string[];
  readonly options: string[];
}

/** @param text everything before the empty line */
export function parseAnswerHead(text: string, method: string): AnswerHead | null {
  const lines = text.split('\r\n');
  const status = Number(statusLine.exec(lines[0] ?? '')?.[1]);
  if (Number.isNaN(status)) return null;
  const reading: Reading = { fields: [], lengths: [], codings: [], options: [] };
  for (let at = 1; at < lines.length; at += 1) if (!readField(lines[at] ?? '', reading)) return null;
  const framing = framingOf(reading, status, method);
  if (framing === null) return null;
  const { fields, options, lengths } = reading;
  const kept = options.length === 0 ? fields : fields.filter(([name]) => !options.includes(name));
  // The length of what is not sent is a fact about the resource (RFC 9110 §8.6); otherwise it is framing.
  if (framing.kind === 'none' && status !== 204 && lengths[0] !== undefined)
    kept.push(['content-length', lengths[0]]);
  return { status, fields: kept, framing, isLast: options.includes('close') };
}

function readField(line: string, { fields, lengths, codings, options }: Reading): boolean {
  const field = fieldLine.exec(line);
  if (field === null) return false;
  const [, spelled = '', padded = ''] = field;
  const name = spelled.toLowerCase();
  const value = padded.trimEnd();
  if (name === 'content-length') lengths.push(value);
  else if (name === 'transfer-encoding') codings.push(value.toLowerCase());
  else if (name === 'connection') options.push(...value.toLowerCase().split(/[\t ]*,[\t ]*/));
  else if (!hopByHop.has(name)) fields.push([name, value]);
  return true;
}

function framingOf({ lengths, codings }: Reading, status: number, method: string): Framing | null {
  if (lengths.length > 1 || codings.length > 1 || lengths.length + codings.length > 1) return null;
  const [length] = lengths;
  if (length !== undefined && !/^\d{1,15}$/.test(length)) return null;
  if (codings[0] !== undefined && codings[0] !== 'chunked') return null;
  if (method === 'HEAD' || status === 304) return { kind: 'none' };
  if (status === 204) return codings.length === 0 && Number(length ?? 0) === 0 ? { kind: 'none' } : null;
  if (codings.length > 0) return { kind: 'chunked' };
  return length === undefined ? null : { kind: 'length', bytes: Number(length) };
}
