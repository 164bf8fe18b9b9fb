/**
 * Keys, which people hold, and the one-way ids derived from them, under which records are stored (P13). A key is 31
 * characters of `[0-9a-z]`: 160 uniform bits, or 149.9 and a region's tag. It has one spelling; anything else is an unknown
 * key and never repaired.
 */
import { deriveReceiptId, deriveSecretId } from '../crypto/derive.ts';
import { type RandomBytes, randomText } from '../crypto/random.ts';
import { type RegionLabel, regionOfTag, regionTag, regionTagLength } from './regions.ts';

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
export const keyForm = /^[0-9a-z]{31}$/;

/** @param region whose tag the key gets; `null` without regions */
export function generateSecretKey(random: RandomBytes, region: RegionLabel | null): SecretKey {
  return drawKey(random, region) as SecretKey;
}

/** As `generateSecretKey`. */
export function generateMetadataKey(random: RandomBytes, region: RegionLabel | null): MetadataKey {
  return drawKey(random, region) as MetadataKey;
}

function drawKey(random: RandomBytes, region: RegionLabel | null): string {
  if (region === null) return randomText(alphabet, keyLength, random);
  const head = randomText(alphabet, keyLength - regionTagLength, random);
  return head + regionTag(head, region);
}

/** The key, or `null` if the text is not exactly one. */
export function parseSecretKey(text: string): SecretKey | null {
  return keyForm.test(text) ? (text as SecretKey) : null;
}

/** The key, or `null` if the text is not exactly one. */
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
 * The region that a key's tag decodes to. Every key decodes to one: a key made without a region gives any of the 1,296
 * labels, so a label counts only if the installation has that region.
 */
export function regionOfKey(key: SecretKey | MetadataKey): RegionLabel {
  return regionOfTag(key.slice(0, -regionTagLength), key.slice(-regionTagLength));
}
