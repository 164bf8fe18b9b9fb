/**
 * A second implementation of the second look's row, written only from its description; see `reference.ts`.
 */
import { aadOf, gcmOpen, gcmSeal, hkdfSha256, outerOf, type ReferenceContext, secretIdOf } from './reference.ts';

const text = (value: string): Buffer => Buffer.from(value, 'ascii');
const number = (value: number, bytes: number): Buffer => {
  const whole = Buffer.alloc(8);
  whole.writeBigUInt64BE(BigInt(value));
  return whole.subarray(8 - bytes);
};
const lp = (bytes: Buffer): Buffer => Buffer.concat([number(bytes.length, 4), bytes]);
const none = Buffer.alloc(0);

export const lookTagOf = (nonce: Buffer, secretId: Buffer): Buffer =>
  hkdfSha256(Buffer.concat([nonce, secretId]), none, text('mayfly/1/look-id'), 16);
/** key(32) ‖ nonce(12) */
export const lookKeysOf = (secretKey: string, nonce: Buffer, salt: Buffer): Buffer =>
  hkdfSha256(Buffer.concat([text(secretKey), nonce]), salt, text('mayfly/1/look'), 44);
export const lookOuterOf = (root: Buffer, salt: Buffer): Buffer =>
  hkdfSha256(root, salt, text('mayfly/1/look-outer'), 44);
export const lookAadOf = (recordAad: Buffer, tag: Buffer, until: number): Buffer =>
  Buffer.concat([lp(text('mayfly/1/look')), recordAad, lp(tag), number(until, 8)]);

export interface ReferenceLook {
  readonly secretKey: string;
  readonly nonce: Buffer;
  readonly context: ReferenceContext;
  readonly until: number;
  readonly answersLeft: number;
  readonly root: Buffer;
  readonly kid: number;
  readonly r2: Buffer;
  /** R2'. */
  readonly innerR2: Buffer;
}

interface Held {
  readonly r: Buffer;
  readonly verifier: Buffer;
  readonly body: Buffer;
  readonly limit: number;
  readonly aad: Buffer;
}

/** What the outer layer of a row of version 2 held, without its creator's part. */
export function heldIn(row: Buffer, secretKey: string, context: ReferenceContext, root: Buffer): Held {
  const limit = Number(row.readBigUInt64BE(3));
  const aad = aadOf(secretIdOf(secretKey), context, limit);
  const outerAad = Buffer.concat([aad, row.subarray(1, 3), number(context.expiresAt, 8)]);
  const inner = gcmOpen(outerOf(root, row.subarray(11, 43)), row.subarray(43), outerAad);
  const verifierAt = 63 + 4 + inner.readUInt32BE(63);
  const bodyAt = verifierAt + 4 + inner.readUInt32BE(verifierAt);
  const [r, verifier, body] = [
    inner.subarray(0, 32),
    inner.subarray(verifierAt + 4, bodyAt),
    inner.subarray(bodyAt),
  ];
  return { r, verifier, body, limit, aad };
}

/** @param row of version 2, under the same root */
export function sealLookOf(row: Buffer, look: ReferenceLook): Buffer {
  const { secretKey, nonce, context, root } = look;
  const { r, verifier, body, limit, aad: recordAad } = heldIn(row, secretKey, context, root);
  const tag = lookTagOf(nonce, secretIdOf(secretKey));
  const aad = lookAadOf(recordAad, tag, look.until);
  const head = Buffer.concat([
    number(3, 1),
    number(look.kid, 2),
    number(limit, 8),
    number(look.answersLeft, 1),
    tag,
    look.r2,
    look.innerR2,
  ]);
  const filled = Buffer.alloc(row.length - head.length - 32);
  Buffer.concat([r, lp(verifier), lp(body)]).copy(filled);
  const inner = gcmSeal(lookKeysOf(secretKey, nonce, look.innerR2), filled, aad);
  return Buffer.concat([head, gcmSeal(lookOuterOf(root, look.r2), inner, aad)]);
}

/** Throws when anything does not match. */
export function openLookOf(
  row: Buffer,
  keys: Pick<ReferenceLook, 'secretKey' | 'nonce' | 'context' | 'until' | 'root'>,
): Held {
  if (row.readUInt8(0) !== 3) throw new Error('not a look');
  const limit = Number(row.readBigUInt64BE(3));
  const tag = lookTagOf(keys.nonce, secretIdOf(keys.secretKey));
  if (!tag.equals(row.subarray(12, 28))) throw new Error('another’s look');
  const recordAad = aadOf(secretIdOf(keys.secretKey), keys.context, limit);
  const aad = lookAadOf(recordAad, tag, keys.until);
  const inner = gcmOpen(lookOuterOf(keys.root, row.subarray(28, 44)), row.subarray(56), aad);
  const held = gcmOpen(lookKeysOf(keys.secretKey, keys.nonce, row.subarray(44, 56)), inner, aad);
  const verifierEnd = 36 + held.readUInt32BE(32);
  const bodyEnd = verifierEnd + 4 + held.readUInt32BE(verifierEnd);
  if (held.subarray(bodyEnd).some((byte) => byte !== 0)) throw new Error('not filled with zeros');
  return {
    r: held.subarray(0, 32),
    verifier: held.subarray(36, verifierEnd),
    body: held.subarray(verifierEnd + 4, bodyEnd),
    limit,
    aad: recordAad,
  };
}
