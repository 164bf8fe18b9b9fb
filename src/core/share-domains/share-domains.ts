/**
 * Share domains: a customer's own host names for links.
 *
 * The types and the states. Only a verified domain makes links (P20; `choose.ts`).
 *
 *   unverified --TXT seen--> pending --points here--> verified <--re-check--> lost
 *
 * A domain that the operator added stands by the operator's word: verified, without a challenge, never checked.
 */
import type { AccountId } from '../accounts/accounts.ts';
import type { UnixSeconds } from '../time.ts';

/**
 * - `unverified`: the TXT record was not seen yet.
 * - `pending`: it was seen, but the name does not lead here yet.
 * - `verified`: both; only now it makes links, shows its brand and gets certificates.
 * - `lost`: it was verified, and a later check found that the record or the way here is gone.
 */
export const domainStates = ['unverified', 'pending', 'verified', 'lost'] as const;
export type DomainState = (typeof domainStates)[number];

/** Why the last check did not verify. `dns_failed`: no usable answer, so nothing was concluded. */
export const domainFindings = ['txt_missing', 'txt_differs', 'not_pointing', 'dns_failed'] as const;
export type DomainFinding = (typeof domainFindings)[number];

/** The owner's face for the domain; `null` inherits the site's. Texts are plain, one paragraph a line. */
export interface DomainBrand {
  /** 1–60 characters. */
  readonly name: string | null;
  /** `#rrggbb`, legible on light paper. */
  readonly colour: string | null;
  /** `#rrggbb`, legible on dark paper; `null`: the nearest to `colour` that is. */
  readonly colourDark: string | null;
  /** Shown above the button that opens a secret; 1–500 characters. */
  readonly instructionsBefore: string | null;
  /** Shown below an opened secret; 1–500 characters. */
  readonly instructionsAfter: string | null;
  /** A BCP 47 tag that is offered: the language of pages unless the reader has chosen one. */
  readonly locale: string | null;
  /** Whether anybody may share on this domain; `false` leaves it to its owner's account. */
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

/** An image that only draws, at most 256 kB, with the type that we serve it as. */
export interface DomainLogo {
  /** Its file name: a hash of its bytes and an extension; unique for its content. */
  readonly name: string;
  /** `image/png`, `image/jpeg`, `image/webp`, `image/gif` or `image/svg+xml`. */
  readonly type: string;
  readonly bytes: Uint8Array;
}

/** A name taken apart by the public suffix list. */
export interface DomainName {
  /** Lower case, in ASCII form. */
  readonly name: string;
  readonly unicodeName: string;
  readonly baseDomain: string;
  readonly subdomain: string;
  readonly publicSuffix: string;
}

/** Why a text is no domain that links could be made on. */
export type DomainNameProblem =
  /** Empty. */
  | 'missing'
  /** With a scheme, path, port, user or blank; too long; not a name at all. */
  | 'malformed'
  | 'ip_address'
  /** A name without a public suffix, such as `localhost`, `intranet` or `secrets.local`. */
  | 'not_public'
  /** Anybody can register below it: `co.uk`, `github.io`. */
  | 'public_suffix'
  /** The site's own host. */
  | 'own_host';

export type ParseDomainName = (text: string) => Promise<DomainName | { readonly problem: DomainNameProblem }>;

export interface NewDomain {
  readonly accountId: AccountId;
  /** Lower case, in ASCII form (RFC 5890 A-labels). */
  readonly name: string;
  readonly state: DomainState;
  /** 32 lower-case hex digits that the TXT record must hold; `null`: the operator's word stands for it. */
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
  /** File name of its logo; `null` for none. */
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
