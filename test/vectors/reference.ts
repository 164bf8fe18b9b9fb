/**
 * A second implementation of the record format, written only from its description.
 *
 * It uses none of the product's code and only `node:crypto`; even HKDF is built here from HMAC (RFC 5869), so that
 * agreement between the two means something. It is written to be read, not to be fast.
 */
import { argon2Sync, createCipheriv, createDecipheriv, createHash, createHmac } from 'node:crypto';

export function hkdfSha256(ikm: Buffer, salt: Buffer, info: Buffer, length: number): Buffer {
  const prk = createHmac('sha256', salt.length === 0 ? Buffer.alloc(32) : salt)
    .update(ikm)
    .digest();
  let block = Buffer.alloc(0);
  let okm = Buffer.alloc(0);
  for (let counter = 1; okm.length < length; counter += 1) {
    block = createHmac('sha256', prk)
      .update(block)
      .update(info)
      .update(Buffer.of(counter))
      .digest();
    okm = Buffer.concat([okm, block]);
  }
  return okm.subarray(0, length);
}

export function gcmSeal(keyAndNonce: Buffer, plaintext: Buffer, aad: Buffer): Buffer {
  const cipher = createCipheriv('aes-256-gcm', keyAndNonce.subarray(0, 32), keyAndNonce.subarray(32, 44));
  cipher.setAAD(aad);
  return Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
}

/** Throws when the tag does not match. */
export function gcmOpen(keyAndNonce: Buffer, sealed: Buffer, aad: Buffer): Buffer {
  const [key, nonce] = [keyAndNonce.subarray(0, 32), keyAndNonce.subarray(32, 44)];
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: 16 });
  decipher.setAAD(aad);
  decipher.setAuthTag(sealed.subarray(-16));
  return Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()]);
}

const text = (value: string): Buffer => Buffer.from(value, 'utf8');
const u16 = (value: number): Buffer => Buffer.of(value >> 8, value & 255);
const u32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
const u64 = (value: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
};
/** lp: u32 length ‖ bytes. */
const lp = (bytes: Buffer): Buffer => Buffer.concat([u32(bytes.length), bytes]);
/** u32 length ‖ value ‖ zeros to a multiple of the bucket. */
const padded = (value: Buffer, bucket: number): Buffer => {
  const bytes = Buffer.alloc(Math.ceil((value.length + 4) / bucket) * bucket);
  lp(value).copy(bytes);
  return bytes;
};

const none = Buffer.alloc(0);

export const secretIdOf = (secretKey: string): Buffer =>
  hkdfSha256(text(secretKey), none, text('mayfly/1/sid'), 16);
export const requestIdOf = (requestKey: string): Buffer =>
  hkdfSha256(text(requestKey), none, text('mayfly/1/rid'), 16);
export const answerIdOf = (requestKey: string, linkHash: Buffer): Buffer =>
  hkdfSha256(Buffer.concat([text(requestKey), linkHash]), none, text('mayfly/1/answer-id'), 16);
export const receiptIdOf = (metadataKey: string): Buffer =>
  hkdfSha256(text(metadataKey), none, text('mayfly/1/mid'), 16);
export const passphraseSaltOf = (secretKey: string, salt: Buffer): Buffer =>
  hkdfSha256(text(secretKey), salt, text('mayfly/1/pass-salt'), 16);
export const passphraseKeyOf = (passphrase: string, salt: Buffer): Buffer =>
  argon2Sync('argon2id', {
    message: text(passphrase),
    nonce: salt,
    memory: 19 * 1024,
    passes: 2,
    parallelism: 1,
    tagLength: 32,
  });
export const verifierInputOf = (passphraseKey: Buffer, salt: Buffer): string =>
  hkdfSha256(passphraseKey, salt, text('mayfly/1/pass-verify'), 32).toString('base64');
/** SP 800-56C, one step: SHA-512(u32 1 ‖ key material ‖ label in 16 bytes ‖ salt). */
const oneStep = (material: Buffer, label: string, salt: Buffer): Buffer =>
  createHash('sha512')
    .update(Buffer.concat([u32(1), material, Buffer.concat([text(label), Buffer.alloc(16)]).subarray(0, 16), salt]))
    .digest();
const zeroNonce = Buffer.alloc(12);
/** key(32) ‖ nonce(12) ‖ commitment(32) */
export const innerOf = (secretKey: string, passphraseKey: Buffer, salt: Buffer): Buffer => {
  const bytes = oneStep(Buffer.concat([text(secretKey), passphraseKey]), 'mayfly/2/inner', salt);
  return Buffer.concat([bytes.subarray(0, 32), zeroNonce, bytes.subarray(32)]);
};
export const verifierKeysOf = (secretKey: string, salt: Buffer): Buffer =>
  oneStep(text(secretKey), 'mayfly/2/verifier', salt).subarray(0, 44);
