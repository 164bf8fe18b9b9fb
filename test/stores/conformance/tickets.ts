/**
 * Checks of the number of mailed tickets: several may be live at once, but few, and less and less often.
 */
import { strict as assert } from 'node:assert';
import type { StoredTicket, TicketLimits } from '../../../src/core/account.ts';
import type { Store } from '../../../src/store/store.ts';
import { accountNamed, newPassword, newTicket, ticketFor, ticketSeconds } from './account-fixtures.ts';
import { type ConformanceCheck, check, restartCheck } from './check.ts';

const username = 'ann@example.org';
const plan = { plan: 'basic', createdAt: 1_800_000_000 } as const;

/** Several ticket lifetimes. */
const windowSeconds = 10 * ticketSeconds;
const rarer: TicketLimits = { maxLive: 100, quietSeconds: [60, 300], windowSeconds };
const few: TicketLimits = { maxLive: 3, quietSeconds: [0], windowSeconds };

/** Asks for a ticket now; `null` when it was not kept. */
async function ask(store: Store, limits: TicketLimits, name = username): Promise<StoredTicket | null> {
  const ticket = newTicket('reset', name, store.now());
  return (await store.addTicket(ticket, limits)) ? ticket : null;
}

async function areLive(store: Store, tickets: readonly (StoredTicket | null)[]): Promise<boolean[]> {
  const found = await Promise.all(
    tickets.map((each) => each && store.findTicket(each.kind, each.ticketHash)),
  );
  return found.map((each) => each !== null);
}

