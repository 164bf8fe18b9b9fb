/**
 * Regions: separate installations behind one address, each with its own store, keys and accounts. A secret never leaves its
 * region. Its key alone identifies the region, and no part of the key gives it away.
 *
 * A key of a region is 29 random characters (149.9 bits; OWASP ASVS 5.0, 7.2.3, requires 128 for a token) and a tag of two:
 * the region's label as a number in base 36, plus a number derived from the 29, modulo 36². The holder of the whole key can
 * compute the label; the tag alone looks random. See `docs/decisions/014-key-to-region.md`.
 */
import { regionMask } from '../crypto/derive.ts';

declare const brand: unique symbol;

/** Two characters of `[0-9a-z]`, as in `us` and `eu`. */
export type RegionLabel = string & { readonly [brand]: 'RegionLabel' };

/** One of the installations behind the shared address. */
export interface Region {
  readonly label: RegionLabel;
  /** Origin and path of its own address, without a trailing slash. */
  readonly baseUrl: string;
}

/** This installation among its siblings. */
export interface Regions {
  readonly own: RegionLabel;
  /** All of them, including this one, in the operator's order. */
  readonly all: readonly Region[];
}

export function parseRegionLabel(text: string): RegionLabel | null {
  return /^[0-9a-z]{2}$/.test(text) ? (text as RegionLabel) : null;
}

export const regionTagLength = 2;
const base = 36;
const tagCount = base ** regionTagLength;

/** @param head the 29 random characters of a key */
export function regionTag(head: string, region: RegionLabel): string {
  const tag = (Number.parseInt(region, base) + regionMask(head)) % tagCount;
  return tag.toString(base).padStart(regionTagLength, '0');
}

/** The region of a tag after `head`; any two characters decode to some label. */
export function regionOfTag(head: string, tag: string): RegionLabel {
  const number = Number.parseInt(tag, base);
  const label = (number - (regionMask(head) % tagCount) + tagCount) % tagCount;
  return label.toString(base).padStart(regionTagLength, '0') as RegionLabel;
}