export const proofKeysOf = (secretKey: string, salt: Buffer): Buffer =>
  oneStep(text(secretKey), 'mayfly/2/proofs', salt).subarray(0, 44);
export const verifyKeysOf = (link: string, salt: Buffer) => oneStep(text(link), 'mayfly/2/verify', salt).subarray(0, 44);
export const codeTagOf = (secretKey: string, nonce: Buffer, code: string): Buffer =>
  hkdfSha256(Buffer.concat([text(secretKey), nonce, text(code)]), none, text('mayfly/1/code'), 16);
export const proofHashOf = (proof: Buffer): Buffer => createHash('sha256').update(proof).digest();
export const outerOf = (root: Buffer, salt: Buffer): Buffer =>
  oneStep(root, 'mayfly/2/outer', salt).subarray(0, 44);
export const epochOuterOf = (root: Buffer, epochKey: Buffer, salt: Buffer): Buffer =>
  oneStep(Buffer.concat([root, epochKey]), 'mayfly/4/outer', salt).subarray(0, 44);
export const creatorMaskOf = (metadataKey: string, salt: Buffer): Buffer =>
  oneStep(text(metadataKey), 'mayfly/2/creator', salt).subarray(0, 31);
const xor = (one: Buffer, other: Buffer): Buffer => Buffer.from(one.map((byte, at) => byte ^ (other[at] ?? 0)));
export const clientTokenOf = (root: Buffer, secretId: Buffer, prefix: string): Buffer =>
  hkdfSha256(root, secretId, text(`mayfly/1/client/${prefix}`), 16);
const hashOf = (...parts: Buffer[]): Buffer => createHash('sha256').update(Buffer.concat(parts)).digest();
export const tokenHashOf = (token: Buffer): Buffer => hashOf(text('mayfly/1/token'), token);
export const sessionHashOf = (token: Buffer): Buffer => hashOf(text('mayfly/1/session'), token);
export const ticketHashOf = (ticket: Buffer): Buffer => hashOf(text('mayfly/1/ticket'), ticket);
export const passwordVerifierOf = (stretched: Buffer, salt: Buffer): Buffer =>
  hkdfSha256(stretched, salt, text('mayfly/1/password-verify'), 32);
export const formTokenOf = (sessionToken: Buffer): Buffer =>
  hkdfSha256(sessionToken, none, text('mayfly/1/form'), 16);
export const mailboxKeyOf = (root: Buffer): Buffer => hkdfSha256(root, none, text('mayfly/1/mailbox'), 32);
export const limitKeyOf = (root: Buffer): Buffer => hkdfSha256(root, none, text('mayfly/1/limit'), 32);
export const rootCheckOf = (root: Buffer): Buffer =>
  createHmac('sha256', root).update('mayfly/1/check').digest();

export interface ReferenceContext {
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly hasPassphrase: boolean;
  /** End-to-end, and needs a code; never in version 1. */
  readonly sealed?: boolean;
  readonly verify?: boolean;
  readonly owner: number | null;
  readonly shareDomain: string;
}

const fieldsOf = (label: string, secretId: Buffer, context: ReferenceContext, ends: number): Buffer =>
  Buffer.concat([
    lp(text(label)),
    lp(secretId),
    u64(context.createdAt),
    u64(ends),
    Buffer.of((context.hasPassphrase ? 1 : 0) + (context.sealed === true ? 2 : 0) + (context.verify === true ? 4 : 0)),
    lp(context.owner === null ? none : u64(context.owner)),
    lp(text(context.shareDomain)),
  ]);

export const aadOf = (secretId: Buffer, context: ReferenceContext, limit: number): Buffer =>
  fieldsOf('mayfly/2/secret', secretId, context, limit);
export const outerAadOf = (aad: Buffer, kid: number, expiresAt: number): Buffer =>
  Buffer.concat([aad, u16(kid), u64(expiresAt)]);

/** Of version 4: the day's number and its key. */
export interface ReferenceEpoch {
  readonly epoch: number;
  readonly key: Buffer;
}

export interface ReferenceRow {
  readonly secretKey: string;
  readonly value: Buffer;
  /** R, R2 and the bcrypt hash are random, so they are inputs. `passphrase` is `null` when there is none. */
  readonly passphrase: { readonly text: string; readonly verifierHash: string } | null;
  readonly r: Buffer;
  readonly r2: Buffer;
  readonly root: Buffer;
  readonly kid: number;
  readonly context: ReferenceContext;
}

