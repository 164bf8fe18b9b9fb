/**
 * The envelope: how a secret is stored, version 4. The inner layer needs the link (and the passphrase), the outer one the server's root and
 * the key of the day on which the secret expires (its epoch). So neither the link nor the database with every server key opens anything
 * alone (P9), and nothing opens once the epoch's key is destroyed (P10). The outer layer can be replaced without the link, for another
 * root (P12) or expiry. `docs/envelope.md` gives the reasons.
 *
 *   record  = lp("mayfly/2/secret") lp(secret id) u64 created u64 limit u8 flags lp(owner) lp(share domain)
 *   pad     = u32 length ‖ value ‖ zeros to a multiple of 256; for an end-to-end secret, which its client has padded, no zeros
 *   body    = commitment(32) ‖ AES-256-GCM(k, 0, pad, record)         k‖commitment from link, passphrase and R
 *   ver     = "" | AES-256-GCM(kv, nv, bcrypt hash or "" ‖ note or "", record)      kv‖nv from link and R
 *             | AES-256-GCM(kp, np, link hash(32) ‖ proof hash(32) ‖ note or "", record)     kp‖np from link and R, end-to-end
 *   verify  = "" | AES-256-GCM(kc, nc, u32 length ‖ address ‖ zeros to 384, record)         kc‖nc from link and R, if the flags say so
 *   creator = secret key(31) XOR mask                                 mask from metadata key and R
 *   address = "" | the recipient's address, sealed under metadata key and secret key
 *   row     = u8 4 ‖ u16 kid ‖ u64 limit ‖ u16 epoch ‖ R2(32)
 *             ‖ AES-256-GCM(ko, no, R(32) ‖ creator ‖ lp(address) ‖ lp(ver) ‖ verify ‖ body, record ‖ u16 kid ‖ u64 expires ‖ u16 epoch)
 *                                                                     ko‖no from root, the epoch's key and R2
 *
 * Version 2 has neither an epoch field nor an epoch key. Nothing new is sealed in it, but a row keeps its version, and so its length,
 * when its outer layer is replaced.
 *
 * The inner layer is bound to the limit (the latest expiry that the secret can be given), the outer layer to its current expiry. The outer
 * layer authenticates every stored byte, and the commitment proves link and passphrase, so every flaw is found before the claim and without
 * computing plaintext (P3). The creator's part is under the same outer layer as the value, so one write erases both
 * (P10). The value of an end-to-end secret (a bit of the flags) is a client's ciphertext, and its passphrase is not part of these keys.
 * Every note has 576 bytes: u32 length ‖ text ‖ zeros, or what its client sealed.
 */
import { sealedNoteBytes } from '../protocol/note.ts';
import { seal, tagBytes, unseal } from './aead.ts';
import { concat, equalInConstantTime, FieldReader, FieldWriter, part, utf8 } from './bytes.ts';
import {
  deriveCreatorMask,
  deriveEpochOuterKeys,
  deriveInnerKeys,
  deriveOuterKeys,
  deriveProofKeys,
  deriveSecretId,
  deriveVerifierKeys,
  deriveVerifyKeys,
  type InnerKeys,
  version1,
} from './derive.ts';
import type { Epoch, KeyRing, RootKey } from './keyring.ts';
import type { RandomBytes } from './random.ts';
import {
  readSealed,
  type SecretContext,
  type UnwrapOutcome,
  type UnwrappedSecret,
  writeContext,
} from './row.ts';
import { unwrapVersion1 } from './version-1.ts';

const [withoutEpoch, withEpoch] = [2, 4];
const saltBytes = 32;
const secretKeyBytes = 31;
const leastHeadBytes = 1 + 2 + 8 + saltBytes;
const limitAt = 3;
const epochAt = 11;
const epochBytes = 2;
const commitmentBytes = 32;
export const proofHashBytes = 32;
const bucketBytes = 256;
/** Enough for the longest address, 320 bytes. Every row with one has the same length for it. */
const codeAddressBytes = 384;
/** Key id and expiry: only the outer layer is bound to them, and to the epoch. */
const outerAadBytes = 2 + 8;
const contextLabel = utf8('mayfly/2/secret');
const empty = new Uint8Array(0);

