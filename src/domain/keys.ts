/**
 * Keys and ids: what a person holds, and what the store holds instead.
 *
 * Owns: `SecretKey` and `MetadataKey` (31 characters of `[0-9a-z]`, uniform: 160 bits), and the one-way ids derived
 * from them, under which records are stored (P13). Invariant: one canonical spelling; anything else is an unknown key,
 * never repaired.
 */
import { deriveReceiptId, deriveSecretId } from '../crypto/derive.ts';
import { type RandomBytes, randomText } from '../crypto/random.ts';

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

export function generateSecretKey(random: RandomBytes): SecretKey {
  return randomText(alphabet, keyLength, random) as SecretKey;
}

export function generateMetadataKey(random: RandomBytes): MetadataKey {
  return randomText(alphabet, keyLength, random) as MetadataKey;
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