export interface ReferenceRow2 extends ReferenceRow {
  readonly metadataKey: string;
  /** Empty without a recipient. */
  readonly addressBox: Buffer;
  readonly limit: number;
  /** Of an end-to-end row: link hash ‖ proof hash. */
  readonly proofHashes?: Buffer;
  /** Text, or the 576 bytes of an end-to-end row; absent or empty without one. */
  readonly note?: Buffer;
  /** Where codes are mailed, if the row needs them. */
  readonly codeAddress?: string;
  /** Version 4 with it, else version 2. */
  readonly epoch?: ReferenceEpoch;
}

const passphraseKeyFor = (secretKey: string, passphrase: string | null, salt: Buffer): Buffer =>
  passphrase === null ? none : passphraseKeyOf(passphrase, passphraseSaltOf(secretKey, salt));

export function sealRow(input: ReferenceRow2): Buffer {
  const { secretKey, metadataKey, r, r2, limit, kid } = input;
  const aad = aadOf(secretIdOf(secretKey), input.context, limit);
  const inner = innerOf(secretKey, passphraseKeyFor(secretKey, input.passphrase?.text ?? null, r), r);
  const pad = input.proofHashes === undefined ? padded(input.value, 256) : lp(input.value);
  const body = Buffer.concat([inner.subarray(44, 76), gcmSeal(inner, pad, aad)]);
  const verifier = (): Buffer => {
    const hashes = input.proofHashes;
    const given = input.note ?? none;
    const note = given.length === 0 || hashes !== undefined ? given : padded(given, 576);
    if (hashes !== undefined) return gcmSeal(proofKeysOf(secretKey, r), Buffer.concat([hashes, note]), aad);
    if (input.passphrase === null && note.length === 0) return none;
    const hash = text(input.passphrase?.verifierHash ?? '');
    return gcmSeal(verifierKeysOf(secretKey, r), Buffer.concat([hash, note]), aad);
  };
  const { codeAddress, epoch } = input;
  const mailbox = codeAddress === undefined ? none : padded(text(codeAddress), 384);
  const verify = mailbox.length === 0 ? none : gcmSeal(verifyKeysOf(secretKey, r), mailbox, aad);
  const named = epoch === undefined ? none : u16(epoch.epoch);
  const sealed = gcmSeal(
    epoch === undefined ? outerOf(input.root, r2) : epochOuterOf(input.root, epoch.key, r2),
    Buffer.concat([
      r,
      xor(text(secretKey), creatorMaskOf(metadataKey, r)),
      lp(input.addressBox),
      ...[lp(verifier()), verify],
      body,
    ]),
    Buffer.concat([outerAadOf(aad, kid, input.context.expiresAt), named]),
  );
  return Buffer.concat([Buffer.of(epoch === undefined ? 2 : 4), u16(kid), u64(limit), named, r2, sealed]);
}

export interface OpenedRow {
  readonly value: Buffer;
  readonly verifierHash: string | null;
}

interface RowKeys {
  readonly root: Buffer;
  readonly secretKey: string;
  readonly passphrase: string | null;
  readonly context: ReferenceContext;
}

export interface OpenedRow2 extends OpenedRow {
  readonly addressBox: Buffer;
  /** As the holder of the metadata key reads it. */
  readonly secretKey: string;
  /** Of an end-to-end row: link hash ‖ proof hash; else empty. */
  readonly proofHashes: Buffer;
  /** Empty without one. */
  readonly note: Buffer;
}

interface Parts {
  readonly r: Buffer;
  readonly verifier: Buffer;
  readonly body: Buffer;
  readonly aad: Buffer;
}

function openParts(
  { r, verifier, body, aad }: Parts,
  keys: RowKeys,
  derive: { readonly inner: typeof innerOf; readonly verifier: typeof verifierKeysOf },
): OpenedRow {
  const derived = derive.inner(keys.secretKey, passphraseKeyFor(keys.secretKey, keys.passphrase, r), r);
  if (!derived.subarray(44).equals(body.subarray(0, 32))) throw new Error('not the commitment');
  const pad = gcmOpen(derived, body.subarray(32), aad);
  const hash = () => gcmOpen(derive.verifier(keys.secretKey, r), verifier, aad).toString('utf8');
  return {
    value: pad.subarray(4, 4 + pad.readUInt32BE(0)),
    verifierHash: verifier.length === 0 ? null : hash(),
  };
}