export const ticketLimitChecks: readonly ConformanceCheck[] = [
  check('port', 'tickets of one kind and username live side by side', async ({ store }) => {
    const tickets = [
      await ticketFor(store, 'reset', username),
      await ticketFor(store, 'reset', username),
      await ticketFor(store, 'sign_up', username),
      await ticketFor(store, 'reset', 'bob@example.org'),
    ];
    for (const each of tickets) assert.deepEqual(await store.findTicket(each.kind, each.ticketHash), each);
  }),

  check(
    'P21',
    'a username gets no more live tickets of a kind than the limit, also of many at once, and keeps each until it ends',
    async ({ store, wallClock }) => {
      const asked = await Promise.all(Array.from({ length: 20 }, () => ask(store, few)));
      const kept = asked.filter((each) => each !== null);
      assert.equal(kept.length, few.maxLive);
      wallClock.advance(ticketSeconds - 1);
      assert.equal(await ask(store, few), null);
      assert.deepEqual(await areLive(store, kept), [true, true, true]);
      assert.notEqual(await ask(store, few, 'bob@example.org'), null);
      assert.equal(await store.addTicket(newTicket('sign_up', username, store.now()), few), true);
      wallClock.advance(1);
      assert.deepEqual(await areLive(store, kept), [false, false, false]);
      assert.notEqual(await ask(store, few), null);
    },
  ),

  check(
    'P21',
    'within the quiet time a username gets no second ticket of a kind, also of many at once',
    async ({ store, wallClock }) => {
      const asked = await Promise.all(Array.from({ length: 20 }, () => ask(store, rarer)));
      assert.equal(asked.filter((each) => each !== null).length, 1);
      wallClock.advance(59);
      assert.equal(await ask(store, rarer), null);
      assert.notEqual(await ask(store, rarer, 'bob@example.org'), null);
      assert.equal(await store.addTicket(newTicket('sign_up', username, store.now()), rarer), true);
      wallClock.advance(1);
      assert.notEqual(await ask(store, rarer), null);
    },
  ),

  check(
    'P21',
    'the quiet time grows with every ticket of the window, and what was refused does not count',
    async ({ store, wallClock }) => {
      const keptAt: number[] = [];
      for (let second = 0; second <= 1_000; second += 20) {
        if ((await ask(store, rarer)) !== null) keptAt.push(second);
        wallClock.advance(20);
      }
      assert.deepEqual(keptAt, [0, 60, 360, 660, 960]);
      wallClock.advance(windowSeconds);
      assert.notEqual(await ask(store, rarer), null);
      wallClock.advance(60);
      assert.notEqual(await ask(store, rarer), null);
    },
  ),

  check(
    'P21',
    'tickets that were used, voided, expired or swept past their end count until the window has passed',
    async ({ store, wallClock }) => {
      await accountNamed(store, username);
      const first = await ask(store, rarer);
      wallClock.advance(60);
      await ask(store, rarer);
      assert.ok(first !== null);
      assert.notEqual(await store.redeemReset(first.ticketHash, newPassword(), 'keep'), null);
      wallClock.advance(299);
      assert.equal(await ask(store, rarer), null);
      wallClock.advance(1);
      assert.notEqual(await ask(store, rarer), null);
      wallClock.advance(ticketSeconds);
      await store.sweep(100);
      const long: TicketLimits = { ...rarer, quietSeconds: [0, 0, windowSeconds] };
      assert.equal(await ask(store, long), null);
      wallClock.advance(windowSeconds - ticketSeconds);
      await store.sweep(100);
      assert.notEqual(await ask(store, long), null);
    },
  ),

  check(
    'port',
    'the use of a ticket voids every other of its kind and username, and no other',
    async ({ store }) => {
      await accountNamed(store, 'bob@example.org');
      const make = async () => ({
        signUps: [await ticketFor(store, 'sign_up', username), await ticketFor(store, 'sign_up', username)],
        resets: [
          await ticketFor(store, 'reset', 'bob@example.org'),
          await ticketFor(store, 'reset', 'bob@example.org'),
        ],
        others: [
          await ticketFor(store, 'reset', username),
          await ticketFor(store, 'sign_up', 'bob@example.org'),
        ],
      });
      const { signUps, resets, others } = await make();
      const use = (tickets: readonly StoredTicket[]) => tickets[1]?.ticketHash ?? new Uint8Array(32);
      assert.ok(typeof (await store.redeemSignUp(use(signUps), plan, newPassword())) === 'object');
      assert.deepEqual(await areLive(store, signUps), [false, false]);
      assert.deepEqual(await areLive(store, [...resets, ...others]), [true, true, true, true]);
      assert.notEqual(await store.redeemReset(use(resets), newPassword(), 'keep'), null);
      assert.deepEqual(await areLive(store, resets), [false, false]);
      assert.deepEqual(await areLive(store, others), [true, true]);
      for (const { ticketHash } of [...signUps, ...resets]) {
        assert.equal(await store.redeemSignUp(ticketHash, plan, newPassword()), 'gone');
        assert.equal(await store.redeemReset(ticketHash, newPassword(), 'keep'), null);
      }
    },
  ),

  check(
    'port',
    'of two tickets of one reset used at once exactly one sets the password',
    async ({ store }) => {
      const account = await accountNamed(store, username);
      const tickets = [await ticketFor(store, 'reset', username), await ticketFor(store, 'reset', username)];
      const passwords = tickets.map(() => newPassword());
      const outcomes = await Promise.all(
        tickets.map(({ ticketHash }, n) =>
          store.redeemReset(ticketHash, passwords[n] ?? newPassword(), 'keep'),
        ),
      );
      assert.equal(outcomes.filter((each) => each !== null).length, 1);
      const won = outcomes.findIndex((each) => each !== null);
      assert.deepEqual(await store.findPassword(username), { account, password: passwords[won] });
    },
  ),

  restartCheck('P21', 'what counts against the next ticket survives a restart', async (subject, reopen) => {
    const { store, wallClock } = subject;
    await ask(store, rarer);
    wallClock.advance(60);
    await ask(store, rarer);
    const again = await reopen();
    wallClock.advance(299);
    assert.equal(await ask(again, rarer), null);
    wallClock.advance(1);
    assert.notEqual(await ask(again, rarer), null);
  }),
];
