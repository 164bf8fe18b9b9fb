/**
 * The envelope: how a secret is stored, version 2. The inner layer needs the link (and the passphrase), the outer one the
 * server's root, so neither the database with every server key nor the link alone opens anything (P9), and the outer layer
 * can be replaced without the link: for another root (P12) or another expiry.
 *
 *   record  = lp("mayfly/2/secret") lp(secret id) u64 created u64 limit u8 flags lp(owner) lp(share domain)
 *   pad     = u32 length ‖ value ‖ zeros to a multiple of 256; of an end-to-end secret, which its client has padded, no zeros
 *   body    = commitment(32) ‖ AES-256-GCM(k, 0, pad, record)         k‖commitment from link, passphrase and R
 *   ver     = "" | AES-256-GCM(kv, nv, bcrypt hash, record)           kv‖nv from link and R
 *             | AES-256-GCM(kp, np, link hash(32) ‖ proof hash(32), record)    kp‖np from link and R, end-to-end
 *   creator = secret key(31) XOR mask                                 mask from metadata key and R
 *   address = "" | the recipient's address, sealed under metadata key and secret key
 *   row     = u8 2 ‖ u16 kid ‖ u64 limit ‖ R2(32)
 *             ‖ AES-256-GCM(ko, no, R(32) ‖ creator ‖ lp(address) ‖ lp(ver) ‖ body, record ‖ u16 kid ‖ u64 expires)
 *                                                                     ko‖no from root and R2
 *
 * The inner layer is bound to the limit, the latest expiry that the secret can be given; the outer layer to the expiry that
 * it has. The outer layer authenticates every stored byte, and the commitment proves link and passphrase, so anything that
 * can be wrong is found before a secret is claimed and without computing any plaintext (P3). What the creator can read is
 * under the same outer layer as the value, so one write erases both (P10). Of an end-to-end secret (a bit of the flags) the value
 * is a client's ciphertext, and its passphrase is no part of these keys. `docs/envelope.md` gives the argument.
 */
import { seal, unseal } from './aead.ts';
import { concat, equalInConstantTime, FieldReader, FieldWriter, part, utf8 } from './bytes.ts';
import {
  deriveCreatorMask,
  deriveInnerKeys,
  deriveOuterKeys,
  deriveProofKeys,
  deriveSecretId,
  deriveVerifierKeys,
  type InnerKeys,
  version1,
} from './derive.ts';
import type { KeyRing, RootKey } from './keyring.ts';
import type { RandomBytes } from './random.ts';
import { type SecretContext, type UnwrapOutcome, type UnwrappedSecret, writeContext } from './row.ts';
import { unwrapVersion1 } from './version-1.ts';

const version = 2;
const saltBytes = 32;
const secretKeyBytes = 31;
const headBytes = 1 + 2 + 8 + saltBytes;
const commitmentBytes = 32;
/** A SHA-256 of a proof. */
export const proofHashBytes = 32;
const bucketBytes = 256;
/** The key id and the expiry, which only the outer layer is bound to. */
const outerAadBytes = 2 + 8;
const contextLabel = utf8('mayfly/2/secret');
const empty = new Uint8Array(0);

export interface SealInput {
  readonly value: Uint8Array;
  readonly secretKey: string;
  readonly metadataKey: string;
  /** Seals the recipient's address; `null` without a recipient. */
  readonly addressBox: Uint8Array | null;
  /** `R`: 32 fresh random bytes. */
  readonly salt: Uint8Array;
  /** The stretched passphrase (32 bytes) and the bcrypt hash of its verifier. */
  readonly passphrase: { readonly key: Uint8Array; readonly verifierHash: string } | null;
  /** Of an end-to-end secret, which the server has no passphrase of; `null` for any other. */
  readonly proofs: ProofHashes | null;
  readonly context: SecretContext;
  /** The latest expiry that the secret can be given; not before its expiry. */
  readonly expiryLimit: number;
  readonly root: RootKey;
  readonly random: RandomBytes;
}

/** What a client must prove: that it has the whole link, and that it has the passphrase too. 32 bytes each. */
export interface ProofHashes {
  readonly linkHash: Uint8Array;
  readonly proofHash: Uint8Array;
}

/** Keys that the commitment has proven right. */
export type ProvenKeys = InnerKeys & { readonly proven: true };

interface Aads {
  readonly record: Uint8Array;
  readonly outer: Uint8Array;
}

/** What the two layers are bound to; the inner one's is the beginning of the outer one's. */
export function secretAads(context: SecretContext, expiryLimit: number, kid: number): Aads {
  const outer = writeContext(contextLabel, context, expiryLimit, outerAadBytes)
    .u16(kid)
    .u64(context.expiresAt).bytes;
  return { record: part(outer, 0, outer.length - outerAadBytes), outer };
}

