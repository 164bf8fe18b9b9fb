/**
 * A DKIM verifier written from the standard, independently of the signing code.
 *
 * It uses nothing of the signing library, so that the library's faults are found.
 */
import { createHash, createVerify, type KeyObject } from 'node:crypto';

export interface DkimVerdict {
  /** `null`: the message carries no signature, or more than one. */
  readonly tags: ReadonlyMap<string, string> | null;
  readonly bodyIsSigned: boolean;
  readonly headersAreSigned: boolean;
}

interface HeaderField {
  readonly name: string;
  /** As it appears in the message, folded, without the colon. */
  readonly value: string;
}

function splitMessage(raw: string): { fields: HeaderField[]; body: string } {
  const end = raw.indexOf('\r\n\r\n');
  const lines = raw.slice(0, end).split(/\r\n(?![ \t])/);
  const fields = lines.map((line) => {
    const colon = line.indexOf(':');
    return { name: line.slice(0, colon).toLowerCase().trim(), value: line.slice(colon + 1) };
  });
  return { fields, body: raw.slice(end + 4) };
}

function relaxField({ name, value }: HeaderField): string {
  const unfolded = value.replace(/\r\n/g, '').replace(/[ \t]+/g, ' ');
  return `${name}:${unfolded.trim()}`;
}

function relaxBody(body: string): string {
  const lines = body.split('\r\n').map((line) => line.replace(/[ \t]+/g, ' ').replace(/ $/, ''));
  const relaxed = lines.join('\r\n').replace(/(\r\n)+$/, '');
  return relaxed === '' ? '' : `${relaxed}\r\n`;
}

function readTags(value: string): Map<string, string> {
  const pairs = value.split(';').map((part) => /^\s*([a-z]+)\s*=([\s\S]*)$/i.exec(part));
  return new Map(pairs.flatMap((pair) => (pair === null ? [] : [[pair[1] ?? '', pair[2]?.trim() ?? '']])));
}

/** For each name, the last such field that is not taken yet, from the bottom up (§5.4.2). */
function pickSigned(fields: readonly HeaderField[], names: readonly string[]): HeaderField[] {
  const left = [...fields];
  return names.flatMap((name) => {
    const index = left.findLastIndex((field) => field.name === name);
    return index === -1 ? [] : left.splice(index, 1);
  });
}

/** @param raw as it came over the wire, one character per byte */
export function verifyDkim(raw: string, publicKey: KeyObject): DkimVerdict {
  const { fields, body } = splitMessage(raw);
  const signatures = fields.filter(({ name }) => name === 'dkim-signature');
  const [signature] = signatures;
  if (signature === undefined || signatures.length > 1)
    return { tags: null, bodyIsSigned: false, headersAreSigned: false };
  const tags = readTags(signature.value);
  const bodyHash = createHash('sha256').update(relaxBody(body), 'latin1').digest('base64');
  const names = (tags.get('h') ?? '').split(':').map((name) => name.trim().toLowerCase());
  const unsigned = { ...signature, value: signature.value.replace(/(;\s*b=)[\s\S]*$/, '$1') };
  const signed = [...pickSigned(fields, names).map(relaxField), relaxField(unsigned)].join('\r\n');
  const bytes = Buffer.from((tags.get('b') ?? '').replace(/\s+/g, ''), 'base64');
  return {
    tags,
    bodyIsSigned: bodyHash === (tags.get('bh') ?? '').replace(/\s+/g, ''),
    headersAreSigned: createVerify('sha256').update(signed, 'latin1').verify(publicKey, bytes),
  };
}
