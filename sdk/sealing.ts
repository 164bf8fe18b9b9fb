/**
 * End-to-end secrets; docs/end-to-end.md describes the protocol. Needs only WebCrypto, so browsers, Node 20, Bun and Deno run the same
 * code. Rejects only with `MayflyError`: `invalid_field` for what cannot be sealed, `invalid_key` for a damaged fragment, `unreadable` for
 * what cannot be opened.
 */
import { fromBase64Url, toBase64Url } from '../src/protocol/base64url.ts';
import { maxPassphraseBytes } from '../src/protocol/limits.ts';
import { isFragment } from '../src/protocol/link.ts';
import { flawOfNote, maxNoteCharacters, sealedNoteBytes, tidyNote } from '../src/protocol/note.ts';
import { paddedLength } from '../src/protocol/padding.ts';
import { random } from './drawing.ts';
import { invalid, MayflyError } from './error.ts';
import { safeFileName } from './file-name.ts';

export type Content =
  | { kind: 'text'; text: string }
  /** `name` and `type` are hints: see `open`. */
  | { kind: 'file'; name: string; type: string; bytes: Uint8Array };

/** argon2id: m 19,456 KiB, t 2, p 1, 32 bytes. */
export type Stretch = (passphrase: Uint8Array, salt: Uint8Array) => Promise<Uint8Array>;

/** The form on the wire (`secret.sealed`). */
export interface SealedSecret {
  v: 1;
  ciphertext: string;
  link_hash: string;
  proof_hash: string;
  passphrase: boolean;
  note?: string | undefined;
}

export interface SealInput {
  content: Content;
  /** 1–1,024 bytes of UTF-8, not normalised. */
  passphrase: string | null;
  /** For the recipient, before opening; tidied (`protocol/note.ts`). Absent or empty: none. */
  note?: string;
  stretch: Stretch;
}

/** A reader sends the proofs, in base64url; the key never leaves the client. */
export interface Proofs {
  linkProof: string;
  proof: string;
  key: Uint8Array;
}

export type Bytes = Uint8Array<ArrayBuffer>;

const protocol = 'mayfly/e2e/1';
const fragmentBytes = 16;
const keyBytes = 32;
const tagBytes = 16;
const maxTypeBytes = 255;
const textKind = 0;
const fileKind = 1;

export const utf8 = new TextEncoder();
/** A byte order mark counts as part of the text. */
const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const halfPair = /\p{Cs}/u;
const mediaType = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(; ?[\w!#$&^.+-]+=("[ \w!#$&^.+-]*"|[\w!#$&^.+-]+))*$/;

function unreadable(): MayflyError {
  return new MayflyError('unreadable', 'The secret is damaged, or a later version sealed it.');
}

export function joined(...parts: readonly Uint8Array[]): Bytes {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** HKDF-SHA256 (RFC 5869) with an empty salt. */
export async function hkdf(input: Bytes, info: string, length: number): Promise<Bytes> {
  const key = await crypto.subtle.importKey('raw', input, 'HKDF', false, ['deriveBits']);
  const algorithm = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(0), info: utf8.encode(info) };
  return new Uint8Array(await crypto.subtle.deriveBits(algorithm, key, length * 8));
}

function derive(input: Bytes, purpose: string, length: number): Promise<Bytes> {
  return hkdf(input, `${protocol}/${purpose}`, length);
}

export async function hash(bytes: Bytes): Promise<string> {
  return toBase64Url(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)));
}

/** @throws MayflyError `invalid_field` */
function passphraseBytes(passphrase: string): Bytes {
  const bytes = utf8.encode(passphrase);
  const isLong = bytes.length > maxPassphraseBytes;
  if (bytes.length === 0 || isLong || halfPair.test(passphrase))
    throw invalid('passphrase', 'A passphrase has 1 to 1,024 bytes of well-formed UTF-8.');
  return bytes;
}

interface Derived {
  linkProof: Bytes;
  proof: Bytes;
  key: Bytes;
}

