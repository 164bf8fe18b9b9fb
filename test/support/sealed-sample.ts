/**
 * A sealed secret with everything that went into it, for tests of the record's format. Seeded random bytes replace
 * argon2id's output, so no test pays for it.
 */
import { seal, unseal } from '../../src/crypto/aead.ts';
import { concat } from '../../src/crypto/bytes.ts';
import {
  deriveEpochOuterKeys,
  deriveOuterKeys,
  deriveSecretId,
  deriveVerifierKeys,
  hashProof,
  version1,
} from '../../src/crypto/derive.ts';
import {
  epochIn,
  expiryLimitOf,
  rewrapSecret,
  type SealInput,
  sealSecret,
  secretAads,
  unwrapSecret,
} from '../../src/crypto/envelope.ts';
import { createKeyRing, type Epoch, type KeyRing, type RootKey } from '../../src/crypto/keyring.ts';
import { randomText } from '../../src/crypto/random.ts';
import type { SecretContext, UnwrappedSecret } from '../../src/crypto/row.ts';
import { sealedNoteBytes } from '../../src/protocol/note.ts';
import { seededRandom } from './seeded-random.ts';

export interface SealedSample {
  readonly row: Uint8Array;
  readonly secretKey: string;
  readonly metadataKey: string;
  readonly context: SecretContext;
  readonly root: RootKey;
  readonly ring: KeyRing;
  /** `null` in version 2. */
  readonly epoch: Epoch | null;
  readonly value: Uint8Array;
  readonly passphrase: NonNullable<SealInput['passphrase']> | null;
  /** Of an end-to-end sample. */
  readonly proofs: { readonly linkProof: Uint8Array; readonly proof: Uint8Array } | null;
}

export interface SampleOptions {
  readonly seed?: string;
  readonly value?: string;
  readonly hasPassphrase?: boolean;
  /** End-to-end: the value stands for a client's ciphertext, and the passphrase is the client's alone. */
  readonly sealed?: boolean;
  readonly owner?: number | null;
  readonly shareDomain?: string;
  readonly kid?: number;
  /** As it was sealed before there were epochs. */
  readonly isVersion2?: boolean;
  readonly addressBox?: Uint8Array;
  /** The address that codes are mailed to. */
  readonly codeAddress?: string;
  /** Text, or what the client of an end-to-end sample has sealed. */
  readonly note?: Uint8Array;
}

/** The latest expiry that a sample can be given, four weeks after its creation. */
export const sampleLimit = 1_790_000_000 + 28 * 86_400;
/** That of its expiry, and its key. */
export const sampleEpoch: Epoch = { epoch: 20_724, key: seededRandom('epoch')(32) };

const keyAlphabet = '0123456789abcdefghijklmnopqrstuvwxyz';

export function sealedSample(options: SampleOptions = {}): SealedSample {
  const random = seededRandom(`sample ${options.seed ?? 'one'}`);
  const secretKey = randomText(keyAlphabet, 31, random);
  const root = { kid: options.kid ?? 1, key: random(32) };
  const sealed = options.sealed === true;
  const passphrase =
    options.hasPassphrase === true && !sealed
      ? { key: random(32), verifierHash: '$2b$04$abcdefghijklmnopqrstuuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ' }
      : null;
  const context = {
    secretId: deriveSecretId(secretKey),
    createdAt: 1_790_000_000,
    expiresAt: 1_790_604_800,
    hasPassphrase: options.hasPassphrase === true,
    sealed,
    verify: options.codeAddress !== undefined,
    owner: options.owner ?? null,
    shareDomain: options.shareDomain ?? '',
  };
  const value = new TextEncoder().encode(options.value ?? 'correct horse battery staple');
  const metadataKey = randomText(keyAlphabet, 31, random);
  const proofs = sealed ? { linkProof: random(32), proof: random(32) } : null;
  const epoch = options.isVersion2 === true ? null : sampleEpoch;
  const row = sealSecret({
    value,
    secretKey,
    metadataKey,
    addressBox: options.addressBox ?? null,
    salt: random(32),
    passphrase,
    proofs:
      proofs === null ? null : { linkHash: hashProof(proofs.linkProof), proofHash: hashProof(proofs.proof) },
    note: options.note ?? null,
    codeAddress: options.codeAddress === undefined ? null : new TextEncoder().encode(options.codeAddress),
    context,
    expiryLimit: sampleLimit,
    root,
    epoch,
    random,
  });
  const ring = createKeyRing([root]);
  return { row, secretKey, metadataKey, context, root, ring, epoch, value, passphrase, proofs };
}

