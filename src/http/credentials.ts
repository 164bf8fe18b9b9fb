/**
 * Basic credentials: a header to a username and a token, or nothing.
 *
 * Owns: the parser (RFC 7617 with UTF-8, RFC 9110 §11.4) and the challenge. Invariant: what is not exactly Basic
 * credentials is no credentials that could be right; a header that was sent is never treated as absent, so a wrong one
 * cannot fall back to anonymous.
 */

/** What a 401 carries. */
export const basicChallenge = 'Basic realm="Mayfly", charset="UTF-8"';

export interface BasicCredentials {
  /** In lower case: usernames compare without case. */
  readonly username: string;
  readonly token: string;
}

/** Longer than any address (320) and token (64 digits) in base64; what is longer is not decoded at all. */
const maxHeaderLength = 2_048;
const scheme = /^basic +/i;
const base64 = /^[A-Za-z0-9+/]+={0,2}$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: RFC 7617 §2 forbids exactly these in both parts.
const control = /[\u0000-\u001f\u007f]/;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The credentials in an `Authorization` header, or `null` for another scheme or anything malformed. */
export function parseBasic(header: string): BasicCredentials | null {
  if (header.length > maxHeaderLength) return null;
  const start = scheme.exec(header)?.[0].length;
  if (start === undefined) return null;
  const pair = decodePair(header.slice(start));
  if (pair === null || control.test(pair)) return null;
  // The first colon divides: a username has none (RFC 7617 §2).
  const colon = pair.indexOf(':');
  if (colon < 1 || colon === pair.length - 1) return null;
  return { username: pair.slice(0, colon).toLowerCase(), token: pair.slice(colon + 1) };
}

function decodePair(encoded: string): string | null {
  if (encoded.length % 4 !== 0 || !base64.test(encoded)) return null;
  try {
    return utf8.decode(Buffer.from(encoded, 'base64'));
  } catch {
    return null;
  }
}

/**
 * Remembers which credentials were right, so that a neighbour's failures never lock them out: a client over its
 * failed log-ins may still have these checked. Holds unguessable 64-bit fingerprints only, at most `maxEntries`; it
 * decides who is checked, never who is let in.
 */
export interface RightCredentials {
  has(header: string): boolean;
  note(header: string): void;
  forget(header: string): void;
}

export function createRightCredentials(maxEntries = 10_000): RightCredentials {
  const seed = crypto.getRandomValues(new BigUint64Array(1))[0] ?? 0n;
  const fingerprintOf = (header: string) => Bun.hash(header, seed);
  const right = new Set<number | bigint>();
  return {
    has: (header) => right.has(fingerprintOf(header)),
    note(header) {
      const fingerprint = fingerprintOf(header);
      if (right.has(fingerprint)) return;
      if (right.size >= maxEntries) for (const oldest of right.values()) if (right.delete(oldest)) break;
      right.add(fingerprint);
    },
    forget: (header) => void right.delete(fingerprintOf(header)),
  };
}