/** The bytes of a length-prefixed field, and where the next one begins. */
function fieldAt(bytes: Buffer, at: number): { readonly field: Buffer; readonly end: number } {
  const end = at + 4 + bytes.readUInt32BE(at);
  return { field: bytes.subarray(at + 4, end), end };
}

/** Throws when anything does not match. */
export function openRow(
  row: Buffer,
  keys: RowKeys & { readonly metadataKey: string; readonly epoch?: ReferenceEpoch },
): OpenedRow2 {
  const { epoch } = keys;
  if (row.readUInt8(0) !== (epoch === undefined ? 2 : 4)) throw new Error('another version');
  const named = epoch === undefined ? none : row.subarray(11, 13);
  const saltAt = 11 + named.length;
  const r2 = row.subarray(saltAt, saltAt + 32);
  const aad = aadOf(secretIdOf(keys.secretKey), keys.context, Number(row.readBigUInt64BE(3)));
  const outerAad = Buffer.concat([outerAadOf(aad, row.readUInt16BE(1), keys.context.expiresAt), named]);
  const outerKeys = epoch === undefined ? outerOf(keys.root, r2) : epochOuterOf(keys.root, epoch.key, r2);
  const inner = gcmOpen(outerKeys, row.subarray(saltAt + 32), outerAad);
  const r = inner.subarray(0, 32);
  const address = fieldAt(inner, 63);
  const verifier = fieldAt(inner, address.end);
  const isSealed = keys.context.sealed === true;
  const parts = { r, verifier: none, body: inner.subarray(verifier.end), aad };
  const boxKeys = (isSealed ? proofKeysOf : verifierKeysOf)(keys.secretKey, r);
  const box = verifier.field.length === 0 ? none : gcmOpen(boxKeys, verifier.field, aad);
  const hashBytes = isSealed ? 64 : keys.context.hasPassphrase ? 60 : 0;
  const hash = box.subarray(0, hashBytes);
  return {
    ...openParts(parts, keys, { inner: innerOf, verifier: verifierKeysOf }),
    proofHashes: isSealed ? hash : none,
    verifierHash: isSealed || hashBytes === 0 ? null : hash.toString('utf8'),
    note: isSealed || box.length === hashBytes ? box.subarray(hashBytes) : fieldAt(box, hashBytes).field,
    addressBox: address.field,
    secretKey: xor(inner.subarray(32, 63), creatorMaskOf(keys.metadataKey, r)).toString('latin1'),
  };
}

/** Version 1: everything from HKDF, both layers bound to the expiry, the creator's box beside the row. */
const inner1 = (secretKey: string, passphraseKey: Buffer, salt: Buffer): Buffer =>
  hkdfSha256(Buffer.concat([text(secretKey), passphraseKey]), salt, text('mayfly/1/inner'), 76);
const verifier1 = (secretKey: string, salt: Buffer): Buffer =>
  hkdfSha256(text(secretKey), salt, text('mayfly/1/verifier'), 44);
const outer1 = (root: Buffer, kid: number, salt: Buffer): Buffer =>
  hkdfSha256(root, salt, Buffer.concat([text('mayfly/1/outer'), u16(kid)]), 44);
const aad1 = (secretId: Buffer, context: ReferenceContext): Buffer =>
  fieldsOf('mayfly/1/secret', secretId, context, context.expiresAt);

export const version1 = {
  innerOf: inner1,
  verifierKeysOf: verifier1,
  outerOf: outer1,
  aadOf: aad1,

  sealRow(input: ReferenceRow): Buffer {
    const { secretKey, r, r2 } = input;
    const aad = aad1(secretIdOf(secretKey), input.context);
    const inner = inner1(secretKey, passphraseKeyFor(secretKey, input.passphrase?.text ?? null, r), r);
    const body = Buffer.concat([inner.subarray(44, 76), gcmSeal(inner, padded(input.value, 256), aad)]);
    const verifier =
      input.passphrase === null
        ? none
        : gcmSeal(verifier1(secretKey, r), text(input.passphrase.verifierHash), aad);
    const covered = Buffer.concat([r, lp(verifier), lp(body)]);
    const sealed = gcmSeal(outer1(input.root, input.kid, r2), covered, aad);
    return Buffer.concat([Buffer.of(1), u16(input.kid), r2, sealed]);
  },

  /** Throws when anything does not match. */
  openRow(row: Buffer, keys: RowKeys): OpenedRow {
    if (row.readUInt8(0) !== 1) throw new Error('not version 1');
    const aad = aad1(secretIdOf(keys.secretKey), keys.context);
    const outer = outer1(keys.root, row.readUInt16BE(1), row.subarray(3, 35));
    const inner = gcmOpen(outer, row.subarray(35), aad);
    const verifier = fieldAt(inner, 32);
    const parts = { r: inner.subarray(0, 32), verifier: verifier.field, aad };
    const { field: body } = fieldAt(inner, verifier.end);
    return openParts({ ...parts, body }, keys, { inner: inner1, verifier: verifier1 });
  },

  /** u8 1 ‖ u16 kid ‖ salt(32) ‖ AES-256-GCM(outer keys, box), the same additional data as the box. */
  wrapCreatorBox(
    box: Buffer,
    binding: Buffer,
    root: { readonly key: Buffer; readonly kid: number },
    salt: Buffer,
  ): Buffer {
    const aad = Buffer.concat([lp(text('mayfly/1/creator')), lp(binding)]);
    const sealed = gcmSeal(outer1(root.key, root.kid, salt), box, aad);
    return Buffer.concat([Buffer.of(1), u16(root.kid), salt, sealed]);
  },
};

