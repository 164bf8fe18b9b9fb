/**
 * Requests for a secret; docs/requests.md describes the protocol. Needs only WebCrypto, with X25519 except to read a prompt. Rejects only
 * with `MayflyError`: `invalid_field` for a prompt that cannot be sent, `incomplete_link` for a damaged one, `unreadable` for what cannot be
 * opened, `unsupported` in a runtime without X25519.
 */
import { fromBase64Url, thirtyTwoBytesForm, toBase64Url } from '../src/protocol/base64url.ts';
import { isFragment } from '../src/protocol/link.ts';
import { flawOfNote, maxPromptCharacters, tidyNote } from '../src/protocol/note.ts';
import { random } from './drawing.ts';
import { invalid, MayflyError } from './error.ts';
import { deriveKeyPair, isUnsupported, type KeyPair, openWith, sealTo } from './hpke.ts';
import {
  type Bytes,
  crypt,
  decodeText,
  decrypt,
  fragmentIn,
  hash,
  hkdf,
  joined,
  pad,
  proveLink,
  unpad,
  utf8,
} from './sealing.ts';

const protocol = 'mayfly/request/1';
/** A key, or a proof, of 32 bytes. */
const derive = (from: Bytes, purpose: string) => hkdf(from, `${protocol}/${purpose}`, 32);

/** Takes the link for damaged, unless the runtime lacks X25519. */
function failed(error: unknown): never {
  if (!isUnsupported(error)) throw damagedLink();
  const message = 'This needs X25519, which this browser or runtime does not have. A newer version does.';
  throw new MayflyError('unsupported', message, { cause: error });
}

function damagedLink(): MayflyError {
  return new MayflyError('incomplete_link', 'The end of the link, after #, is damaged or incomplete.');
}

/** What the end of the answers link yields. */
export interface Asker {
  readonly keys: KeyPair;
  readonly publicKey: Bytes;
  /** In base64url. */
  readonly ownerProof: string;
}

/** @param end of the answers link */
export async function openAsker(end: string): Promise<Asker> {
  if (!isFragment(end)) throw damagedLink();
  const secret = fragmentIn(end);
  const { keys, publicKey } = await deriveKeyPair(await derive(secret, 'kem')).catch(failed);
  const ownerProof = toBase64Url(await derive(secret, 'owner'));
  return { keys, publicKey: new Uint8Array(publicKey), ownerProof };
}

/** @param end of the ask link */
export function publicKeyIn(end: string): Bytes {
  const bytes = thirtyTwoBytesForm.test(end) ? fromBase64Url(end) : null;
  if (bytes === null) throw damagedLink();
  return bytes;
}

/** Proves the whole ask link, in base64url. */
export async function askProofOf(publicKey: Bytes): Promise<string> {
  return toBase64Url(await derive(publicKey, 'ask'));
}

const hashOf = (proof: string) => hash(fromBase64Url(proof) ?? new Uint8Array());

/**
 * Draws the ends of both links. They are not parameters, so that no two prompts share a key: to try again, draw again.
 * @throws MayflyError `invalid_field`
 */
export async function drawRequest(text: string) {
  const prompt = tidyNote(text);
  if (prompt === '' || flawOfNote(prompt, maxPromptCharacters) !== null)
    throw invalid('prompt', `A prompt is one line of plain text, of 1 to ${maxPromptCharacters} characters.`);
  const answersEnd = toBase64Url(random(16));
  const { publicKey, ownerProof } = await openAsker(answersEnd);
  const terms = await crypt('encrypt', protocol, await derive(publicKey, 'terms'), pad(utf8.encode(prompt)));
  const [owner_hash, ask_hash] = [await hashOf(ownerProof), await hashOf(await askProofOf(publicKey))];
  const sent = { terms: toBase64Url(terms), owner_hash, ask_hash };
  return { sent, publicKey, askEnd: toBase64Url(publicKey), answersEnd };
}

/**
 * Returns the prompt: a stranger's words, in one line.
 * @throws MayflyError `unreadable` unless it was sealed by somebody who has the ask link
 */
export async function openTerms(terms: string, publicKey: Bytes): Promise<string> {
  try {
    const prompt = decodeText(unpad(await decrypt(protocol, await derive(publicKey, 'terms'), terms)));
    if (prompt !== '' && flawOfNote(prompt, maxPromptCharacters) === null) return prompt;
  } catch {}
  throw new MayflyError('unreadable', 'The server does not show the prompt that belongs to this link.');
}

function messageOf(requestKey: string, linkHash: Uint8Array) {
  return { aad: linkHash, info: utf8.encode(`${protocol}\0${requestKey}`) };
}

/** Wraps the end of a sealed answer's link for the asker. */
export async function wrap(
  { sealed, fragment }: { sealed: { link_hash: string }; fragment: string },
  requestKey: string,
  publicKey: Bytes,
): Promise<string> {
  const message = messageOf(requestKey, fromBase64Url(sealed.link_hash) ?? new Uint8Array());
  return toBase64Url(joined(...(await sealTo(publicKey, fragmentIn(fragment), message).catch(failed))));
}

/** Returns the end of the answer's link; `null` if it was not wrapped for this request, this asker and this answer. */
export async function unwrap(
  { wrapped, link_hash }: { wrapped: string; link_hash: string },
  requestKey: string,
  { keys }: Asker,
): Promise<string | null> {
  const [bytes, linkHash] = [fromBase64Url(wrapped), fromBase64Url(link_hash)];
  if (bytes === null || linkHash === null) return null;
  try {
    const fragment = toBase64Url(await openWith(keys, bytes, messageOf(requestKey, linkHash)));
    return (await hashOf(await proveLink(fragment))) === link_hash ? fragment : null;
  } catch {
    return null;
  }
}
