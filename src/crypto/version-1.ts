/**
 * Version 1 of the envelope, which is no longer written, only read until its last row expires.
 *
 *   aad     = lp("mayfly/1/secret") lp(secret id) u64 created u64 expires u8 flags lp(owner) lp(share domain)
 *   body    = commitment(32) ‖ AES-256-GCM(k, n, pad, aad)          k‖n‖commitment from link, passphrase and R
 *   ver     = "" | AES-256-GCM(kv, nv, bcrypt hash, aad)            kv‖nv from link and R
 *   row     = u8 1 ‖ u16 kid ‖ R2(32) ‖ AES-256-GCM(ko, no, R(32) ‖ lp(ver) ‖ lp(body), aad)    ko‖no from root and R2
 *
 * The creator's box with the secret key is a separate column, wrapped like the row:
 *
 *   creator = u8 1 ‖ u16 kid ‖ salt(32) ‖ AES-256-GCM(ko, no, box, lp("mayfly/1/creator") lp(receipt id))
 *
 * Both layers of a row are bound to its expiry, so its lifetime cannot be changed.
 */
import { unseal } from './aead.ts';
import { boxAad } from './box.ts';
import { FieldReader, utf8 } from './bytes.ts';
import { version1 } from './derive.ts';
import type { KeyRing } from './keyring.ts';
import { readWithoutCreator, type SecretContext, type UnwrapOutcome, writeContext } from './row.ts';

const version = 1;
const saltBytes = 32;
const headBytes = 3 + saltBytes;
const contextLabel = utf8('mayfly/1/secret');

function unwrapBytes(
  wrapped: Uint8Array,
  aad: Uint8Array,
  ring: KeyRing,
): Uint8Array | { readonly unknownKid: number } | null {
  const reader = new FieldReader(wrapped);
  if (wrapped.length < headBytes || reader.u8() !== version) return null;
  const kid = reader.u16();
  const root = ring.find(kid);
  if (root === null) return { unknownKid: kid };
  const salt = reader.raw(saltBytes);
  return unseal(version1.deriveOuterKeys(root.key, kid, salt), reader.rest(), aad);
}

export function unwrapVersion1(row: Uint8Array, context: SecretContext, ring: KeyRing): UnwrapOutcome {
  const aad = writeContext(contextLabel, context, context.expiresAt, 0).bytes;
  const inner = unwrapBytes(row, aad, ring);
  if (inner === null) return { outcome: 'damaged' };
  if ('unknownKid' in inner) return { outcome: 'unknown_root', kid: inner.unknownKid };
  const fields = readWithoutCreator(inner);
  if (fields === null) return { outcome: 'damaged' };
  return { outcome: 'unwrapped', secret: { version, secretId: context.secretId, ...fields, aad } };
}

/** Returns the box for `openBox` with the label `creator`; `null` if the box is damaged or its root is unknown. */
export function unwrapCreatorBox(
  wrapped: Uint8Array,
  receiptId: Uint8Array,
  ring: KeyRing,
): Uint8Array | null {
  const box = unwrapBytes(wrapped, boxAad('creator', receiptId), ring);
  return box === null || 'unknownKid' in box ? null : box;
}