function pad(value: Uint8Array, stepBytes: number): Uint8Array {
  const size = Math.ceil((value.length + 4) / stepBytes) * stepBytes;
  return new FieldWriter(size).field(value).bytes;
}

/** The secret key of the metadata key's holder, masked or unmasked: the same step both ways. */
function maskKey(key: Uint8Array, metadataKey: string, salt: Uint8Array): Uint8Array {
  const masked = deriveCreatorMask(metadataKey, salt);
  for (let at = 0; at < masked.length; at += 1) masked[at] = (masked[at] ?? 0) ^ (key[at] ?? 0);
  return masked;
}

/** The row to store. */
export function sealSecret(input: SealInput): Uint8Array {
  const { secretKey, salt, passphrase, context, expiryLimit, root } = input;
  const aads = secretAads(context, expiryLimit, root.kid);
  const keys = deriveInnerKeys(secretKey, passphrase?.key ?? null, salt);
  const padded = pad(input.value, input.proofs === null ? bucketBytes : 1);
  const sealedValue = seal(keys, padded, aads.record);
  padded.fill(0);
  const verifier = sealVerifier(input, aads.record);
  const address = input.addressBox ?? empty;
  const size =
    saltBytes + secretKeyBytes + 8 + address.length + verifier.length + commitmentBytes + sealedValue.length;
  const inner = new FieldWriter(size)
    .raw(salt)
    .raw(maskKey(utf8(secretKey), input.metadataKey, salt))
    .field(address)
    .field(verifier)
    .raw(keys.commitment)
    .raw(sealedValue).bytes;
  return wrap(inner, aads.outer, expiryLimit, root, input.random);
}

/** In the same place, whatever it takes to open the secret; each under a label of its own. */
function sealVerifier({ secretKey, salt, passphrase, proofs }: SealInput, aad: Uint8Array): Uint8Array {
  if (proofs !== null) {
    const hashes = concat(proofs.linkHash, proofs.proofHash);
    return seal(deriveProofKeys(secretKey, salt), hashes, aad);
  }
  if (passphrase === null) return empty;
  return seal(deriveVerifierKeys(secretKey, salt), utf8(passphrase.verifierHash), aad);
}

function wrap(
  inner: Uint8Array,
  outerAad: Uint8Array,
  expiryLimit: number,
  root: RootKey,
  random: RandomBytes,
): Uint8Array {
  const outerSalt = random(saltBytes);
  const sealed = seal(deriveOuterKeys(root.key, outerSalt), inner, outerAad);
  return new FieldWriter(headBytes + sealed.length)
    .u8(version)
    .u16(root.kid)
    .u64(expiryLimit)
    .raw(outerSalt)
    .raw(sealed).bytes;
}

interface Unwrapped {
  readonly root: RootKey;
  readonly expiryLimit: number;
  readonly record: Uint8Array;
  readonly inner: Uint8Array;
}

function unwrapBytes(
  row: Uint8Array,
  context: SecretContext,
  ring: KeyRing,
): Unwrapped | { readonly unknownKid: number } | null {
  const reader = new FieldReader(row);
  if (row.length < headBytes || reader.u8() !== version) return null;
  const kid = reader.u16();
  const expiryLimit = reader.u64();
  if (expiryLimit < context.expiresAt) return null;
  const root = ring.find(kid);
  if (root === null) return { unknownKid: kid };
  const outerSalt = reader.raw(saltBytes);
  const { record, outer } = secretAads(context, expiryLimit, kid);
  const inner = unseal(deriveOuterKeys(root.key, outerSalt), reader.rest(), outer);
  return inner === null ? null : { root, expiryLimit, record, inner };
}

/** Removes the outer layer. */
export function unwrapSecret(row: Uint8Array, context: SecretContext, ring: KeyRing): UnwrapOutcome {
  if (row[0] === 1) return unwrapVersion1(row, context, ring);
  const unwrapped = unwrapBytes(row, context, ring);
  if (unwrapped === null) return { outcome: 'damaged' };
  if ('unknownKid' in unwrapped) return { outcome: 'unknown_root', kid: unwrapped.unknownKid };
  const fields = readFields(unwrapped.inner);
  if (fields === null) return { outcome: 'damaged' };
  return {
    outcome: 'unwrapped',
    secret: { version, secretId: context.secretId, ...fields, aad: unwrapped.record },
  };
}