export interface SealInput {
  readonly value: Uint8Array;
  readonly secretKey: string;
  readonly metadataKey: string;
  /** The recipient's address, sealed. */
  readonly addressBox: Uint8Array | null;
  /** `R`: 32 fresh random bytes. */
  readonly salt: Uint8Array;
  /** The stretched passphrase (32 bytes) and the bcrypt hash of its verifier. */
  readonly passphrase: { readonly key: Uint8Array; readonly verifierHash: string } | null;
  /** The proof hashes of an end-to-end secret, whose passphrase never reaches the server. */
  readonly proofs: ProofHashes | null;
  /** At most 560 bytes of text or, in an end-to-end secret, the 576 bytes that its client sealed. */
  readonly note: Uint8Array | null;
  /** The address for codes, at most 380 bytes; set if and only if `context.verify`. */
  readonly codeAddress: Uint8Array | null;
  readonly context: SecretContext;
  /** The latest expiry that can be set; never before the current one. */
  readonly expiryLimit: number;
  readonly root: RootKey;
  /** The epoch of the expiry, or a later one; `null` seals in version 2. */
  readonly epoch: Epoch | null;
  readonly random: RandomBytes;
}

/** Hashes for checking a client's proofs that it has the full link and that it has the passphrase. 32 bytes each. */
export interface ProofHashes {
  readonly linkHash: Uint8Array;
  readonly proofHash: Uint8Array;
}

/** Keys that the commitment has proven correct. */
export type ProvenKeys = InnerKeys & { readonly proven: true };

interface Aads {
  readonly record: Uint8Array;
  readonly outer: Uint8Array;
}

/** Returns the additional data of the two layers; the inner layer's is a prefix of the outer layer's. */
export function secretAads(
  context: SecretContext,
  expiryLimit: number,
  kid: number,
  epoch: number | null = null,
): Aads {
  const moreBytes = outerAadBytes + (epoch === null ? 0 : epochBytes);
  const writer = writeContext(contextLabel, context, expiryLimit, moreBytes).u16(kid).u64(context.expiresAt);
  const outer = (epoch === null ? writer : writer.u16(epoch)).bytes;
  return { record: part(outer, 0, outer.length - moreBytes), outer };
}

function pad(value: Uint8Array, stepBytes: number): Uint8Array {
  const size = Math.ceil((value.length + 4) / stepBytes) * stepBytes;
  return new FieldWriter(size).field(value).bytes;
}

/** Masks or unmasks a secret key. */
function maskKey(key: Uint8Array, metadataKey: string, salt: Uint8Array): Uint8Array {
  const masked = deriveCreatorMask(metadataKey, salt);
  for (let at = 0; at < masked.length; at += 1) masked[at] = (masked[at] ?? 0) ^ (key[at] ?? 0);
  return masked;
}

export function sealSecret(input: SealInput): Uint8Array {
  const { secretKey, salt, passphrase, context, expiryLimit, root, epoch } = input;
  const aads = secretAads(context, expiryLimit, root.kid, epoch?.epoch ?? null);
  const keys = deriveInnerKeys(secretKey, passphrase?.key ?? null, salt);
  const padded = pad(input.value, input.proofs === null ? bucketBytes : 1);
  const sealedValue = seal(keys, padded, aads.record);
  padded.fill(0);
  const verifier = sealVerifier(input, aads.record);
  const codeAddress = sealCodeAddress(input, aads.record);
  const address = input.addressBox ?? empty;
  const boxBytes = address.length + verifier.length + codeAddress.length;
  const size = saltBytes + secretKeyBytes + 8 + boxBytes + commitmentBytes + sealedValue.length;
  const inner = new FieldWriter(size)
    .raw(salt)
    .raw(maskKey(utf8(secretKey), input.metadataKey, salt))
    .field(address)
    .field(verifier)
    .raw(codeAddress)
    .raw(keys.commitment)
    .raw(sealedValue).bytes;
  return wrap(inner, aads.outer, { expiryLimit, root, epoch }, input.random);
}

/** Seals the verifier or the proofs' hashes, and the note: in the same place, under a label for each kind of secret. */
function sealVerifier({ secretKey, salt, passphrase, proofs, note }: SealInput, aad: Uint8Array): Uint8Array {
  if (proofs === null && passphrase === null && note === null) return empty;
  const head =
    proofs === null ? utf8(passphrase?.verifierHash ?? '') : concat(proofs.linkHash, proofs.proofHash);
  const box = new FieldWriter(head.length + (note === null ? 0 : sealedNoteBytes)).raw(head);
  if (note !== null && proofs === null) box.u32(note.length);
  box.raw(note ?? empty);
  const keys = (proofs === null ? deriveVerifierKeys : deriveProofKeys)(secretKey, salt);
  const sealed = seal(keys, box.bytes, aad);
  box.bytes.fill(0);
  return sealed;
}

