/**
 * Regions: separate installations, each with its own store, keys and accounts, behind one address.
 *
 * Owns: the label of a region, and how a key tells which region made it. Invariant: a secret never leaves its region; its
 * key alone says which one that is, without asking anybody, and no part of the key shows it.
 *
 * A key of a region is 29 drawn characters (149.9 bits; OWASP ASVS 5.0, 7.2.3, asks for 128 of a token) and two that are the label, read
 * as a number to base 36, plus a number that follows from the 29, modulo 36². Whoever holds the key computes the label
 * back; the last two characters alone are as good as drawn. `docs/decisions/014-key-to-region.md` says why.
 */
import { regionMask } from '../crypto/derive.ts';

declare const brand: unique symbol;

/** Two characters of `[0-9a-z]`, as in `us` and `eu`. */
export type RegionLabel = string & { readonly [brand]: 'RegionLabel' };

/** One of the installations behind the address without a label. */
export interface Region {
  readonly label: RegionLabel;
  /** Origin and path of its own address, without a trailing slash. */
  readonly baseUrl: string;
}

/** This installation among its siblings; `null` where there are no regions. */
export interface Regions {
  readonly own: RegionLabel;
  /** All of them, this one too, in the operator's order. */
  readonly all: readonly Region[];
}

export function parseRegionLabel(text: string): RegionLabel | null {
  return /^[0-9a-z]{2}$/.test(text) ? (text as RegionLabel) : null;
}

/** How many characters at a key's end are its mark. */
export const regionMarkLength = 2;
const base = 36;
const markCount = base ** regionMarkLength;

/**
 * The mark of `region` behind `head`.
 * @param head the 29 drawn characters of a key
 */
export function markOf(head: string, region: RegionLabel): string {
  const mark = (Number.parseInt(region, base) + regionMask(head)) % markCount;
  return mark.toString(base).padStart(regionMarkLength, '0');
}

/** The label that `mark` stands for after `head`; any two characters stand for one. */
export function labelOfMark(head: string, mark: string): RegionLabel {
  const number = Number.parseInt(mark, base);
  const label = (number - (regionMask(head) % markCount) + markCount) % markCount;
  return label.toString(base).padStart(regionMarkLength, '0') as RegionLabel;
}