export type ReferenceBoxLabel =
  | 'creator'
  | 'details'
  | 'recent'
  | 'note'
  | 'address'
  | 'cursor'
  | 'memo'
  | 'answer'
  | 'adk';

/** A memo is padded to 256 bytes, or to 2,048 if it does not fit; everything else to a multiple of 64. */
const bucketOf = (label: ReferenceBoxLabel, content: Buffer): number =>
  label !== 'memo' ? 64 : content.length <= 252 ? 256 : 2048;

/** salt(32) ‖ AES-256-GCM(key from the holder's key and the salt, padded text), aad = lp(label) lp(binding). */
export function sealBox(
  label: ReferenceBoxLabel,
  holderKey: Buffer,
  binding: Buffer,
  content: Buffer,
  salt: Buffer,
): Buffer {
  const keys = hkdfSha256(holderKey, salt, text(`mayfly/1/${label}`), 44);
  const aad = Buffer.concat([lp(text(`mayfly/1/${label}`)), lp(binding)]);
  return Buffer.concat([salt, gcmSeal(keys, padded(content, bucketOf(label, content)), aad)]);
}

/** The recent box's content: lp(metadata key) lp(first six characters of the secret key) lp(obfuscated recipient). */
export const recentContentOf = (metadataKey: string, secretKey: string, recipient: string): Buffer =>
  Buffer.concat([lp(text(metadataKey)), lp(text(secretKey.slice(0, 6))), lp(text(recipient))]);

/** The stored form of the secret key's first six characters: XOR with SHA-256 over a fixed text and the metadata key. */
export const shortkeyKeptOf = (metadataKey: string, secretKey: string): Buffer => {
  const mask = createHash('sha256').update('mayfly/1/shortkey').update(metadataKey).digest();
  return Buffer.from(text(secretKey.slice(0, 6)).map((byte, at) => byte ^ (mask[at] ?? 0)));
};

/** The region's label in a key, masked with SHA-256 over a fixed text and the first 29 characters. */
export function regionLabelOf(key: string): string {
  const digits = '0123456789abcdefghijklmnopqrstuvwxyz';
  const mask = createHash('sha256').update('mayfly/1/region').update(key.slice(0, 29)).digest().subarray(0, 6);
  const sum = digits.indexOf(key.charAt(29)) * 36 + digits.indexOf(key.charAt(30));
  const label = Number((BigInt(sum) + 1296n * 2n ** 48n - BigInt(`0x${mask.toString('hex')}`)) % 1296n);
  return digits.charAt(Math.floor(label / 36)) + digits.charAt(label % 36);
}

/** The note box's content: lp(obfuscated recipient, or empty) lp(the mail server's reply, or empty). */
export const noteContentOf = (recipient: string, reply: string): Buffer =>
  Buffer.concat([lp(text(recipient)), lp(text(reply))]);

/** The answer box's content: secret key, receipt id, wrapped end of the link, hash of its proof, u64 time, u32 size. */
export function answerContentOf(answer: {
  readonly secretKey: string;
  readonly receiptId: Buffer;
  readonly wrapped: Buffer;
  readonly linkHash: Buffer;
  readonly createdAt: number;
  readonly sizeBytes: number;
}): Buffer {
  const numbers = Buffer.alloc(12);
  numbers.writeBigUInt64BE(BigInt(answer.createdAt), 0);
  numbers.writeUInt32BE(answer.sizeBytes, 8);
  return Buffer.concat([text(answer.secretKey), answer.receiptId, answer.wrapped, answer.linkHash, numbers]);
}

/** The key of the address box: the metadata key followed by the secret key. */
export const addressKeyOf = (metadataKey: string, secretKey: string): Buffer => text(metadataKey + secretKey);