/** The fields under the outer layer; `null` if the root sealed something else. */
function readFields(
  inner: Uint8Array,
): Pick<UnwrappedSecret, 'salt' | 'creator' | 'sealedVerifier' | 'body'> | null {
  const reader = new FieldReader(inner);
  try {
    const salt = reader.raw(saltBytes);
    const maskedKey = reader.raw(secretKeyBytes);
    const address = reader.field();
    const creator = { maskedKey, addressBox: address.length === 0 ? null : address };
    return { salt, creator, sealedVerifier: reader.field(), body: reader.rest() };
  } catch {
    return null;
  }
}

/**
 * The latest expiry that a row can be given, or `null` when its lifetime cannot be changed: version 1 binds both of its
 * layers to it.
 */
export function expiryLimitOf(row: Uint8Array): number | null {
  if (row.length < headBytes || row[0] !== version) return null;
  return new FieldReader(row.subarray(3)).u64();
}

/**
 * The same secret in an outer layer of its own, as long as before; needs no link, and opens nothing under the inner layer.
 * `null` where `unwrapSecret` refuses, for a row of version 1, and beyond the row's limit.
 * @param to another root, another expiry, or both; what is absent stays
 */
export function rewrapSecret(
  row: Uint8Array,
  context: SecretContext,
  ring: KeyRing,
  random: RandomBytes,
  to: { readonly root?: RootKey; readonly expiresAt?: number },
): Uint8Array | null {
  const unwrapped = unwrapBytes(row, context, ring);
  if (unwrapped === null || 'unknownKid' in unwrapped) return null;
  const { inner, expiryLimit } = unwrapped;
  const root = to.root ?? unwrapped.root;
  const expiresAt = to.expiresAt ?? context.expiresAt;
  if (expiresAt > expiryLimit) return null;
  const { outer } = secretAads({ ...context, expiresAt }, expiryLimit, root.kid);
  return wrap(inner, outer, expiryLimit, root, random);
}

/**
 * The keys, or `null` if link or passphrase is wrong. Computes no plaintext.
 * @param passphraseKey the stretched passphrase, or `null` if none is set
 */
export function proveKeys(
  secret: UnwrappedSecret,
  secretKey: string,
  passphraseKey: Uint8Array | null,
): ProvenKeys | null {
  const derive = secret.version === 1 ? version1.deriveInnerKeys : deriveInnerKeys;
  const keys = derive(secretKey, passphraseKey, secret.salt);
  if (!equalInConstantTime(keys.commitment, secret.body.slice(0, commitmentBytes))) return null;
  return { ...keys, proven: true };
}

/** The stored bcrypt hash of the passphrase; `null` if none is set or the link is wrong. */
export function openVerifier(secret: UnwrappedSecret, secretKey: string): string | null {
  if (secret.sealedVerifier.length === 0) return null;
  const derive = secret.version === 1 ? version1.deriveVerifierKeys : deriveVerifierKeys;
  const opened = unseal(derive(secretKey, secret.salt), secret.sealedVerifier, secret.aad);
  return opened === null ? null : new TextDecoder().decode(opened);
}

/** The hashes of an end-to-end secret's proofs; `null` if the link is wrong or it is no such secret. */
export function openProofs(secret: UnwrappedSecret, secretKey: string): ProofHashes | null {
  if (secret.version === 1) return null;
  const opened = unseal(deriveProofKeys(secretKey, secret.salt), secret.sealedVerifier, secret.aad);
  if (opened === null || opened.length !== 2 * proofHashBytes) return null;
  return {
    linkHash: part(opened, 0, proofHashBytes),
    proofHash: part(opened, proofHashBytes, 2 * proofHashBytes),
  };
}

/**
 * The secret key, for its creator; `null` if the metadata key is another's: what is unmasked is not a key with this
 * secret's id. `null` in version 1, which keeps a box beside the row. Only the receipts may import it.
 */
export function openCreatorKey(secret: UnwrappedSecret, metadataKey: string): string | null {
  if (secret.creator === null) return null;
  const secretKey = Buffer.from(maskKey(secret.creator.maskedKey, metadataKey, secret.salt)).toString(
    'latin1',
  );
  return equalInConstantTime(deriveSecretId(secretKey), secret.secretId) ? secretKey : null;
}

/**
 * The value's bytes, which the caller wipes. Only `core/secrets/reveal.ts` may import it: it takes a won claim.
 * @throws RangeError if the body does not open although its keys are proven: it was sealed wrongly
 */
export function open(secret: UnwrappedSecret, keys: ProvenKeys): Uint8Array {
  const padded = unseal(keys, secret.body.slice(commitmentBytes), secret.aad);
  if (padded === null) throw new RangeError('the body does not open under its own commitment');
  const value = new FieldReader(padded).field();
  padded.fill(0);
  return value;
}