async function deriveAll(fragment: Bytes, passphrase: string | null, stretch: Stretch): Promise<Derived> {
  const secret =
    passphrase === null
      ? fragment
      : joined(fragment, await stretch(passphraseBytes(passphrase), await derive(fragment, 'salt', 16)));
  const [linkProof, proof, key] = await Promise.all([
    derive(fragment, 'link', keyBytes),
    derive(secret, 'proof', keyBytes),
    derive(secret, 'key', keyBytes),
  ]);
  return { linkProof, proof, key };
}

/** Each fragment yields different keys, each of which seals only once, so the nonce may be fixed. */
export async function crypt(
  usage: 'encrypt' | 'decrypt',
  label: string,
  key: Bytes,
  bytes: Bytes,
): Promise<Bytes> {
  const iv = new Uint8Array(12);
  const cipher = { name: 'AES-GCM', iv, additionalData: utf8.encode(label), tagLength: 8 * tagBytes };
  const imported = await crypto.subtle.importKey('raw', key, 'AES-GCM', false, [usage]);
  return new Uint8Array(await crypto.subtle[usage](cipher, imported, bytes));
}

/** @throws MayflyError `unreadable` */
export async function decrypt(label: string, key: Bytes, sealed: string): Promise<Bytes> {
  const bytes = fromBase64Url(sealed);
  if (bytes === null) throw unreadable();
  return crypt('decrypt', label, key, bytes).catch(() => {
    throw unreadable();
  });
}

export function pad(content: Bytes): Bytes {
  const padded = new Uint8Array(paddedLength(4 + content.length));
  new DataView(padded.buffer).setUint32(0, content.length);
  padded.set(content, 4);
  return padded;
}

/** @throws MayflyError `unreadable` */
export function unpad(padded: Bytes): Bytes {
  if (padded.length < 4) throw unreadable();
  const end = 4 + new DataView(padded.buffer).getUint32(0);
  if (paddedLength(end) !== padded.length) throw unreadable();
  if (padded.subarray(end).some((byte) => byte !== 0)) throw unreadable();
  return padded.subarray(4, end);
}

/** Makes the hints safe to show. Readers clean them again. */
function hintsOf({ name, type }: { name: string; type: string }): { name: string; type: string } {
  const isType = type.length <= maxTypeBytes && mediaType.test(type);
  return { name: safeFileName(name), type: isType ? type : '' };
}

/** @throws MayflyError `invalid_field` */
function encode(content: Content): Bytes {
  if (content.kind === 'text') {
    if (halfPair.test(content.text)) throw invalid('value', 'The text is not well-formed Unicode.');
    return joined(Uint8Array.of(textKind), utf8.encode(content.text));
  }
  const hints = hintsOf(content);
  const [name, type] = [utf8.encode(hints.name), utf8.encode(hints.type)];
  const lengths = [name.length >> 8, name.length & 0xff];
  return joined(Uint8Array.of(fileKind, ...lengths), name, Uint8Array.of(type.length), type, content.bytes);
}

/** @throws MayflyError `unreadable` */
export function decodeText(bytes: Uint8Array): string {
  try {
    return strictUtf8.decode(bytes);
  } catch {
    throw unreadable();
  }
}

/** @throws MayflyError `unreadable` */
function decodeFile(bytes: Bytes): Content {
  const typeAt = 2 + (((bytes[0] ?? 0) << 8) | (bytes[1] ?? 0));
  const bytesAt = typeAt + 1 + (bytes[typeAt] ?? 0);
  // Also true if a length field itself is missing.
  if (bytesAt > bytes.length) throw unreadable();
  const name = decodeText(bytes.subarray(2, typeAt));
  const type = decodeText(bytes.subarray(typeAt + 1, bytesAt));
  return { kind: 'file', ...hintsOf({ name, type }), bytes: bytes.slice(bytesAt) };
}

