/**
 * Whether a share domain is its account's and leads here, as the DNS says.
 *
 * Owns: what is asked and what follows from the answers. Invariants: a domain becomes verified only when its TXT record
 * holds the challenge and the name leads here; an answer that failed to come concludes nothing, so the state stays; only
 * the resolver is asked, nothing is ever fetched from the name or its addresses.
 */
import type { DnsAnswer, Resolver } from './dns.ts';
import type { DomainCheck, DomainFinding, DomainState, StoredDomain } from './share-domains.ts';

export interface DomainCheckDeps {
  readonly resolver: Resolver;
  /** The host name that domains must lead to. */
  readonly target: string;
}

/** Real chains have two or three; one that is longer, or never ends, leads nowhere. */
const maxHops = 5;

/** A part of the challenge in the name lets several accounts prove the same domain at a time. */
const challengeTagLength = 7;

/** Where the challenge must stand. */
export function txtHostOf(name: string, challenge: string): string {
  return `_mayfly-challenge-${challenge.slice(0, challengeTagLength)}.${name}`;
}

type Pointing = 'here' | 'elsewhere' | 'unknown';

async function followChain(resolver: Resolver, name: string, target: string): Promise<Pointing> {
  const seen = new Set([name]);
  let at = name;
  while (seen.size <= maxHops) {
    const answer = await resolver.cname(at);
    if (answer.outcome !== 'found') return answer.outcome === 'none' ? 'elsewhere' : 'unknown';
    at = answer.values[0] ?? '';
    if (at === target) return 'here';
    if (seen.has(at)) return 'elsewhere';
    seen.add(at);
  }
  return 'elsewhere';
}

/**
 * A domain gains its state only when all of its addresses are the target's, or some readers would arrive elsewhere; it
 * keeps its state while one of them is, because a target with many addresses may name others every time.
 */
function compareAddresses(own: DnsAnswer, target: DnsAnswer, isVerified: boolean): Pointing {
  if (own.outcome === 'failed' || target.outcome === 'failed') return 'unknown';
  if (own.outcome === 'none' || target.outcome === 'none') return 'elsewhere';
  const isTargets = (address: string) => target.values.includes(address);
  const isHere = isVerified ? own.values.some(isTargets) : own.values.every(isTargets);
  return isHere ? 'here' : 'elsewhere';
}

async function findWay(deps: DomainCheckDeps, { name, state }: StoredDomain): Promise<Pointing> {
  const { resolver, target } = deps;
  const chain = await followChain(resolver, name, target);
  if (chain === 'here') return 'here';
  const [own, targets] = await Promise.all([resolver.addresses(name), resolver.addresses(target)]);
  const byAddress = compareAddresses(own, targets, state === 'verified');
  return byAddress === 'elsewhere' && chain === 'unknown' ? 'unknown' : byAddress;
}

/** What was once verified is lost with its record or its way here; it does not begin anew. */
function without(finding: DomainFinding, state: DomainState, otherwise: DomainState): DomainCheck {
  const wasVerified = state === 'verified' || state === 'lost';
  return { state: wasVerified ? 'lost' : otherwise, finding };
}

/** Asks the resolver about a domain with a challenge. */
export async function checkDomain(
  { resolver, target }: DomainCheckDeps,
  domain: StoredDomain & { readonly challenge: string },
): Promise<DomainCheck> {
  const { name, state, challenge } = domain;
  const session = resolver.forOneCheck?.() ?? resolver;
  const unknown: DomainCheck = { state, finding: 'dns_failed' };
  const texts = await session.txt(txtHostOf(name, challenge));
  if (texts.outcome === 'failed') return unknown;
  if (texts.outcome === 'none') return without('txt_missing', state, 'unverified');
  if (!texts.values.includes(challenge)) return without('txt_differs', state, 'unverified');
  const way = await findWay({ resolver: session, target }, domain);
  if (way === 'unknown') return unknown;
  return way === 'here' ? { state: 'verified', finding: null } : without('not_pointing', state, 'pending');
}
