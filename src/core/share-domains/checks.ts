/**
 * When share domains are checked, and what becomes of it.
 *
 * Owns: the checks under way. Invariants: a domain is checked once at a time, whoever asks, and all who ask get what that
 * check found; an event tells of a state that changed, and of nothing else.
 */

import type { Events } from '../events.ts';
import type { DomainStore } from '../ports.ts';
import type { UnixSeconds } from '../time.ts';
import { checkDomain } from './check.ts';
import type { Resolver } from './dns.ts';
import type { StoredDomain } from './share-domains.ts';

export interface DomainChecksDeps {
  readonly store: DomainStore & { now(): UnixSeconds };
  readonly resolver: Resolver;
  readonly target: string;
  readonly events: Events;
}

/** As `DomainStore.noteDomainCheck`. */
type Checked = StoredDomain | 'taken' | null;

export interface DomainChecks {
  /** Asks the DNS and notes what it says; a domain that stands by the operator's word is given back as it is. */
  check(domain: StoredDomain): Promise<Checked>;
  checkDue(until?: AbortSignal): Promise<number>;
}

const recheckSeconds = 86_400;
/** So that a run ends, and the domains that failed at its beginning are not the only ones that get a turn. */
const domainsPerRun = 50;
const checksAtOnce = 4;

export function createDomainChecks(deps: DomainChecksDeps): DomainChecks {
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
    // It stays lost while another account has it verified; noted, or it would be the first of every run.
    const { accountId, name, state, finding } = domain;
    await store.noteDomainCheck(accountId, name, { state, finding });
  }

  async function work(queue: StoredDomain[], until: AbortSignal | undefined): Promise<number> {
    let done = 0;
    for (let next = queue.shift(); next !== undefined && until?.aborted !== true; next = queue.shift()) {
      await recheck(next);
      done += 1;
    }
    return done;
  }

  return {
    check,
    checkDue: async (until) => {
      const queue = await store.listDomainsToCheck(store.now() - recheckSeconds + 1, domainsPerRun);
      const workers = await Promise.allSettled(
        Array.from({ length: checksAtOnce }, () => work(queue, until)),
      );
      const fault = workers.find((worker) => worker.status === 'rejected');
      if (fault !== undefined) throw fault.reason;
      return workers.reduce((sum, worker) => sum + (worker.status === 'fulfilled' ? worker.value : 0), 0);
    },
  };
}
