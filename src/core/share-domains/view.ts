/**
 * A share domain as its owner sees it.
 *
 * Owns: what is shown beside the stored record: the parts of the name, the record to publish, where the name must lead.
 * Invariant: a view never fails because of the DNS: addresses that cannot be found are left out.
 */

import type { UnixSeconds } from '../time.ts';
import { type Resolver, txtHostOf } from './check.ts';
import type { DomainName, DomainView, ParseDomainName } from './outcomes.ts';
import type { StoredDomain } from './share-domains.ts';

export interface DomainViewDeps {
  readonly store: { now(): UnixSeconds };
  readonly resolver: Resolver;
  readonly parseName: ParseDomainName;
  readonly target: string;
}

export interface DomainViews {
  viewOf(domain: StoredDomain): Promise<DomainView>;
}

/** The target's addresses are the operator's: they change rarely, and every page of domains shows them. */
const keptSeconds = 60;

function createTargetAddresses({
  store,
  resolver,
  target,
}: DomainViewDeps): () => Promise<readonly string[]> {
  let kept: { readonly at: UnixSeconds; readonly addresses: Promise<readonly string[]> } | null = null;
  const ask = async () => {
    const answer = await resolver.addresses(target);
    return answer.outcome === 'found' ? answer.values : [];
  };
  return () => {
    const now = store.now();
    if (kept === null || now - kept.at >= keptSeconds) kept = { at: now, addresses: ask() };
    return kept.addresses;
  };
}

/** Of a name that the list knows no suffix of, as only an operator can add: the whole of it is the base. */
function wholeName(name: string): DomainName {
  const publicSuffix = name.slice(name.lastIndexOf('.') + 1);
  return { name, unicodeName: name, baseDomain: name, subdomain: '', publicSuffix };
}

export function createDomainViews(deps: DomainViewDeps): DomainViews {
  const addressesOfTarget = createTargetAddresses(deps);
  return {
    async viewOf(domain) {
      const { name, state, challenge, finding, checkedAt, createdAt, updatedAt, brand, logoName } = domain;
      const [parsed, addresses] = await Promise.all([deps.parseName(name), addressesOfTarget()]);
      const { unicodeName, baseDomain, subdomain, publicSuffix } =
        'name' in parsed ? parsed : wholeName(name);
      return {
        ...{ name, unicodeName, baseDomain, subdomain, publicSuffix, state },
        txtRecord: challenge === null ? null : { host: txtHostOf(name, challenge), value: challenge },
        target: { host: deps.target, addresses },
        ...{ finding, checkedAt, createdAt, updatedAt, brand, logoName },
      };
    },
  };
}
