/**
 * The second look: what a claim leaves for its opener alone. It replaces the secret's row and is exactly as long.
 *
 *   tag   = from the opener's nonce N(16) and the secret id, 16 bytes
 *   aad   = lp("mayfly/1/look") ‖ record ‖ lp(tag) ‖ u64 until
 *   inner = R(32) ‖ lp(ver) ‖ lp(body) ‖ zeros                        as in the row's outer layer: still sealed
 *   row   = u8 3 ‖ u16 kid ‖ u64 limit ‖ u8 answers left ‖ tag(16) ‖ R2(16) ‖ R2'(12)
 *           ‖ AES-256-GCM(ko, no, AES-256-GCM(kl, nl, inner, aad), aad)
 *                                                kl‖nl from link, N and R2'; ko‖no from root and R2
 *
 * `record`, `ver`, `body`, `R` and `limit` are those of `envelope.ts`. Dropping the creator's part makes room for the second layer. The
 * store counts the answers left, so no layer is bound to them. Database, roots and link open nothing without the nonce, nor does the
 * nonce without the others (P9).
 */
import { seal, tagBytes as sealBytes, unseal } from './aead.ts';
import { equalInConstantTime, FieldReader, FieldWriter, utf8 } from './bytes.ts';
import { deriveLookKeys, deriveLookOuterKeys, deriveLookTag } from './derive.ts';
import { expiryLimitOf, secretAads } from './envelope.ts';
import type { KeyRing, RootKey } from './keyring.ts';
import type { RandomBytes } from './random.ts';
import { readWithoutCreator, type SecretContext, type UnwrapOutcome, type UnwrappedSecret } from './row.ts';

/** The parts of a row that a store reads. */
export const lookRow = { version: 3, answersAt: 11, tagAt: 12, tagBytes: 16 } as const;

const label = utf8('mayfly/1/look');
const outerSaltBytes = 16;
const innerSaltBytes = 12;
const headBytes = lookRow.tagAt + lookRow.tagBytes + outerSaltBytes + innerSaltBytes;
const saltBytes = 32;

/** Both layers are bound to this and to the opener's tag. */
export interface LookContext extends SecretContext {
  readonly until: number;
}

export interface Opener {
  readonly secretKey: string;
  readonly nonce: Uint8Array;
}

function aadOf(context: LookContext, expiryLimit: number, tag: Uint8Array): Uint8Array {
  const { record } = secretAads(context, expiryLimit, 0);
  return new FieldWriter(4 + label.length + record.length + 4 + tag.length + 8)
    .field(label)
    .raw(record)
    .field(tag)
    .u64(context.until).bytes;
}

export interface LookInput extends Opener {
  /** The row that the look replaces. */
  readonly row: Uint8Array;
  readonly unwrapped: UnwrappedSecret;
  readonly context: LookContext;
  /** Answers remaining once the claim has used its own. */
  readonly answersLeft: number;
  readonly root: RootKey;
  readonly random: RandomBytes;
}

/** Returns `null` for a secret of version 1, whose row has no room for a second look. */
export function sealLook(input: LookInput): Uint8Array | null {
  const { row, unwrapped, context, secretKey, nonce, root, random } = input;
  const expiryLimit = expiryLimitOf(row);
  const room = row.length - headBytes - 2 * sealBytes;
  const { salt, sealedVerifier, body } = unwrapped;
  const used = saltBytes + 4 + sealedVerifier.length + 4 + body.length;
  if (expiryLimit === null || used > room) return null;
  const tag = deriveLookTag(nonce, context.secretId);
  const aad = aadOf(context, expiryLimit, tag);
  const inner = new FieldWriter(room).raw(salt).field(sealedVerifier).field(body).bytes;
  const innerSalt = random(innerSaltBytes);
  const layered = seal(deriveLookKeys(secretKey, nonce, innerSalt), inner, aad);
  return wrap(layered, aad, { root, expiryLimit, answersLeft: input.answersLeft, tag, innerSalt }, random);
}

interface Head {
  readonly root: RootKey;
  readonly expiryLimit: number;
  readonly answersLeft: number;
  readonly tag: Uint8Array;
  readonly innerSalt: Uint8Array;
}

function wrap(layered: Uint8Array, aad: Uint8Array, head: Head, random: RandomBytes): Uint8Array {
  const outerSalt = random(outerSaltBytes);
  const sealed = seal(deriveLookOuterKeys(head.root.key, outerSalt), layered, aad);
  return new FieldWriter(headBytes + sealed.length)
    .u8(lookRow.version)
    .u16(head.root.kid)
    .u64(head.expiryLimit)
    .u8(head.answersLeft)
    .raw(head.tag)
    .raw(outerSalt)
    .raw(head.innerSalt)
    .raw(sealed).bytes;
}

interface Unwrapped extends Head {
  readonly aad: Uint8Array;
  /** Sealed under link and nonce. */
  readonly layered: Uint8Array;
}

function unwrapRoot(
  row: Uint8Array,
  context: LookContext,
  ring: KeyRing,
): Unwrapped | { readonly unknownKid: number } | null {
  const reader = new FieldReader(row);
  if (row.length < headBytes || reader.u8() !== lookRow.version) return null;
  const kid = reader.u16();
  const expiryLimit = reader.u64();
  const answersLeft = reader.u8();
  const tag = reader.raw(lookRow.tagBytes);
  const root = ring.find(kid);
  if (root === null) return { unknownKid: kid };
  const outerSalt = reader.raw(outerSaltBytes);
  const innerSalt = reader.raw(innerSaltBytes);
  const aad = aadOf(context, expiryLimit, tag);
  const layered = unseal(deriveLookOuterKeys(root.key, outerSalt), reader.rest(), aad);
  return layered === null ? null : { root, expiryLimit, answersLeft, tag, innerSalt, aad, layered };
}

/** Removes both layers. The result is sealed under link and passphrase, as in the replaced row. A wrong nonce or link returns `damaged`. */
export function unwrapLook(
  row: Uint8Array,
  context: LookContext,
  opener: Opener,
  ring: KeyRing,
): UnwrapOutcome {
  const unwrapped = unwrapRoot(row, context, ring);
  if (unwrapped === null) return { outcome: 'damaged' };
  if ('unknownKid' in unwrapped) return { outcome: 'unknown_root', kid: unwrapped.unknownKid };
  const { secretKey, nonce } = opener;
  if (!equalInConstantTime(unwrapped.tag, deriveLookTag(nonce, context.secretId)))
    return { outcome: 'damaged' };
  const { expiryLimit, innerSalt, aad, layered } = unwrapped;
  const inner = unseal(deriveLookKeys(secretKey, nonce, innerSalt), layered, aad);
  const fields = inner === null ? null : readWithoutCreator(inner);
  if (fields === null) return { outcome: 'damaged' };
  const { record } = secretAads(context, expiryLimit, 0);
  return {
    outcome: 'unwrapped',
    secret: { version: 2, secretId: context.secretId, ...fields, aad: record },
  };
}

/**
 * Rewraps a look under another root, keeping its expiry and remaining answers; needs neither link nor nonce. Returns `null` if no root of
 * the ring opens it.
 */
export function rewrapLook(
  row: Uint8Array,
  context: LookContext,
  ring: KeyRing,
  random: RandomBytes,
  root: RootKey,
): Uint8Array | null {
  const unwrapped = unwrapRoot(row, context, ring);
  if (unwrapped === null || 'unknownKid' in unwrapped) return null;
  return wrap(unwrapped.layered, unwrapped.aad, { ...unwrapped, root }, random);
}