/** @throws MayflyError `unreadable` */
function decode(content: Bytes): Content {
  const [kind] = content;
  const rest = content.subarray(1);
  if (kind === textKind) return { kind: 'text', text: decodeText(rest) };
  if (kind === fileKind) return decodeFile(rest);
  throw unreadable();
}

const noteLabel = `${protocol}/note`;
const noteBytes = sealedNoteBytes - tagBytes;

/** @throws MayflyError `invalid_field` */
function encodeNote(text: string): Bytes | null {
  const note = tidyNote(text);
  const padded = new Uint8Array(noteBytes);
  utf8.encodeInto(note, padded);
  if (flawOfNote(note) === null) return note === '' ? null : padded;
  throw invalid('note', `A note is one line of plain text, of at most ${maxNoteCharacters} characters.`);
}

/**
 * Draws the fragment, without which nothing opens the content. It is not a parameter, so that no two contents share a key. To retry, send
 * the same result again.
 */
export async function seal({ content, passphrase, note: text = '', stretch }: SealInput): Promise<{
  sealed: SealedSecret;
  fragment: string;
}> {
  const padded = pad(encode(content));
  const note = encodeNote(text);
  const fragment = random(fragmentBytes);
  const { linkProof, proof, key } = await deriveAll(fragment, passphrase, stretch);
  const sealed: SealedSecret = {
    v: 1,
    ciphertext: toBase64Url(await crypt('encrypt', protocol, key, padded)),
    link_hash: await hash(linkProof),
    proof_hash: await hash(proof),
    passphrase: passphrase !== null,
  };
  if (note !== null)
    sealed.note = toBase64Url(
      await crypt('encrypt', noteLabel, await derive(fragment, 'note', keyBytes), note),
    );
  return { sealed, fragment: toBase64Url(fragment) };
}

/** @throws MayflyError `invalid_key` */
export function fragmentIn(text: string): Bytes {
  const bytes = isFragment(text) ? fromBase64Url(text) : null;
  if (bytes === null) throw new MayflyError('invalid_key', 'The end of the link is missing or damaged.');
  return bytes;
}

/** Returns the proof of the whole link, in base64url, which is enough for the note. @throws MayflyError `invalid_key` */
export async function proveLink(fragment: string): Promise<string> {
  return toBase64Url(await derive(fragmentIn(fragment), 'link', keyBytes));
}

/** Returns the sender's words, which are not to be trusted. @throws MayflyError `unreadable` unless everything is exactly right */
export async function openNote(sealed: string, fragment: string): Promise<string> {
  const padded = await decrypt(noteLabel, await derive(fragmentIn(fragment), 'note', keyBytes), sealed);
  const note = decodeText(padded.subarray(0, padded.findLastIndex((byte) => byte !== 0) + 1));
  if (padded.length !== noteBytes || note === '' || flawOfNote(note) !== null) throw unreadable();
  return note;
}

/** @throws MayflyError `invalid_key` for a damaged fragment, `invalid_field` for an invalid passphrase */
export async function prove(fragment: string, passphrase: string | null, stretch: Stretch): Promise<Proofs> {
  const { linkProof, proof, key } = await deriveAll(fragmentIn(fragment), passphrase, stretch);
  return { linkProof: toBase64Url(linkProof), proof: toBase64Url(proof), key };
}

/**
 * Opens the content. Trust neither a file's name nor its type: a stranger chose them. The name is one path segment without control and
 * direction characters; the type is `''` unless it is a media type.
 *
 * @throws MayflyError `unreadable` unless everything is exactly right
 */
export async function open(ciphertext: string, key: Uint8Array): Promise<Content> {
  if (key.length !== keyBytes) throw unreadable();
  return decode(unpad(await decrypt(protocol, new Uint8Array(key), ciphertext)));
}

/** Counts bytes as the plan's `max_sealed_bytes` does: a text, or a file with its name and type. */
export function sealedBytesOf(content: Content): number {
  if (content.kind === 'text') return utf8.encode(content.text).length;
  const { name, type } = hintsOf(content);
  return utf8.encode(name).length + utf8.encode(type).length + content.bytes.length;
}
