/**
 * Share domains: a customer's own host names for links.
 *
 * Owns: the types, the states, and which domain a new link gets. Invariant: only a verified domain makes links: one of the
 * caller's own, or the one that the request arrived on, if its owner lets everybody share there (P20).
 *
 *   unverified --TXT seen--> pending --points here--> verified <--re-check--> lost
 *
 * A domain that the operator added stands by the operator's word: verified, without a challenge, never checked.
 */
import type { AccountId, Caller } from '../accounts/accounts.ts';
import type { Links } from '../links.ts';
import type { DomainStore } from '../ports.ts';
import type { UnixSeconds } from '../time.ts';

/**
 * - `unverified`: the TXT record was not seen yet.
 * - `pending`: it was seen, but the name does not lead here yet.
 * - `verified`: both; only now it makes links, shows its brand and gets certificates.
 * - `lost`: it was verified, and a later check found that the record or the way here is gone.
 */
export type DomainState = 'unverified' | 'pending' | 'verified' | 'lost';

/** Why the last check did not verify. `dns_failed`: no usable answer, so nothing was concluded. */
export type DomainFinding = 'txt_missing' | 'txt_differs' | 'not_pointing' | 'dns_failed';

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

/** What `CreationOptions` says about the link's host. */
export interface DomainWish {
  /** The domain asked for; `''` or absent: none. */
  readonly shareDomain?: string;
  /** The `Host` that the request arrived on, as given; absent: unknown. Only ever compared. */
  readonly arrivedOn?: string;
}

export type DomainChoice =
  /** `''`: the site's own host. */
  | { readonly outcome: 'chosen'; readonly shareDomain: string }
  | { readonly outcome: 'unknown_share_domain'; readonly shareDomain: string }
  /** The request arrived on a domain whose owner shares there alone. */
  | { readonly outcome: 'public_sharing_disabled'; readonly shareDomain: string };

/** The name of a `Host` header: lower case, without port and last dot. */
export function hostNameOf(host: string): string {
  return host.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '');
}

type Site = Pick<Links, 'siteHost' | 'sitePort'>;

/** The domain asked for in lower case; `''` when it is none, or the site itself. */
function askedFor({ shareDomain = '' }: DomainWish, { siteHost, sitePort }: Site): string {
  const asked = shareDomain.toLowerCase();
  return asked === siteHost || asked === `${siteHost}:${sitePort}` ? '' : asked;
}

/** Which domain the new link gets. */
export async function chooseShareDomain(
  { store, site }: { readonly store: DomainStore; readonly site: Site },
  wish: DomainWish,
  caller: Caller,
): Promise<DomainChoice> {
  const asked = askedFor(wish, site);
  const { siteHost } = site;
  const arrived = hostNameOf(wish.arrivedOn ?? siteHost);
  const arrivedDomain = arrived === siteHost ? null : await store.findVerifiedDomain(arrived);
  const isOwn = (domain: StoredDomain) => caller.kind === 'account' && domain.accountId === caller.account.id;
  if (arrivedDomain !== null && caller.kind === 'anonymous' && !arrivedDomain.brand.isPublic)
    return { outcome: 'public_sharing_disabled', shareDomain: arrivedDomain.name };
  if (asked === '') {
    const isHere = arrivedDomain !== null && (isOwn(arrivedDomain) || arrivedDomain.brand.isPublic);
    return { outcome: 'chosen', shareDomain: isHere ? arrivedDomain.name : '' };
  }
  if (arrivedDomain?.name === asked && arrivedDomain.brand.isPublic)
    return { outcome: 'chosen', shareDomain: asked };
  const found = await store.findVerifiedDomain(asked);
  return found !== null && isOwn(found)
    ? { outcome: 'chosen', shareDomain: asked }
    : { outcome: 'unknown_share_domain', shareDomain: wish.shareDomain ?? '' };
}
