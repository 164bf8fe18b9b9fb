/**
 * HKDF-SHA-256 (RFC 5869), and for the envelope the one-step derivation of NIST SP 800-56C. Each use of a key has its own label, which
 * includes the format's version: a new algorithm or layout gets new labels and so new keys. `test/vectors/` pins all of them.
 */
import { createHmac, hash, hkdfSync } from 'node:crypto';
import { concat, part, utf8 } from './bytes.ts';

const labels = {
  secretId: 'mayfly/1/sid',
  receiptId: 'mayfly/1/mid',
  requestId: 'mayfly/1/rid',
  answerId: 'mayfly/1/answer-id',
  passphraseSalt: 'mayfly/1/pass-salt',
  passphraseVerify: 'mayfly/1/pass-verify',
  inner1: 'mayfly/1/inner',
  verifier1: 'mayfly/1/verifier',
  outer1: 'mayfly/1/outer',
  creator: 'mayfly/1/creator',
  details: 'mayfly/1/details',
  recent: 'mayfly/1/recent',
  note: 'mayfly/1/note',
  address: 'mayfly/1/address',
  cursor: 'mayfly/1/cursor',
  memo: 'mayfly/1/memo',
  answer: 'mayfly/1/answer',
  accountDataKey: 'mayfly/1/adk',
  passwordVerify: 'mayfly/1/password-verify',
  formToken: 'mayfly/1/form',
  client: 'mayfly/1/client',
  mailbox: 'mayfly/1/mailbox',
  limit: 'mayfly/1/limit',
  creationId: 'mayfly/1/idem-id',
  creationSecret: 'mayfly/1/idem-secret',
  creationReceipt: 'mayfly/1/idem-receipt',
  creationValue: 'mayfly/1/idem-value',
  creationBody: 'mayfly/1/idem-body',
  lookId: 'mayfly/1/look-id',
  look: 'mayfly/1/look',
  lookOuter: 'mayfly/1/look-outer',
  code: 'mayfly/1/code',
} as const;

const envelopeLabels = {
  inner: 'mayfly/2/inner',
  verifier: 'mayfly/2/verifier',
  proofs: 'mayfly/2/proofs',
  verify: 'mayfly/2/verify',
  outer: 'mayfly/2/outer',
  epochOuter: 'mayfly/4/outer',
  creator: 'mayfly/2/creator',
} as const;

function inUtf8<Name extends string>(texts: Readonly<Record<Name, string>>): Record<Name, Uint8Array> {
  const entries = Object.entries<string>(texts).map(([name, text]) => [name, utf8(text)]);
  return Object.fromEntries(entries) as Record<Name, Uint8Array>;
}

const info = inUtf8(labels);
const envelopeInfo = inUtf8(envelopeLabels);
const noSalt = new Uint8Array(0);
const tokenPrefixes = {
  token: utf8('mayfly/1/token'),
  session: utf8('mayfly/1/session'),
  ticket: utf8('mayfly/1/ticket'),
};
const checkText = utf8('mayfly/1/check');
const regionText = 'mayfly/1/region';
const shortkeyText = 'mayfly/1/shortkey';

/** Encodes as Latin-1, which copies ASCII byte for byte at the lowest cost. */
function ascii(text: string): Uint8Array {
  return Buffer.from(text, 'latin1');
}

function hkdf(ikm: Uint8Array, salt: Uint8Array, label: Uint8Array, length: number): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', ikm, salt, label, length));
}

const counterBytes = 4;
const labelBytes = 16;
const saltBytes = 32;
/** Length of a secret key or metadata key. */
const keyCharacters = 31;

/**
 * Derives keys by NIST SP 800-56C rev. 2, section 4.1, with SHA-512, at a third of the cost of HKDF: the 64 bytes of
 *
 *   SHA-512( u32 1 ‖ key material ‖ label, zeros to 16 bytes ‖ salt(32) )
 *
 * Label and salt come last and have fixed lengths, so no two inputs are encoded alike. Anyone with all 64 bytes can extend the input, so
 * no caller gives away more than half of them.
 * @param material at least 149 bits of entropy: a link key with or without a stretched passphrase, or a root with or without an epoch's key
 */
function oneStep(
  material: string | Uint8Array,
  label: keyof typeof envelopeLabels,
  salt: Uint8Array,
): Uint8Array {
  const ikm = typeof material === 'string' ? ascii(material) : material;
  const message = new Uint8Array(counterBytes + ikm.length + labelBytes + saltBytes);
  message[counterBytes - 1] = 1;
  message.set(ikm, counterBytes);
  message.set(envelopeInfo[label], counterBytes + ikm.length);
  message.set(salt, counterBytes + ikm.length + labelBytes);
  return hash('sha512', message, 'buffer');
}

/** A 32-byte AES key and a 12-byte nonce, for one encryption. */
export interface SealKeys {
  readonly key: Uint8Array;
  readonly nonce: Uint8Array;
}

function sealKeys(bytes: Uint8Array): SealKeys {
  return { key: part(bytes, 0, 32), nonce: part(bytes, 32, 44) };
}

