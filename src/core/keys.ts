/**
 * Keys, which people hold, and the one-way ids that records are stored under (P13). A key is 31 characters of `[0-9a-z]`: 160 uniform
 * bits, or 149.9 bits and a region's tag. A key has exactly one spelling; any other text is treated as an unknown key, never corrected.
 *
 * Regions are separate installations behind one address, each with its own store, keys and accounts. A secret never leaves
 * its region, and only the whole key identifies it: 29 random characters (149.9 bits; OWASP ASVS 5.0, 7.2.3, requires 128 for
 * a token) and a two-character tag: the region's label in base 36 plus a number derived from those 29, modulo 36². The tag
 * alone looks random. See `docs/decisions/014-key-to-region.md`.
 */
import { deriveReceiptId, deriveRequestId, deriveSecretId, regionMask } from '../crypto/derive.ts';
import { type RandomBytes, randomText } from '../crypto/random.ts';
import { keyAlphabet, keyForm, keyLength } from '../protocol/link.ts';

declare const brand: unique symbol;

/** Opens a secret once. May be shared. */
export type SecretKey = string & { readonly [brand]: 'SecretKey' };
/** Opens the creator's receipt. Must be kept private. */
export type MetadataKey = string & { readonly [brand]: 'MetadataKey' };
/** Leads to a request's mailbox; opens nothing in it without the end of a link. */
export type RequestKey = string & { readonly [brand]: 'RequestKey' };
/** 16 bytes, derived one-way from a secret key. */
export type SecretId = Uint8Array & { readonly [brand]: 'SecretId' };
/** 16 bytes, derived one-way from a metadata key. */
export type ReceiptId = Uint8Array & { readonly [brand]: 'ReceiptId' };
/** 16 bytes, derived one-way from a request key. */
export type RequestId = Uint8Array & { readonly [brand]: 'RequestId' };

/** @param region the region whose tag the key gets; `null` without regions */
export function generateSecretKey(random: RandomBytes, region: RegionLabel | null): SecretKey {
  return drawKey(random, region) as SecretKey;
}

export function generateMetadataKey(random: RandomBytes, region: RegionLabel | null): MetadataKey {
  return drawKey(random, region) as MetadataKey;
}

export function generateRequestKey(random: RandomBytes, region: RegionLabel | null): RequestKey {
  return drawKey(random, region) as RequestKey;
}

function drawKey(random: RandomBytes, region: RegionLabel | null): string {
  if (region === null) return randomText(keyAlphabet, keyLength, random);
  const head = randomText(keyAlphabet, keyLength - regionTagLength, random);
  return head + regionTag(head, region);
}

/** Returns the key, or `null` if the text is not exactly one key. */
export function parseSecretKey(text: string): SecretKey | null {
  return keyForm.test(text) ? (text as SecretKey) : null;
}

export function parseMetadataKey(text: string): MetadataKey | null {
  return keyForm.test(text) ? (text as MetadataKey) : null;
}

export function parseRequestKey(text: string): RequestKey | null {
  return keyForm.test(text) ? (text as RequestKey) : null;
}

/** Identifies a secret or a request in logs: the first 8 hex digits of its id. */
export function tagOf(id: SecretId | RequestId): string {
  return id.subarray(0, 4).toHex();
}

export function secretIdOf(key: SecretKey): SecretId {
  return deriveSecretId(key) as SecretId;
}

export function receiptIdOf(key: MetadataKey): ReceiptId {
  return deriveReceiptId(key) as ReceiptId;
}

export function requestIdOf(key: RequestKey): RequestId {
  return deriveRequestId(key) as RequestId;
}

/** Decodes a key's region. A key made without one also yields a label, so trust a label only if the installation has that region. */
export function regionOfKey(key: SecretKey | MetadataKey | RequestKey): RegionLabel {
  return regionOfTag(key.slice(0, -regionTagLength), key.slice(-regionTagLength));
}

/** Two characters of `[0-9a-z]`, such as `us` or `eu`. */
export type RegionLabel = string & { readonly [brand]: 'RegionLabel' };

/** One of the installations behind the shared address. */
export interface Region {
  readonly label: RegionLabel;
  /** Origin and path, without a trailing slash. */
  readonly baseUrl: string;
}

/** This installation's region, and all regions behind the shared address. */
export interface Regions {
  readonly own: RegionLabel;
  /** All regions, including this one, in the operator's order. */
  readonly all: readonly Region[];
}

/** Returns the key's region if it is in `all` and is not `own`; otherwise `null`. */
export function regionElsewhere(key: string, own: RegionLabel | null, all: readonly Region[]): Region | null {
  const parsed = own === null ? null : parseSecretKey(key);
  const label = parsed === null ? own : regionOfKey(parsed);
  return label === own ? null : (all.find((region) => region.label === label) ?? null);
}

export function parseRegionLabel(text: string): RegionLabel | null {
  return /^[0-9a-z]{2}$/.test(text) ? (text as RegionLabel) : null;
}

const regionTagLength = 2;
const base = 36;
const tagCount = base ** regionTagLength;

/** @param head the 29 random characters of a key */
export function regionTag(head: string, region: RegionLabel): string {
  const tag = (Number.parseInt(region, base) + regionMask(head)) % tagCount;
  return tag.toString(base).padStart(regionTagLength, '0');
}

function regionOfTag(head: string, tag: string): RegionLabel {
  const number = Number.parseInt(tag, base);
  const label = (number - (regionMask(head) % tagCount) + tagCount) % tagCount;
  return label.toString(base).padStart(regionTagLength, '0') as RegionLabel;
}