/** @throws RangeError if the flag and the address disagree: no such row would open */
function sealCodeAddress({ secretKey, salt, codeAddress, context }: SealInput, aad: Uint8Array): Uint8Array {
  if (context.verify !== (codeAddress !== null)) throw new RangeError('the mark and the address disagree');
  if (codeAddress === null) return empty;
  const padded = new FieldWriter(codeAddressBytes).field(codeAddress).bytes;
  const sealed = seal(deriveVerifyKeys(secretKey, salt), padded, aad);
  padded.fill(0);
  return sealed;
}

function wrap(
  inner: Uint8Array,
  outerAad: Uint8Array,
  { expiryLimit, root, epoch }: Pick<SealInput, 'expiryLimit' | 'root' | 'epoch'>,
  random: RandomBytes,
): Uint8Array {
  const outerSalt = random(saltBytes);
  const sealed = seal(outerKeys(root, epoch, outerSalt), inner, outerAad);
  const writer = new FieldWriter(leastHeadBytes + (epoch === null ? 0 : epochBytes) + sealed.length)
    .u8(epoch === null ? withoutEpoch : withEpoch)
    .u16(root.kid)
    .u64(expiryLimit);
  return (epoch === null ? writer : writer.u16(epoch.epoch)).raw(outerSalt).raw(sealed).bytes;
}

const outerKeys = (root: RootKey, epoch: Epoch | null, salt: Uint8Array) =>
  epoch === null ? deriveOuterKeys(root.key, salt) : deriveEpochOuterKeys(root.key, epoch.key, salt);

interface Unwrapped extends Pick<SealInput, 'expiryLimit' | 'root' | 'epoch'> {
  readonly record: Uint8Array;
  readonly inner: Uint8Array;
}

function unwrapBytes(
  row: Uint8Array,
  context: SecretContext,
  ring: KeyRing,
  epochKey: Uint8Array | null,
): Unwrapped | { readonly unknownKid: number } | null {
  const epochNumber = epochIn(row);
  const reader = new FieldReader(row);
  if (row.length < leastHeadBytes || (reader.u8() !== withoutEpoch && epochNumber === null)) return null;
  const kid = reader.u16();
  const expiryLimit = reader.u64();
  if (expiryLimit < context.expiresAt) return null;
  const root = ring.find(kid);
  if (root === null) return { unknownKid: kid };
  if (epochNumber !== null && epochKey === null) return null;
  const epoch = epochKey === null || epochNumber === null ? null : { epoch: reader.u16(), key: epochKey };
  const outerSalt = reader.raw(saltBytes);
  const { record, outer } = secretAads(context, expiryLimit, kid, epochNumber);
  const inner = unseal(outerKeys(root, epoch, outerSalt), reader.rest(), outer);
  return inner === null ? null : { root, expiryLimit, epoch, record, inner };
}

/** Returns the epoch whose key a row needs; `null` for earlier versions. */
export function epochIn(row: Uint8Array): number | null {
  if (row.length < leastHeadBytes + epochBytes || row[0] !== withEpoch) return null;
  return (row[epochAt] ?? 0) * 2 ** 8 + (row[epochAt + 1] ?? 0);
}

/** Removes the outer layer. @param epochKey the key of the row's epoch; `null` if it has none or the key is destroyed */
export function unwrapSecret(
  row: Uint8Array,
  context: SecretContext,
  ring: KeyRing,
  epochKey: Uint8Array | null,
): UnwrapOutcome {
  if (row[0] === 1) return unwrapVersion1(row, context, ring);
  const unwrapped = unwrapBytes(row, context, ring, epochKey);
  if (unwrapped === null) return { outcome: 'damaged' };
  if ('unknownKid' in unwrapped) return { outcome: 'unknown_root', kid: unwrapped.unknownKid };
  const fields = readSealed(unwrapped.inner, (reader) => fieldsIn(reader, context.verify));
  if (fields === null) return { outcome: 'damaged' };
  return {
    outcome: 'unwrapped',
    secret: { version: 2, secretId: context.secretId, ...fields, aad: unwrapped.record },
  };
}

function fieldsIn(reader: FieldReader, verify: boolean) {
  const salt = reader.raw(saltBytes);
  const maskedKey = reader.raw(secretKeyBytes);
  const address = reader.field();
  const creator = { maskedKey, addressBox: address.length === 0 ? null : address };
  const sealedVerifier = reader.field();
  const codeAddress = verify ? reader.raw(codeAddressBytes + tagBytes) : null;
  return { salt, creator, sealedVerifier, codeAddress, body: reader.rest() };
}

/** Returns the latest expiry that a row can be given; `null` in version 1, which binds both layers to the current expiry. */
export function expiryLimitOf(row: Uint8Array): number | null {
  if (row.length < leastHeadBytes || (row[0] !== withoutEpoch && row[0] !== withEpoch)) return null;
  return new FieldReader(row.subarray(limitAt)).u64();
}