/** Derives 16 bytes that do not reveal the key. */
export function deriveSecretId(secretKey: string): Uint8Array {
  return hkdf(ascii(secretKey), noSalt, info.secretId, 16);
}

/** Derives 16 bytes that do not reveal the key. */
export function deriveReceiptId(metadataKey: string): Uint8Array {
  return hkdf(ascii(metadataKey), noSalt, info.receiptId, 16);
}

/** Derives 16 bytes that do not reveal the key. */
export function deriveRequestId(requestKey: string): Uint8Array {
  return hkdf(ascii(requestKey), noSalt, info.requestId, 16);
}

/** Derives 16 bytes that reveal neither the request key nor the answer's secret; a key has a fixed length. @param linkHash 32 bytes */
export function deriveAnswerId(requestKey: string, linkHash: Uint8Array): Uint8Array {
  return hkdf(concat(ascii(requestKey), linkHash), noSalt, info.answerId, 16);
}

/** Derives the argon2id salt, 16 bytes. */
export function derivePassphraseSalt(secretKey: string, salt: Uint8Array): Uint8Array {
  return hkdf(ascii(secretKey), salt, info.passphraseSalt, 16);
}

/** Derives the input for bcrypt: 44 base64 characters, so bcrypt cuts nothing off at 72 bytes or a NUL (P15). */
export function derivePassphraseVerifierInput(passphraseKey: Uint8Array, salt: Uint8Array): string {
  return Buffer.from(hkdf(passphraseKey, salt, info.passphraseVerify, 32)).toString('base64');
}

export interface InnerKeys extends SealKeys {
  /** 32 bytes that commit to the key: AES-GCM alone does not. */
  readonly commitment: Uint8Array;
}

/** Concatenates both keys. This is unambiguous, because a secret key has a fixed length. */
function innerMaterial(secretKey: string, passphraseKey: Uint8Array | null): Uint8Array {
  const link = ascii(secretKey);
  return passphraseKey === null ? link : concat(link, passphraseKey);
}

/** For keys that are derived with a fresh salt and seal only once. */
const zeroNonce = new Uint8Array(12);

/**
 * Derives the keys of the layer under link and passphrase.
 * @param passphraseKey 32 bytes; `null` without a passphrase
 * @param salt 32 random bytes, fresh for each envelope
 */
export function deriveInnerKeys(
  secretKey: string,
  passphraseKey: Uint8Array | null,
  salt: Uint8Array,
): InnerKeys {
  const bytes = oneStep(innerMaterial(secretKey, passphraseKey), 'inner', salt);
  return { key: part(bytes, 0, 32), nonce: zeroNonce, commitment: part(bytes, 32, 64) };
}

/** Derives the keys that seal the bcrypt hash under the link. */
export function deriveVerifierKeys(secretKey: string, salt: Uint8Array): SealKeys {
  return sealKeys(oneStep(secretKey, 'verifier', salt));
}

/** Derives the keys that seal the hashes of an end-to-end secret's proofs under the link. */
export function deriveProofKeys(secretKey: string, salt: Uint8Array): SealKeys {
  return sealKeys(oneStep(secretKey, 'proofs', salt));
}

/** Derives the keys that seal the address for codes under the link. */
export function deriveVerifyKeys(secretKey: string, salt: Uint8Array): SealKeys {
  return sealKeys(oneStep(secretKey, 'verify', salt));
}

/** Returns 32 bytes. A proof has at least 128 random bits, so a plain hash is enough. */
export function hashProof(proof: Uint8Array): Uint8Array {
  return hash('sha256', proof, 'buffer');
}

/** Derives the keys of the layer under the server's root. */
export function deriveOuterKeys(root: Uint8Array, salt: Uint8Array): SealKeys {
  return sealKeys(oneStep(root, 'outer', salt));
}

/** Derives the keys of the layer under both root and epoch's key. Each has 32 bytes, so their concatenation is unambiguous. */
export function deriveEpochOuterKeys(root: Uint8Array, epochKey: Uint8Array, salt: Uint8Array): SealKeys {
  return sealKeys(oneStep(concat(root, epochKey), 'epochOuter', salt));
}

/** Derives the mask of a secret key for its creator: 31 bytes. It must never mask anything else. */
export function deriveCreatorMask(metadataKey: string, salt: Uint8Array): Uint8Array {
  return part(oneStep(metadataKey, 'creator', salt), 0, keyCharacters);
}

/** Derivations for version 1 of the envelope. */
export const version1 = {
  deriveInnerKeys(secretKey: string, passphraseKey: Uint8Array | null, salt: Uint8Array): InnerKeys {
    const bytes = hkdf(innerMaterial(secretKey, passphraseKey), salt, info.inner1, 76);
    return { ...sealKeys(bytes), commitment: part(bytes, 44, 76) };
  },
  deriveVerifierKeys: (secretKey: string, salt: Uint8Array): SealKeys =>
    sealKeys(hkdf(ascii(secretKey), salt, info.verifier1, 44)),
  /** The key id is part of the label. */
  deriveOuterKeys(root: Uint8Array, kid: number, salt: Uint8Array): SealKeys {
    const label = concat(info.outer1, Uint8Array.of(kid >> 8, kid & 0xff));
    return sealKeys(hkdf(root, salt, label, 44));
  },
} as const;

