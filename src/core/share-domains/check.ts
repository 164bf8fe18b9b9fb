/**
 * Checks in the DNS whether a share domain belongs to its account and points here.
 *
 * A missing answer is not the answer that there is nothing: without an answer the state stays. A domain becomes verified
 * only if its TXT record holds the challenge and its name points here. Only the resolver is asked; nothing is ever fetched
 * from the name or its addresses.
 *
 * One check per domain runs at a time, and all callers get its result. Only a changed state causes an event.
 */
import type { DomainState } from '../../protocol/vocabulary.ts';
import type { Events } from '../events.ts';
import type { DomainStore } from '../ports/domains.ts';
import type { DomainCheck, DomainFinding, StoredDomain } from '../share-domain.ts';
import type { UnixSeconds } from '../time.ts';

/** From the configured resolver and nowhere else. Never rejects. */
export type DnsAnswer =
  | { readonly outcome: 'found'; readonly values: readonly string[] }
  /** No such name, or no such record. */
  | { readonly outcome: 'none' }
  /** No usable answer: a timeout, a refusal, a failing server. Says nothing about the record. */
  | { readonly outcome: 'failed' };

export interface Resolver {
  /** Each record's strings joined. */
  txt(name: string): Promise<DnsAnswer>;
  /** Lower case, without the last dot. */
  cname(name: string): Promise<DnsAnswer>;
  /** IPv4 and IPv6 together; `found` if either is. */
  addresses(name: string): Promise<DnsAnswer>;
  /** A resolver for the questions of one check, which together take no longer than one question may. */
  forOneCheck?(): Resolver;
}

export interface CheckCore {
  readonly store: DomainStore & { now(): UnixSeconds };
  readonly resolver: Resolver;
  /** The host name that domains must point to. */
  readonly target: string;
  readonly events: Events;
}

type Dns = Pick<CheckCore, 'resolver' | 'target'>;

/** Real chains have two or three; longer or endless ones do not count. */
const maxHops = 5;

/** Part of the challenge in the name lets several accounts prove the same domain at once. */
const challengeTagLength = 7;

/** The host of the TXT record that must hold the challenge. */
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
 * To become verified, all of its addresses must be the target's, or some readers would arrive elsewhere. To stay verified,
 * one is enough, because a target with many addresses may return different ones every time.
 */
function compareAddresses(own: DnsAnswer, target: DnsAnswer, isVerified: boolean): Pointing {
  if (own.outcome === 'failed' || target.outcome === 'failed') return 'unknown';
  if (own.outcome === 'none' || target.outcome === 'none') return 'elsewhere';
  const isTargets = (address: string) => target.values.includes(address);
  const isHere = isVerified ? own.values.some(isTargets) : own.values.every(isTargets);
  return isHere ? 'here' : 'elsewhere';
}

async function findPointing(deps: Dns, { name, state }: StoredDomain): Promise<Pointing> {
  const { resolver, target } = deps;
  const chain = await followChain(resolver, name, target);
  if (chain === 'here') return 'here';
  const [own, targets] = await Promise.all([resolver.addresses(name), resolver.addresses(target)]);
  const byAddress = compareAddresses(own, targets, state === 'verified');
  return byAddress === 'elsewhere' && chain === 'unknown' ? 'unknown' : byAddress;
}

/** A domain that was once verified becomes `lost`; it does not start over. */
function without(finding: DomainFinding, state: DomainState, otherwise: DomainState): DomainCheck {
  const wasVerified = state === 'verified' || state === 'lost';
  return { state: wasVerified ? 'lost' : otherwise, finding };
}

/** Asks the resolver about a domain with a challenge. */
export async function checkDomain(
  { resolver, target }: Dns,
  domain: StoredDomain & { readonly challenge: string },
): Promise<DomainCheck> {
  const { name, state, challenge } = domain;
  const session = resolver.forOneCheck?.() ?? resolver;
  const unknown: DomainCheck = { state, finding: 'dns_failed' };
  const texts = await session.txt(txtHostOf(name, challenge));
  if (texts.outcome === 'failed') return unknown;
  if (texts.outcome === 'none') return without('txt_missing', state, 'unverified');
  if (!texts.values.includes(challenge)) return without('txt_differs', state, 'unverified');
  const pointing = await findPointing({ resolver: session, target }, domain);
  if (pointing === 'unknown') return unknown;
  return pointing === 'here'
    ? { state: 'verified', finding: null }
    : without('not_pointing', state, 'pending');
}

/** As `DomainStore.noteDomainCheck`. */
type Checked = StoredDomain | 'taken' | null;

interface DomainChecks {
  /** Asks the DNS and notes the result; a domain that the operator added is returned unchanged. */
  check(domain: StoredDomain): Promise<Checked>;
  checkDue(until?: AbortSignal): Promise<number>;
}

const recheckSeconds = 86_400;
/** Ends a run, so that domains which fail early do not take every turn. */
const domainsPerRun = 50;
const checksAtOnce = 4;
/** Longer than a check takes: one that a fault or a crash cut off is another's after that. */
const leaseSeconds = 300;

export function createDomainChecks(deps: CheckCore): DomainChecks {
  const { store, events } = deps;
  const underWay = new Map<string, Promise<Checked>>();

  async function askAndNote(domain: StoredDomain): Promise<Checked> {
    const { accountId, name, state, challenge } = domain;
    if (challenge === null) return domain;
    const found = await checkDomain(deps, { ...domain, challenge });
    const noted = await store.noteDomainCheck(accountId, name, found);
    if (noted !== null && noted !== 'taken' && noted.state !== state)
      events({ event: 'domain_checked', account: accountId, domainState: noted.state });
    return noted;
  }

  function check(domain: StoredDomain): Promise<Checked> {
    const key = `${domain.accountId} ${domain.name}`;
    const running = underWay.get(key);
    if (running !== undefined) return running;
    const started = askAndNote(domain).finally(() => underWay.delete(key));
    underWay.set(key, started);
    return started;
  }

  async function recheck(domain: StoredDomain): Promise<void> {
    if ((await check(domain)) !== 'taken') return;
    // Stays lost while another account has it verified. Noted, or it would come first in every run.
    const { accountId, name, state, finding } = domain;
    await store.noteDomainCheck(accountId, name, { state, finding });
  }

  /** Takes one at a time: what a run does not get to is left to others, not to the end of its lease. */
  async function work(run: { left: number }, until: AbortSignal | undefined): Promise<number> {
    const before = store.now() - recheckSeconds + 1;
    for (let done = 0; ; done += 1) {
      if (run.left === 0 || until?.aborted === true) return done;
      run.left -= 1;
      const [next] = await store.takeDomainsToCheck(before, 1, leaseSeconds);
      if (next === undefined) return done;
      await recheck(next);
    }
  }

  return {
    check,
    checkDue: async (until) => {
      const run = { left: domainsPerRun };
      const workers = await Promise.allSettled(Array.from({ length: checksAtOnce }, () => work(run, until)));
      const fault = workers.find((worker) => worker.status === 'rejected');
      if (fault !== undefined) throw fault.reason;
      return workers.reduce((sum, worker) => sum + (worker.status === 'fulfilled' ? worker.value : 0), 0);
    },
  };
}
