/**
 * The envelope: how a secret is stored, version 1. The inner layer needs the link (and the passphrase), the outer one the
 * server's root, so neither the database with every server key nor the link alone opens anything (P9), and the outer layer
 * can be replaced without the link.
 *
 *   aad   = lp("mayfly/1/secret") lp(secret id) u64 created u64 expires u8 flags lp(owner) lp(share domain)
 *   pad   = u32 length ‖ value ‖ zeros to a multiple of 256
 *   body  = commitment(32) ‖ AES-256-GCM(k, n, pad, aad)          k‖n‖commitment from link, passphrase and R
 *   ver   = "" | AES-256-GCM(kv, nv, bcrypt hash, aad)            kv‖nv from link and R
 *   row   = u8 1 ‖ u16 kid ‖ R2(32) ‖ AES-256-GCM(ko, no, R(32) ‖ lp(ver) ‖ lp(body), aad)    ko‖no from root and R2
 *
 * The outer layer authenticates every stored byte, and the commitment proves link and passphrase, so anything that can be
 * wrong is found before a secret is claimed and without computing any plaintext (P3).
 */
import { seal, unseal } from './aead.ts';
import { concat, equalInConstantTime, FieldReader, FieldWriter, utf8 } from './bytes.ts';
import { deriveInnerKeys, deriveOuterKeys, deriveVerifierKeys, type InnerKeys } from './derive.ts';
import type { KeyRing, RootKey } from './keyring.ts';
import type { RandomBytes } from './random.ts';

const version = 1;
const saltBytes = 32;
const commitmentBytes = 32;
const bucketBytes = 256;
const aadLabel = utf8('mayfly/1/secret');
const hasPassphraseFlag = 1;
const empty = new Uint8Array(0);

/** What a row belongs to; authenticated, so that rows and their fields cannot be swapped. */
export interface SecretContext {
  readonly secretId: Uint8Array;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly hasPassphrase: boolean;
  /** An account's id. */
  readonly owner: number | null;
  readonly shareDomain: string;
}

export interface SealInput {
  readonly value: Uint8Array;
  readonly secretKey: string;
  /** `R`: 32 fresh random bytes. */
  readonly salt: Uint8Array;
  /** The stretched passphrase (32 bytes) and the bcrypt hash of its verifier. */
  readonly passphrase: { readonly key: Uint8Array; readonly verifierHash: string } | null;
  readonly context: SecretContext;
  readonly root: RootKey;
  readonly random: RandomBytes;
}

/** A row without its outer layer. Reveals neither value nor passphrase without the link. */
export interface UnwrappedSecret {
  readonly salt: Uint8Array;
  readonly sealedVerifier: Uint8Array;
  readonly body: Uint8Array;
  readonly aad: Uint8Array;
}

export type UnwrapOutcome =
  | { readonly outcome: 'unwrapped'; readonly secret: UnwrappedSecret }
  /** No root of the ring has this key id. */
  | { readonly outcome: 'unknown_root'; readonly kid: number }
  /** Not a row of version 1, not this record's, or modified. */
  | { readonly outcome: 'damaged' };

/** Keys that the commitment has proven right. */
export type ProvenKeys = InnerKeys & { readonly proven: true };

export function secretAad(context: SecretContext): Uint8Array {
  const owner = context.owner === null ? empty : new FieldWriter(8).u64(context.owner).bytes;
  const shareDomain = context.shareDomain === '' ? empty : utf8(context.shareDomain);
  const size =
    4 + aadLabel.length + 4 + context.secretId.length + 17 + 4 + owner.length + 4 + shareDomain.length;
  return new FieldWriter(size)
    .field(aadLabel)
    .field(context.secretId)
    .u64(context.createdAt)
    .u64(context.expiresAt)
    .u8(context.hasPassphrase ? hasPassphraseFlag : 0)
    .field(owner)
    .field(shareDomain).bytes;
}

function pad(value: Uint8Array): Uint8Array {
  const size = Math.ceil((value.length + 4) / bucketBytes) * bucketBytes;
  return new FieldWriter(size).field(value).bytes;
}