/**
 * Rewraps a secret in a new outer layer of the same length. Needs no link and opens nothing under the inner layer. Returns `null`
 * where `unwrapSecret` fails, for a row of version 1, and beyond the row's limit.
 * @param epochKey as in `unwrapSecret`
 * @param to another root, another expiry with its epoch, or both. A row without an epoch gets none.
 */
export function rewrapSecret(
  row: Uint8Array,
  context: SecretContext,
  { ring, epochKey, random }: RewrapKeys,
  to: { readonly root?: RootKey; readonly expiry?: { readonly expiresAt: number; readonly epoch: Epoch } },
): Uint8Array | null {
  const unwrapped = unwrapBytes(row, context, ring, epochKey);
  if (unwrapped === null || 'unknownKid' in unwrapped) return null;
  const { inner, expiryLimit } = unwrapped;
  const root = to.root ?? unwrapped.root;
  const epoch = unwrapped.epoch && (to.expiry?.epoch ?? unwrapped.epoch);
  const expiresAt = to.expiry?.expiresAt ?? context.expiresAt;
  if (expiresAt > expiryLimit) return null;
  const { outer } = secretAads({ ...context, expiresAt }, expiryLimit, root.kid, epoch?.epoch ?? null);
  return wrap(inner, outer, { expiryLimit, root, epoch }, random);
}

export interface RewrapKeys {
  readonly ring: KeyRing;
  readonly epochKey: Uint8Array | null;
  readonly random: RandomBytes;
}

/**
 * Returns `null` if link or passphrase is wrong. Computes no plaintext.
 * @param passphraseKey the stretched passphrase; `null` without one
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

/** Returns `null` if the link is wrong or the secret is not end-to-end. */
export function openProofs(secret: UnwrappedSecret, secretKey: string): ProofHashes | null {
  if (secret.version === 1) return null;
  const opened = unseal(deriveProofKeys(secretKey, secret.salt), secret.sealedVerifier, secret.aad);
  if (opened === null || opened.length % sealedNoteBytes !== 2 * proofHashBytes) return null;
  return {
    linkHash: part(opened, 0, proofHashBytes),
    proofHash: part(opened, proofHashBytes, 2 * proofHashBytes),
  };
}

/** Returns the address that codes are mailed to; `null` without one or with a wrong link. */
export function openCodeAddress(secret: UnwrappedSecret, secretKey: string): Uint8Array | null {
  if (secret.codeAddress === null) return null;
  const opened = unseal(deriveVerifyKeys(secretKey, secret.salt), secret.codeAddress, secret.aad);
  return opened && new FieldReader(opened).field();
}

/** Needs no link: the length shows it. */
export function hasNote({ sealedVerifier }: UnwrappedSecret): boolean {
  return sealedVerifier.length >= sealedNoteBytes;
}

/** Returns the note as `sealSecret` got it; `null` without one or with a wrong link. @param isSealed whether the secret is end-to-end */
export function openNote(secret: UnwrappedSecret, secretKey: string, isSealed: boolean): Uint8Array | null {
  if (!hasNote(secret)) return null;
  const keys = (isSealed ? deriveProofKeys : deriveVerifierKeys)(secretKey, secret.salt);
  const opened = unseal(keys, secret.sealedVerifier, secret.aad);
  const kept = opened?.slice(-sealedNoteBytes) ?? null;
  return kept === null || isSealed ? kept : new FieldReader(kept).field();
}

/**
 * Returns the secret key for its creator; `null` if the unmasked key does not have this secret's id, because the metadata key belongs to a
 * different secret, and in version 1, which keeps a box instead. Only the receipts may import this.
 */
export function openCreatorKey(secret: UnwrappedSecret, metadataKey: string): string | null {
  if (secret.creator === null) return null;
  const secretKey = Buffer.from(maskKey(secret.creator.maskedKey, metadataKey, secret.salt)).toString(
    'latin1',
  );
  return equalInConstantTime(deriveSecretId(secretKey), secret.secretId) ? secretKey : null;
}

/**
 * Returns the value, which the caller wipes. Only `core/secrets/reveal.ts` may import this: opening requires a won claim.
 * @throws RangeError if the body was sealed wrongly and does not open under proven keys
 */
export function open(secret: UnwrappedSecret, keys: ProvenKeys): Uint8Array {
  const padded = unseal(keys, secret.body.slice(commitmentBytes), secret.aad);
  if (padded === null) throw new RangeError('the body does not open under its own commitment');
  const value = new FieldReader(padded).field();
  padded.fill(0);
  return value;
}
