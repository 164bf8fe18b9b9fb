/**
 * Share domains: a customer's own host names for links. Only a verified one makes links (P20; `choose.ts`).
 *
 *   unverified --TXT seen--> pending --points here--> verified <--re-check--> lost
 *
 * A domain that the operator added is verified without a challenge and never checked.
 */
import type { AccountId } from '../accounts/accounts.ts';
import type { UnixSeconds } from '../time.ts';

/**
 * - `unverified`: the TXT record has not been seen.
 * - `pending`: it has been seen, but the name does not point here yet.
 * - `verified`: both; only now it makes links, shows its brand and gets certificates.
 * - `lost`: it was verified, but a later check found the record gone or the name pointing elsewhere.
 */
export const domainStates = ['unverified', 'pending', 'verified', 'lost'] as const;
export type DomainState = (typeof domainStates)[number];

/** Why the last check did not verify. `dns_failed`: no usable answer, so no conclusion. */
export const domainFindings = ['txt_missing', 'txt_differs', 'not_pointing', 'dns_failed'] as const;
export type DomainFinding = (typeof domainFindings)[number];

/** The owner's brand for the domain; `null` inherits the site's. Texts are plain, one paragraph per line. */
export interface DomainBrand {
  /** 1–60 characters. */
  readonly name: string | null;
  /** `#rrggbb`, legible on light paper. */
  readonly colour: string | null;
  /** `#rrggbb`, legible on dark paper; `null` uses the nearest to `colour` that is. */
  readonly colourDark: string | null;
  /** Shown above the button that opens a secret; 1–500 characters. */
  readonly instructionsBefore: string | null;
  /** Shown below an opened secret; 1–500 characters. */
  readonly instructionsAfter: string | null;
  /** An offered BCP 47 tag: the pages' language unless the reader has chosen one. */
  readonly locale: string | null;
  /** Whether anyone may share on this domain, or only its owner. */
  readonly isPublic: boolean;
}

export const plainBrand: DomainBrand = {
  name: null,
  colour: null,
  colourDark: null,
  instructionsBefore: null,
  instructionsAfter: null,
  locale: null,
  isPublic: true,
};

/** An image without active content, at most 256 kB. */
export interface DomainLogo {
  /** Its file name: a hash of its bytes and an extension. */
  readonly name: string;
  /** `image/png`, `image/jpeg`, `image/webp`, `image/gif` or `image/svg+xml`. */
  readonly type: string;
  readonly bytes: Uint8Array;
}

/** A name split by the public suffix list. */
export interface DomainName {
  /** Lower case, in ASCII form. */
  readonly name: string;
  readonly unicodeName: string;
  readonly baseDomain: string;
  readonly subdomain: string;
  readonly publicSuffix: string;
}

/** Why a text cannot be a share domain. */
export type DomainNameProblem =
  /** Empty. */
  | 'missing'
  /** With a scheme, path, port, user or space; too long; not a name at all. */
  | 'malformed'
  | 'ip_address'
  /** A name without a public suffix, such as `localhost`, `intranet` or `secrets.local`. */
  | 'not_public'
  /** Anyone can register names under it: `co.uk`, `github.io`. */
  | 'public_suffix'
  /** The site's own host. */
  | 'own_host';

export type ParseDomainName = (text: string) => Promise<DomainName | { readonly problem: DomainNameProblem }>;

export interface NewDomain {
  readonly accountId: AccountId;
  /** Lower case, in ASCII form (RFC 5890 A-labels). */
  readonly name: string;
  readonly state: DomainState;
  /** 32 lower-case hex digits that the TXT record must hold; `null` for a domain that the operator added. */
  readonly challenge: string | null;
  readonly createdAt: UnixSeconds;
}

export interface StoredDomain extends NewDomain {
  /** When its state, brand or logo last changed. */
  readonly updatedAt: UnixSeconds;
  /** When the last check ended; `null` before the first. */
  readonly checkedAt: UnixSeconds | null;
  readonly finding: DomainFinding | null;
  readonly brand: DomainBrand;
  /** File name of its logo. */
  readonly logoName: string | null;
}

export interface DomainCheck {
  readonly state: DomainState;
  readonly finding: DomainFinding | null;
}

/** The name of a `Host` header: lower case, without port and last dot. */
export function hostNameOf(host: string): string {
  return host.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '');
}
