/**
 * Idempotent creation: a repeated request gets the same keys.
 *
 *   X    = token(32) ‖ lp(idempotency key) ‖ u32 index      index 0, or the place in a batch
 *   id   = HKDF(X, info "mayfly/1/idem-id", 16)
 *   Z    = 32 random bytes of the first request
 *   keys = uniform draws by rejection from HKDF(X, salt Z, info "mayfly/1/idem-secret" | "…-receipt" | "…-value")
 *   mac  = HMAC-SHA256(HKDF(X, salt Z, info "mayfly/1/idem-body", 32), lp(method and path) ‖ lp(SHA-256(body)))
 *   seed = u8 1 ‖ u16 kid ‖ R(32) ‖ AES-256-GCM(ko, no, Z, lp("mayfly/1/idem-seed") ‖ lp(id) ‖ u16 kid)
 *
 * The store yields no key without the token. Z is erased with its row, so the same idempotency key later yields other keys: no link comes
 * back to life.
 */
import { createHmac } from 'node:crypto';
import { seal, unseal } from './aead.ts';
import { equalInConstantTime, FieldReader, FieldWriter, part, utf8 } from './bytes.ts';
import { type CreationLabel, deriveCreationBytes, deriveOuterKeys } from './derive.ts';
import type { KeyRing, RootKey } from './keyring.ts';
import type { RandomBytes } from './random.ts';

const version = 1;
const saltBytes = 32;
export const seedBytes = 32;
const wrappedBytes = 1 + 2 + saltBytes + seedBytes + 16;
const seedLabel = utf8('mayfly/1/idem-seed');

/** Returns `X`. */
export function creationMaterial(token: Uint8Array, idempotencyKey: string, index: number): Uint8Array {
  const key = utf8(idempotencyKey);
  return new FieldWriter(token.length + 4 + key.length + 4).raw(token).field(key).u32(index).bytes;
}

/** The most bytes that HKDF-SHA-256 can yield, and as many as most draws need. */
const [mostBytes, usualBytes] = [8_160, 64];

/**
 * Returns a source that hands out the same sequence of bytes every time, in the order of the calls.
 * @throws RangeError when they run out, which happens with a probability below 2^-60
 */
export function creationRandom(label: CreationLabel, material: Uint8Array, seed: Uint8Array): RandomBytes {
  let bytes = deriveCreationBytes(label, material, seed, usualBytes);
  let used = 0;
  return (length) => {
    if (used + length > bytes.length) bytes = deriveCreationBytes(label, material, seed, mostBytes);
    if (used + length > bytes.length) throw new RangeError('a creation has no more bytes to draw from');
    used += length;
    return part(bytes, used - length, used);
  };
}

export interface RepeatedRequest {
  /** Method and path, such as `POST /api/v2/secret/conceal`. */
  readonly target: string;
  /** SHA-256 of the body, which a batch hashes only once. */
  readonly bodyHash: Uint8Array;
}

/** Returns 32 bytes that reveal nothing about the body without the token. */
export function creationMac(
  material: Uint8Array,
  seed: Uint8Array,
  { target, bodyHash }: RepeatedRequest,
): Uint8Array {
  const key = deriveCreationBytes('creationBody', material, seed, 32);
  const text = utf8(target);
  const message = new FieldWriter(8 + text.length + bodyHash.length).field(text).field(bodyHash).bytes;
  return new Uint8Array(createHmac('sha256', key).update(message).digest());
}

export function isSameRequest(
  material: Uint8Array,
  seed: Uint8Array,
  request: RepeatedRequest,
  mac: Uint8Array,
): boolean {
  return equalInConstantTime(creationMac(material, seed, request), mac);
}

function seedAad(id: Uint8Array, kid: number): Uint8Array {
  return new FieldWriter(8 + seedLabel.length + id.length + 2).field(seedLabel).field(id).u16(kid).bytes;
}

/** Wraps a seed for the store: 83 bytes, under the server's root. */
export function wrapSeed(root: RootKey, id: Uint8Array, seed: Uint8Array, random: RandomBytes): Uint8Array {
  const salt = random(saltBytes);
  const sealed = seal(deriveOuterKeys(root.key, salt), seed, seedAad(id, root.kid));
  return new FieldWriter(wrappedBytes).u8(version).u16(root.kid).raw(salt).raw(sealed).bytes;
}

/** Returns `null` if the seed belongs to a different creation, has an unknown root or version, or is damaged. */
export function unwrapSeed(ring: KeyRing, id: Uint8Array, wrapped: Uint8Array): Uint8Array | null {
  const reader = new FieldReader(wrapped);
  if (wrapped.length !== wrappedBytes || reader.u8() !== version) return null;
  const kid = reader.u16();
  const root = ring.find(kid);
  if (root === null) return null;
  return unseal(deriveOuterKeys(root.key, reader.raw(saltBytes)), reader.rest(), seedAad(id, kid));
}
