/**
 * Requests for a secret; docs/requests.md describes the protocol. Needs only WebCrypto, with X25519 except to read a prompt. Rejects only
 * with `MayflyError`: `invalid_field` for a prompt that cannot be sent, `invalid_key` for a damaged link, `unreadable` for what cannot be
 * opened, `unsupported` in a runtime without X25519.
 */
import { fromBase64Url, thirtyTwoBytesForm, toBase64Url } from '../src/protocol/base64url.ts';
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
const keyBytes = 32;

/** Says why HPKE failed: the runtime lacks X25519, or `otherwise`. */
function failed(error: unknown, otherwise: MayflyError): never {
  if (!isUnsupported(error)) throw otherwise;
  const message = 'This needs X25519, which this browser or runtime does not have. A newer version does.';
  throw new MayflyError('unsupported', message, { cause: error });
}

function damagedLink(): MayflyError {
  return new MayflyError('invalid_key', 'The end of the link is missing or damaged.');
}

/** What the asker's client derives from the end of the answers link. */
export interface Asker {
  readonly keys: KeyPair;
  readonly publicKey: Bytes;
  /** In base64url. */
  readonly ownerProof: string;
}

async function askerOf(secret: Bytes): Promise<Asker> {
  const seed = await hkdf(secret, `${protocol}/kem`, keyBytes);
  const { keys, publicKey } = await deriveKeyPair(seed).catch((error) => failed(error, damagedLink()));
  const ownerProof = toBase64Url(await hkdf(secret, `${protocol}/owner`, keyBytes));
  return { keys, publicKey: new Uint8Array(publicKey), ownerProof };
}

/** @param fragment of the answers link */
export async function openAsker(fragment: string): Promise<Asker> {
  return askerOf(fragmentIn(fragment));
}

/** @param fragment of the ask link */
export function publicKeyIn(fragment: string): Bytes {
  const bytes = thirtyTwoBytesForm.test(fragment) ? fromBase64Url(fragment) : null;
  if (bytes === null) throw damagedLink();
  return bytes;
}

/** Proves the whole ask link, in base64url. */
export async function askProofOf(publicKey: Bytes): Promise<string> {
  return toBase64Url(await hkdf(publicKey, `${protocol}/ask`, keyBytes));
}

const termsKeyOf = (publicKey: Bytes) => hkdf(publicKey, `${protocol}/terms`, keyBytes);

/** The form on the wire. */
export interface DrawnRequest {
  readonly terms: string;
  readonly owner_hash: string;
  readonly ask_hash: string;
}

/**
 * Draws what both links end with. It is not a parameter, so that no two prompts share a key: to try again, call this again.
 * @throws MayflyError `invalid_field`
 */
export async function drawRequest(text: string): Promise<{
  sent: DrawnRequest;
  askFragment: string;
  answersFragment: string;
}> {
  const prompt = tidyNote(text);
  if (prompt === '' || flawOfNote(prompt, maxPromptCharacters) !== null)
    throw invalid('prompt', `A prompt is one line of plain text, of 1 to ${maxPromptCharacters} characters.`);
  const secret = random(16);
  const { publicKey, ownerProof } = await askerOf(secret);
  const terms = await crypt('encrypt', protocol, await termsKeyOf(publicKey), pad(utf8.encode(prompt)));
  const hashOf = (proof: string) => hash(fromBase64Url(proof) ?? new Uint8Array());
  return {
    sent: {
      terms: toBase64Url(terms),
      owner_hash: await hashOf(ownerProof),
      ask_hash: await hashOf(await askProofOf(publicKey)),
    },
    askFragment: toBase64Url(publicKey),
    answersFragment: toBase64Url(secret),
  };
}

/**
 * Returns the prompt: a stranger's words, in one line.
 * @throws MayflyError `unreadable` unless whoever made the ask link wrote it
 */
export async function openTerms(terms: string, publicKey: Bytes): Promise<string> {
  try {
    const prompt = decodeText(unpad(await decrypt(protocol, await termsKeyOf(publicKey), terms)));
    if (prompt !== '' && flawOfNote(prompt, maxPromptCharacters) === null) return prompt;
  } catch {}
  throw new MayflyError('unreadable', 'The request is damaged, or the server changed it.');
}

function messageOf(requestKey: string, linkHash: Uint8Array) {
  return { aad: linkHash, info: utf8.encode(`${protocol}\0${requestKey}`) };
}

/**
 * Wraps the end of an answer's link so that only the asker can read it.
 * @param sealed the answer, as `seal` returns it
 */
export async function wrap(
  { sealed, fragment }: { sealed: { link_hash: string }; fragment: string },
  requestKey: string,
  publicKey: Bytes,
): Promise<string> {
  const linkHash = fromBase64Url(sealed.link_hash) ?? new Uint8Array();
  const wrapping = sealTo(publicKey, fragmentIn(fragment), messageOf(requestKey, linkHash));
  return toBase64Url(joined(...(await wrapping.catch((error) => failed(error, damagedLink())))));
}

/** Returns the end of the answer's link; `null` if it was not wrapped for this request, this asker and this answer. */
export async function unwrap(
  { wrapped, link_hash }: { wrapped: string; link_hash: string },
  requestKey: string,
  { keys }: Asker,
): Promise<string | null> {
  try {
    const [bytes, linkHash] = [fromBase64Url(wrapped), fromBase64Url(link_hash)];
    if (bytes === null || linkHash === null) return null;
    const fragment = toBase64Url(await openWith(keys, bytes, messageOf(requestKey, linkHash)));
    const proof = fromBase64Url(await proveLink(fragment));
    return proof !== null && (await hash(proof)) === link_hash ? fragment : null;
  } catch {
    return null;
  }
}
