/**
 * Chooses a new link's host. Only verified domains are used: one of the caller's, or the one that the request arrived on, if its owner
 * allows public sharing there (P20).
 */
import type { Caller } from '../account.ts';
import type { Links } from '../links.ts';
import type { DomainStore } from '../ports/domains.ts';
import { canBeShareDomain, hostNameOf, type StoredDomain } from '../share-domain.ts';

export interface DomainWish {
  /** `null` and `''` both mean none. */
  readonly shareDomain: string | null;
  /** The `Host` header as received, used only for comparison; `null` if unknown. */
  readonly arrivedOn: string | null;
}

export type DomainChoice =
  /** `''`: the site's own host. */
  | { readonly outcome: 'chosen'; readonly shareDomain: string }
  | { readonly outcome: 'unknown_share_domain'; readonly shareDomain: string }
  /** The request arrived on a domain where only its owner may share. */
  | { readonly outcome: 'public_sharing_disabled'; readonly shareDomain: string };

type Site = Pick<Links, 'siteHost' | 'sitePort'>;

/** Returns the requested domain in lower case; `''` for none or the site itself. */
function askedFor({ shareDomain }: DomainWish, { siteHost, sitePort }: Site): string {
  const asked = (shareDomain ?? '').toLowerCase();
  return asked === siteHost || asked === `${siteHost}:${sitePort}` ? '' : asked;
}

type Domains = Pick<DomainStore, 'findVerifiedDomain'>;

/** Runs for every creation and page, so a name that cannot be a share domain, such as an IP address, costs no read. */
export async function findVerified(
  store: Domains,
  siteHost: string,
  name: string,
): Promise<StoredDomain | null> {
  return name === siteHost || !canBeShareDomain(name) ? null : store.findVerifiedDomain(name);
}

export async function chooseShareDomain(
  { store, links }: { readonly store: Domains; readonly links: Site },
  wish: DomainWish,
  caller: Caller,
): Promise<DomainChoice> {
  const asked = askedFor(wish, links);
  const { siteHost } = links;
  const arrivedDomain = await findVerified(store, siteHost, hostNameOf(wish.arrivedOn ?? siteHost));
  const isOwn = (domain: StoredDomain) => caller.kind === 'account' && domain.accountId === caller.account.id;
  if (arrivedDomain !== null && caller.kind === 'anonymous' && !arrivedDomain.brand.isPublic)
    return { outcome: 'public_sharing_disabled', shareDomain: arrivedDomain.name };
  if (asked === '') {
    const isHere = arrivedDomain !== null && (isOwn(arrivedDomain) || arrivedDomain.brand.isPublic);
    return { outcome: 'chosen', shareDomain: isHere ? arrivedDomain.name : '' };
  }
  if (arrivedDomain?.name === asked && arrivedDomain.brand.isPublic)
    return { outcome: 'chosen', shareDomain: asked };
  const found = await findVerified(store, siteHost, asked);
  return found !== null && isOwn(found)
    ? { outcome: 'chosen', shareDomain: asked }
    : { outcome: 'unknown_share_domain', shareDomain: wish.shareDomain ?? '' };
}
