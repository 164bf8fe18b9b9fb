/**
 * Checks in the DNS whether a share domain belongs to its account and points here: its TXT record must contain the challenge. No answer is
 * not the same as no record: without an answer, the state is kept. Only the resolver is contacted, never the name or its addresses. One
 * check per domain runs at a time, and all callers share its result. Only a changed state causes an event.
 */
import type { DomainState } from '../../protocol/vocabulary.ts';
import type { Events } from '../events.ts';
import type { DomainStore } from '../ports/domains.ts';
import type { DomainCheck, DomainFinding, StoredDomain } from '../share-domain.ts';
import type { UnixSeconds } from '../time.ts';

/** An answer from the configured resolver. Queries never reject. */
export type DnsAnswer =
  | { readonly outcome: 'found'; readonly values: readonly string[] }
  /** No such name or record. */
  | { readonly outcome: 'none' }
  /** No usable answer (a timeout, a refusal, a failing server): the record may exist. */
  | { readonly outcome: 'failed' };

export interface Resolver {
  /** Returns each record with its strings joined. */
  txt(name: string): Promise<DnsAnswer>;
  /** Returns names in lower case, without the trailing dot. */
  cname(name: string): Promise<DnsAnswer>;
  /** Returns IPv4 and IPv6 addresses; `found` if there are any. */
  addresses(name: string): Promise<DnsAnswer>;
  /** Returns a resolver for one check, whose queries together take no longer than a single query may. */
  forOneCheck?(): Resolver;
}

export interface CheckCore {
  readonly store: DomainStore & { now(): UnixSeconds };
  readonly resolver: Resolver;
  readonly target: string;
  readonly events: Events;
}

type Dns = Pick<CheckCore, 'resolver' | 'target'>;

/** Real chains have two or three hops. */
const maxHops = 5;

/** With part of the challenge in the record's name, several accounts can prove the same domain at the same time. */
const challengeTagLength = 7;

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
 * A domain becomes verified only if all of its addresses are the target's; otherwise, some readers would arrive elsewhere. To remain
 * verified, it needs only one, because a target with many addresses may return different ones every time.
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

/** Returns a failed check's result: a domain that was once verified becomes `lost`; it does not start over. */
function without(finding: DomainFinding, state: DomainState, otherwise: DomainState): DomainCheck {
  const wasVerified = state === 'verified' || state === 'lost';
  return { state: wasVerified ? 'lost' : otherwise, finding };
}

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

/** The result of `DomainStore.noteDomainCheck`. */
type Checked = StoredDomain | 'taken' | null;

interface DomainChecks {
  /** Queries the DNS and stores the result; a domain that the operator added is returned unchanged. */
  check(domain: StoredDomain): Promise<Checked>;
  checkDue(until?: AbortSignal): Promise<number>;
}

const recheckSeconds = 86_400;
/** Limits a run, so that domains whose checks fail early do not take up every turn. */
const domainsPerRun = 50;
const checksAtOnce = 4;
/** Longer than a check takes: after a fault or a crash, another process repeats the check. */
const leaseSeconds = 300;

export function createDomainChecks(deps: CheckCore): DomainChecks {
  const { store, events } = deps;
  const underWay = new Map<string, Promise<Checked>>();

  async function checkAndStore(domain: StoredDomain): Promise<Checked> {
    const { accountId, name, state, challenge } = domain;
    if (challenge === null) return domain;
    const found = await checkDomain(deps, { ...domain, challenge });
    const stored = await store.noteDomainCheck(accountId, name, found);
    if (stored !== null && stored !== 'taken' && stored.state !== state)
      events({ event: 'domain_checked', account: accountId, domainState: stored.state });
    return stored;
  }

  function check(domain: StoredDomain): Promise<Checked> {
    const key = `${domain.accountId} ${domain.name}`;
    const running = underWay.get(key);
    if (running !== undefined) return running;
    const started = checkAndStore(domain).finally(() => underWay.delete(key));
    underWay.set(key, started);
    return started;
  }

  async function recheck(domain: StoredDomain): Promise<void> {
    if ((await check(domain)) !== 'taken') return;
    // The domain is lost, and another account has it verified. The check is recorded, or this domain would come first in every run.
    const { accountId, name, state, finding } = domain;
    await store.noteDomainCheck(accountId, name, { state, finding });
  }

  /** Takes one domain at a time, which leaves the rest free for other processes. */
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
