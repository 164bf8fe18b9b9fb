/**
 * Keys and ids: what a person holds, and what the store holds instead.
 *
 * Owns: `SecretKey` and `MetadataKey` (31 characters of `[0-9a-z]`: 160 uniform bits, or 149.9 and the mark of a region),
 * and the one-way ids derived from them, under which records are stored (P13). Invariant: one canonical spelling;
 * anything else is an unknown key, never repaired.
 */
import { deriveReceiptId, deriveSecretId } from '../crypto/derive.ts';
import { type RandomBytes, randomText } from '../crypto/random.ts';
import { labelOfMark, markOf, type RegionLabel, regionMarkLength } from './regions.ts';

declare const brand: unique symbol;

/** Opens a secret once. May be shared. */
export type SecretKey = string & { readonly [brand]: 'SecretKey' };
/** Opens the creator's receipt. Must be kept private. */
export type MetadataKey = string & { readonly [brand]: 'MetadataKey' };
/** 16 bytes, one-way from a secret key. */
export type SecretId = Uint8Array & { readonly [brand]: 'SecretId' };
/** 16 bytes, one-way from a metadata key. */
export type ReceiptId = Uint8Array & { readonly [brand]: 'ReceiptId' };

const alphabet = '0123456789abcdefghijklmnopqrstuvwxyz';
const keyLength = 31;
const keyForm = /^[0-9a-z]{31}$/;

/** @param region whose mark the key carries (see `regions.ts`); `null` where there are no regions */
export function generateSecretKey(random: RandomBytes, region: RegionLabel | null): SecretKey {
  return drawKey(random, region) as SecretKey;
}

/** As `generateSecretKey`. */
export function generateMetadataKey(random: RandomBytes, region: RegionLabel | null): MetadataKey {
  return drawKey(random, region) as MetadataKey;
}

function drawKey(random: RandomBytes, region: RegionLabel | null): string {
  if (region === null) return randomText(alphabet, keyLength, random);
  const head = randomText(alphabet, keyLength - regionMarkLength, random);
  return head + markOf(head, region);
}

/** The key, or `null` when the text is not one in its only spelling. */
export function parseSecretKey(text: string): SecretKey | null {
  return keyForm.test(text) ? (text as SecretKey) : null;
}

/** The key, or `null` when the text is not one in its only spelling. */
export function parseMetadataKey(text: string): MetadataKey | null {
  return keyForm.test(text) ? (text as MetadataKey) : null;
}

export function secretIdOf(key: SecretKey): SecretId {
  return deriveSecretId(key) as SecretId;
}

export function receiptIdOf(key: MetadataKey): ReceiptId {
  return deriveReceiptId(key) as ReceiptId;
}

/**
 * The label that a key's mark stands for. Every key has one: for a key that no region made it is any of the 1,296, so a
 * label counts only where an installation has that region.
 */
export function regionMarkOf(key: SecretKey | MetadataKey): RegionLabel {
  return labelOfMark(key.slice(0, -regionMarkLength), key.slice(-regionMarkLength));
}
