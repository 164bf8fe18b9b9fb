/**
 * What a path is about: an API or the pages, and which key it names.
 *
 * Owns: finding the key in a path. Invariant: a path names the key here that it names in the region (one segment,
 * percent-decoded once), so that the router and the region can never speak of two different secrets; nothing else of a
 * path is looked at.
 */
import { parseSecretKey, regionMarkOf } from '../core/keys.ts';
import type { RegionLabel } from '../core/regions.ts';

export type ApiVersion = 'v1' | 'v2';

export type Destination =
  | { readonly kind: 'api'; readonly version: ApiVersion; readonly key: string | null }
  | { readonly kind: 'page'; readonly key: string | null };

/** Fixed segments behind which a key stands, and words in its place that are none. */
const beforeKey: Readonly<Record<ApiVersion | 'page', ReadonlySet<string>>> = {
  v1: new Set(['secret', 'private', 'metadata', 'receipt']),
  v2: new Set(['secret', 'private', 'receipt']),
  page: new Set(['secret', 'private', 'receipt']),
};
const noKeys = new Set(['', 'recent', 'conceal', 'generate', 'status']);

/** @param path as received, beginning with a slash, without its query */
export function destinationOf(path: string): Destination {
  const segments = path.split('/');
  if (segments[1] !== 'api') return { kind: 'page', key: keyAt(segments, 1, 'page') };
  // What is of no version is answered in the words of the latest, as in a region.
  const version = segments[2] === 'v1' ? 'v1' : 'v2';
  if (segments[2] !== version) return { kind: 'api', version, key: null };
  const start = version === 'v2' && segments[3] === 'guest' ? 4 : 3;
  return { kind: 'api', version, key: keyAt(segments, start, version) };
}

function keyAt(segments: readonly string[], at: number, of: keyof typeof beforeKey): string | null {
  const key = segments[at + 1];
  if (key === undefined || noKeys.has(key)) return null;
  return beforeKey[of].has(segments[at] ?? '') ? key : null;
}

/** The label in a key as it stands in a path; `null` for what is no key. */
export function labelIn(segment: string): RegionLabel | null {
  const key = parseSecretKey(decoded(segment));
  return key === null ? null : regionMarkOf(key);
}

function decoded(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return '';
  }
}