/** Identifies an opener's nonce for one secret: 16 bytes that do not reveal the nonce. */
export function deriveLookTag(nonce: Uint8Array, secretId: Uint8Array): Uint8Array {
  return hkdf(concat(nonce, secretId), noSalt, info.lookId, 16);
}

/**
 * Derives the keys of a second look's inner layer. Link and nonce have fixed lengths, so their concatenation is unambiguous.
 * @param salt 12 fresh random bytes
 */
export function deriveLookKeys(secretKey: string, nonce: Uint8Array, salt: Uint8Array): SealKeys {
  return sealKeys(hkdf(concat(ascii(secretKey), nonce), salt, info.look, 44));
}

/** Derives the keys of a second look's layer under the server's root. @param salt 16 fresh random bytes */
export function deriveLookOuterKeys(root: Uint8Array, salt: Uint8Array): SealKeys {
  return sealKeys(hkdf(root, salt, info.lookOuter, 44));
}

/** Identifies a code for one opener: 16 bytes that reveal no code without link and nonce. All three have fixed lengths. */
export function deriveCodeTag(secretKey: string, nonce: Uint8Array, code: string): Uint8Array {
  return hkdf(concat(ascii(secretKey), nonce, ascii(code)), noSalt, info.code, 16);
}

/** Derives the key for counting mailboxes: 32 bytes, the same on every node with this root. */
export function deriveMailboxKey(root: Uint8Array): Uint8Array {
  return hkdf(root, noSalt, info.mailbox, 32);
}

/** Derives the key for hashing clients in the rate limits that nodes share: 32 bytes. */
export function deriveLimitKey(root: Uint8Array): Uint8Array {
  return hkdf(root, noSalt, info.limit, 32);
}

export type BoxLabel =
  | 'creator'
  | 'details'
  | 'recent'
  | 'note'
  | 'address'
  | 'cursor'
  | 'memo'
  | 'answer'
  | 'accountDataKey';

/**
 * Derives keys from the metadata key for the creator, details, note and memo; from metadata key and secret key together for the address;
 * from the request key for an answer; from 32-byte keys for the others.
 */
export function deriveBoxKeys(label: BoxLabel, keyMaterial: Uint8Array, salt: Uint8Array): SealKeys {
  return sealKeys(hkdf(keyMaterial, salt, info[label], 44));
}

/** Derives the token for counting a client's guesses at one secret without storing the client's address: 16 bytes. */
export function deriveClientToken(root: Uint8Array, secretId: Uint8Array, clientPrefix: string): Uint8Array {
  return hkdf(root, secretId, concat(info.client, utf8(`/${clientPrefix}`)), 16);
}

/** Hashes a token for the store: 32 bytes. 256 random bits need no slow hash (ASVS 6.5.2). The prefix keeps the kinds apart. */
export function hashToken(token: Uint8Array, kind: keyof typeof tokenPrefixes = 'token'): Uint8Array {
  return hash('sha256', concat(tokenPrefixes[kind], token), 'buffer');
}

/** Derives an idempotent creation's id: 16 bytes that do not reveal its token. */
export function deriveCreationId(material: Uint8Array): Uint8Array {
  return hkdf(material, noSalt, info.creationId, 16);
}

export type CreationLabel = 'creationSecret' | 'creationReceipt' | 'creationValue' | 'creationBody';

/**
 * Derives the bytes that an idempotent creation draws from, or the key of its body's MAC; needs token and seed.
 * @param length up to 8,160; a shorter output is a prefix of a longer one
 */
export function deriveCreationBytes(
  label: CreationLabel,
  material: Uint8Array,
  seed: Uint8Array,
  length: number,
): Uint8Array {
  return hkdf(material, seed, info[label], length);
}

/** Derives the value that identifies a password in the store: 32 bytes. */
export function derivePasswordVerifier(stretched: Uint8Array, salt: Uint8Array): Uint8Array {
  return hkdf(stretched, salt, info.passwordVerify, 32);
}

/** Derives the token that binds a form to a session: 16 bytes that do not reveal the session token. */
export function deriveFormToken(sessionToken: Uint8Array): Uint8Array {
  return hkdf(sessionToken, noSalt, info.formToken, 16);
}

/**
 * Returns the mask of the region's tag in a key: below 2^48, different for each head, so one key's tag reveals nothing about another's.
 * @param head the ASCII characters of a key before its tag
 */
export function regionMask(head: string): number {
  return hash('sha256', regionText + head, 'buffer').readUIntBE(0, 6);
}

/** Returns a shortkey's mask in the store: six bytes. A metadata key has 160 random bits and a fixed length, so a plain hash is enough. */
export function shortkeyMask(metadataKey: string): Uint8Array {
  return part(hash('sha256', shortkeyText + metadataKey, 'buffer'), 0, 6);
}

/** Returns 32 bytes that prove at startup that this store was written with the root. */
export function rootCheck(root: Uint8Array): Uint8Array {
  return createHmac('sha256', root).update(checkText).digest();
}