/** The row to store. */
export function sealSecret(input: SealInput): Uint8Array {
  const { secretKey, salt, passphrase } = input;
  const aad = secretAad(input.context);
  const keys = deriveInnerKeys(secretKey, passphrase?.key ?? null, salt);
  const padded = pad(input.value);
  const sealedValue = seal(keys, padded, aad);
  padded.fill(0);
  const verifier =
    passphrase === null
      ? empty
      : seal(deriveVerifierKeys(secretKey, salt), utf8(passphrase.verifierHash), aad);
  const bodySize = commitmentBytes + sealedValue.length;
  const inner = new FieldWriter(saltBytes + 4 + verifier.length + 4 + bodySize)
    .raw(salt)
    .field(verifier)
    .u32(bodySize)
    .raw(keys.commitment)
    .raw(sealedValue).bytes;
  return wrap(inner, aad, input.root, input.random);
}

function wrap(inner: Uint8Array, aad: Uint8Array, root: RootKey, random: RandomBytes): Uint8Array {
  const outerSalt = random(saltBytes);
  const sealed = seal(deriveOuterKeys(root.key, root.kid, outerSalt), inner, aad);
  return new FieldWriter(3 + saltBytes + sealed.length).u8(version).u16(root.kid).raw(outerSalt).raw(sealed)
    .bytes;
}

function unwrapBytes(
  row: Uint8Array,
  aad: Uint8Array,
  ring: KeyRing,
): Uint8Array | { unknownKid: number } | null {
  const reader = new FieldReader(row);
  if (row.length < 3 + saltBytes || reader.u8() !== version) return null;
  const kid = reader.u16();
  const root = ring.find(kid);
  if (root === null) return { unknownKid: kid };
  const outerSalt = reader.raw(saltBytes);
  return unseal(deriveOuterKeys(root.key, kid, outerSalt), reader.rest(), aad);
}

/** Removes the outer layer. */
export function unwrapSecret(row: Uint8Array, context: SecretContext, ring: KeyRing): UnwrapOutcome {
  const aad = secretAad(context);
  const inner = unwrapBytes(row, aad, ring);
  if (inner === null) return { outcome: 'damaged' };
  if ('unknownKid' in inner) return { outcome: 'unknown_root', kid: inner.unknownKid };
  const fields = readFields(inner);
  return fields === null ? { outcome: 'damaged' } : { outcome: 'unwrapped', secret: { ...fields, aad } };
}

/** The fields under the outer layer; `null` if the root sealed something else. */
function readFields(inner: Uint8Array): Omit<UnwrappedSecret, 'aad'> | null {
  const reader = new FieldReader(inner);
  try {
    return { salt: reader.raw(saltBytes), sealedVerifier: reader.field(), body: reader.field() };
  } catch {
    return null;
  }
}

/** The same secret under the ring's current root, for key rotation; needs no link. `null` where `unwrapSecret` refuses. */
export function rewrapSecret(
  row: Uint8Array,
  context: SecretContext,
  ring: KeyRing,
  random: RandomBytes,
): Uint8Array | null {
  const aad = secretAad(context);
  const inner = unwrapBytes(row, aad, ring);
  return inner === null || 'unknownKid' in inner ? null : wrap(inner, aad, ring.current, random);
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
  const keys = deriveInnerKeys(secretKey, passphraseKey, secret.salt);
  if (!equalInConstantTime(keys.commitment, secret.body.subarray(0, commitmentBytes))) return null;
  return { ...keys, proven: true };
}

/** The stored bcrypt hash of the passphrase; `null` if none is set or the link is wrong. */
export function openVerifier(secret: UnwrappedSecret, secretKey: string): string | null {
  if (secret.sealedVerifier.length === 0) return null;
  const opened = unseal(deriveVerifierKeys(secretKey, secret.salt), secret.sealedVerifier, secret.aad);
  return opened === null ? null : new TextDecoder().decode(opened);
}

/**
 * The value's bytes, which the caller wipes. Only `core/secrets/reveal.ts` may import it: it takes a won claim.
 * @throws RangeError if the body does not open although its keys are proven: it was sealed wrongly
 */
export function open(secret: UnwrappedSecret, keys: ProvenKeys): Uint8Array {
  const padded = unseal(keys, secret.body.subarray(commitmentBytes), secret.aad);
  if (padded === null) throw new RangeError('the body does not open under its own commitment');
  const value = concat(new FieldReader(padded).field());
  padded.fill(0);
  return value;
}