/** The sample under another root, and with an expiry a minute later. */
export function rewrapped(sample: SealedSample): SealedSample {
  const root = { kid: 9, key: seededRandom('root')(32) };
  const expiry = { expiresAt: sample.context.expiresAt + 60, epoch: sampleEpoch };
  const keys = { ring: sample.ring, epochKey: sampleEpoch.key, random: seededRandom('another') };
  const row = rewrapSecret(sample.row, sample.context, keys, { root, expiry }) ?? new Uint8Array();
  const context = { ...sample.context, expiresAt: expiry.expiresAt };
  return { ...sample, row, context, root, ring: createKeyRing([root]) };
}

/** @throws Error if the row does not open */
export function unwrapped(sample: SealedSample, row = sample.row, ring = sample.ring): UnwrappedSecret {
  const outcome = unwrapSecret(row, sample.context, ring, sampleEpoch.key);
  if (outcome.outcome !== 'unwrapped') throw new Error(outcome.outcome);
  return outcome.secret;
}

/** A version byte, the key id, the latest expiry, the epoch, and the salt of the outer layer. */
const headBytesOf = (row: Uint8Array): number => 1 + 2 + 8 + (epochIn(row) === null ? 0 : 2) + 32;
const outerAadOf = (row: Uint8Array, context: SecretContext, root: RootKey): Uint8Array =>
  secretAads(context, expiryLimitOf(row) ?? 0, root.kid, epochIn(row)).outer;
function outerKeysOf(row: Uint8Array, root: RootKey, epochKey: Uint8Array) {
  const end = headBytesOf(row);
  const salt = row.subarray(end - 32, end);
  return epochIn(row) === null
    ? deriveOuterKeys(root.key, salt)
    : deriveEpochOuterKeys(root.key, epochKey, salt);
}

/** What is under a row's outer layer, opened with its root and the key of its epoch; `null` with others. */
export function underTheRoot(
  row: Uint8Array,
  context: SecretContext,
  root: RootKey,
  epochKey: Uint8Array = sampleEpoch.key,
): Uint8Array | null {
  return unseal(
    outerKeysOf(row, root, epochKey),
    row.subarray(headBytesOf(row)),
    outerAadOf(row, context, root),
  );
}

/** The row with something else under its outer layer, as the holder of its root can make it. */
export function sealedUnderTheRoot(
  inner: Uint8Array,
  row: Uint8Array,
  context: SecretContext,
  root: RootKey,
  epochKey: Uint8Array = sampleEpoch.key,
): Uint8Array {
  const sealed = seal(outerKeysOf(row, root, epochKey), inner, outerAadOf(row, context, root));
  return concat(row.subarray(0, headBytesOf(row)), sealed);
}

/** The stored bcrypt hash of the passphrase, which no server opens; `null` if none is set or the link is wrong. */
export function openVerifier(secret: UnwrappedSecret, secretKey: string): string | null {
  if (secret.sealedVerifier.length === 0) return null;
  const derive = secret.version === 1 ? version1.deriveVerifierKeys : deriveVerifierKeys;
  const opened = unseal(derive(secretKey, secret.salt), secret.sealedVerifier, secret.aad);
  const hash = opened?.subarray(0, opened.length % sealedNoteBytes);
  return hash === undefined || hash.length === 0 ? null : new TextDecoder().decode(hash);
}
