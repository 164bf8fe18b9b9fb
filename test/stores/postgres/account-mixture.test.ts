/**
 * Everything that is decided about accounts, in any order and at once on two nodes: no two decisions wait for each other in a circle.
 * Prints its seed when it fails.
 */
import { describe, expect, it } from 'bun:test';
import fc from 'fast-check';
import type { AccountId } from '../../../src/core/account.ts';
import { startPostgres } from '../../support/postgres.ts';
import {
  accountNamed,
  newAccount,
  newPassword,
  newSession,
  newTicket,
  newToken,
  noTicketLimits,
  ticketFor,
} from '../conformance/account-fixtures.ts';
import { putNew } from '../conformance/check.ts';
import { newDomain, newLogo } from '../conformance/domain-fixtures.ts';
import { type Nodes, openNodes } from './two-nodes.ts';

const names = ['ann@example.org', 'bob@example.org'];
const domains = ['a.example.org', 'b.example.org'];
/** Many have the same, so that many find it right. */
const password = { ...newPassword(), verifier: new Uint8Array(32) };
const verified = { state: 'verified', finding: null } as const;

type Store = Nodes['one'];

const accountFirst = 'PERFORM FROM accounts WHERE username = name FOR NO KEY UPDATE;';

/** A circle is never resolved, so it ends as decisions in doubt. */
const config = { deadlock_timeout: "'10min'" };

/** An account as it was known a moment ago. */
interface Target {
  readonly store: Store;
  readonly id: AccountId;
  readonly name: string;
  readonly domain: string;
}

async function useTicket({ store, name }: Target, kind: 'sign_up' | 'reset'): Promise<unknown> {
  const ticket = newTicket(kind, name, store.now());
  await store.addTicket(ticket, noTicketLimits);
  return kind === 'reset'
    ? store.redeemReset(ticket.ticketHash, password, 'revoke')
    : store.redeemSignUp(ticket.ticketHash, { plan: 'basic', createdAt: store.now() }, password);
}

const decisions: Readonly<Record<string, (target: Target) => Promise<unknown>>> = {
  create: ({ store, name }) => store.createAccount(newAccount(name), newToken()),
  invite: ({ store, name }) => store.inviteAccount(newAccount(name), newTicket('reset', name)),
  signUp: (target) => useTicket(target, 'sign_up'),
  reset: (target) => useTicket(target, 'reset'),
  hand: ({ store, id, name }) => store.replaceResetTickets(id, newTicket('reset', name)),
  change: ({ store, id }) => store.changePassword(id, password.verifier, password, 0, 'revoke'),
  lock: ({ store, id }) => store.lockAccount(id),
  unlock: ({ store, id }) => store.unlockAccount(id),
  logIn: ({ store, id }) => store.addSession(id, password.verifier, newSession(store.now())),
  async useSession({ store, id }) {
    for (const { sessionId } of await store.listSessions(id))
      await store.noteSessionUse(sessionId, store.now(), store.now() + 60);
  },
  addToken: ({ store, id }) => store.addOwnToken(id, password.verifier, newToken()),
  async useTokens({ store, id }) {
    for (const { tokenId } of await store.listTokens(id)) await store.noteTokenUse(tokenId, store.now());
  },
  async revoke({ store, id }) {
    for (const { tokenId } of await store.listTokens(id)) await store.revokeToken(id, tokenId);
  },
  addDomain: ({ store, id, domain }) => store.addDomain(newDomain(id, domain), 1),
  verify: ({ store, id, domain }) => store.noteDomainCheck(id, domain, verified),
  logo: ({ store, id, domain }) => store.setDomainLogo(id, domain, newLogo()),
  removeDomain: ({ store, id, domain }) => store.removeDomain(id, domain),
  takeDomains: ({ store }) => store.takeDomainsToCheck(store.now(), 2, 0),
  put: ({ store, id }) => putNew(store, { owner: id }).catch(() => {}),
  async remove({ store, id }) {
    if (await store.deleteAccount(id)) await store.continueDeletion(id, 10);
  },
  sweep: ({ store }) => store.sweep(10),
};

const aCall = fc.record({
  what: fc.constantFrom(...Object.keys(decisions)),
  node: fc.nat(1),
  account: fc.nat(1),
  domain: fc.nat(1),
});

/** How the first wave failed in which something did, if any. */
async function faultsIn(nodes: Nodes, seed: number): Promise<string[]> {
  const wave = fc.array(aCall, { minLength: 30, maxLength: 30 });
  for (const calls of fc.sample(wave, { seed, numRuns: 100 })) {
    const ids: AccountId[] = [];
    for (const name of names)
      ids.push((await nodes.one.findAccount(name))?.id ?? (await accountNamed(nodes.one, name)).id);
    const settled = await Promise.allSettled(
      calls.map(({ what, node, account, domain }) =>
        decisions[what]?.({
          store: nodes.node(node),
          id: ids[account] as AccountId,
          name: names[account] ?? '',
          domain: domains[domain] ?? '',
        }),
      ),
    );
    const faults = settled.flatMap((each, n) =>
      each.status === 'rejected' ? [`${calls[n]?.what}: ${each.reason}`] : [],
    );
    if (faults.length > 0) return faults;
  }
  return [];
}

describe('what is decided about accounts over PostgreSQL', () => {
  it('never waits in a circle, whatever meets', async () => {
    await using server = await startPostgres({ config });
    await using nodes = await openNodes(server);
    const seed = Date.now() % 2 ** 31;
    expect(await faultsIn(nodes, seed), `seed ${seed}`).toEqual([]);
  });

  for (const [what, isSeeded] of [
    ['uses a ticket up after its account is locked, so that it and a lock do not wait for each other', false],
    ['would wait in a circle if the ticket came first', true],
  ] as const)
    it(what, async () => {
      await using server = await startPostgres({ config });
      await using nodes = await openNodes(server);
      if (isSeeded) await nodes.seed('use_ticket', accountFirst, '');
      const { id, username } = await accountNamed(nodes.one, 'ann@example.org');
      const { ticketHash } = await ticketFor(nodes.one, 'reset', username);
      const used = nodes.during(
        [['UPDATE accounts SET locked_at = 1 WHERE id = $1', [id]]],
        () => nodes.other.redeemReset(ticketHash, newPassword(), 'keep'),
        ["UPDATE tickets SET expires_at = 0 WHERE kind = 'reset' AND username = $1", [username]],
      );
      expect(await used.catch(({ code }) => code)).toBe(isSeeded ? 'unavailable' : null);
    });
});
