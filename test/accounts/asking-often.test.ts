/**
 * A stranger who keeps requesting links for someone else's address can neither void one, nor flood the mailbox, nor
 * keep the owner from getting one.
 */
import { describe, expect, it } from 'bun:test';
import { Sensitive } from '../../src/core/sensitive.ts';
import { type AccountBench, createAccountBench, label, locale, otherPassword } from './account-bench.ts';

const owner = 'jo@example.org';
const nobody = 'nobody@example.org';
const minute = 60;
const hour = 3_600;
const day = 86_400;

/** Someone who has signed up more than a day ago. */
async function benchOfOwner(): Promise<AccountBench> {
  const bench = createAccountBench();
  await bench.person(owner);
  bench.advance(day + 1);
  return bench;
}

const reset = (ticket: string) => ({
  ticket,
  password: new Sensitive(otherPassword),
  existingToken: new Sensitive(''),
  tokens: 'keep' as const,
  label,
  locale,
  clientPrefix: '',
});

/** Requests both kinds of mail, and returns the kinds of those that were sent meanwhile. */
async function askForBoth({ accounts, mails }: AccountBench, email: string): Promise<string[]> {
  const from = mails.length;
  await accounts.requestReset({ email, locale });
  await accounts.requestSignUp({ email, locale });
  await accounts.settled();
  return mails.slice(from).map(({ kind }) => kind);
}

describe('a link that its owner has asked for', () => {
  it('works however often a stranger asks for another (P17)', async () => {
    const bench = await benchOfOwner();
    const first = await bench.resetTicket(owner);
    for (let asked = 0; asked < 59; asked += 1) {
      bench.advance(minute);
      await bench.accounts.requestReset({ email: owner, locale });
    }
    bench.advance(minute - 1);
    expect(await bench.accounts.checkReset(first)).toEqual({
      outcome: 'valid',
      username: owner,
      isFirst: false,
    });
    expect(await bench.accounts.resetPassword(reset(first))).toMatchObject({ outcome: 'reset' });
  });

  it('to a sign-up works for its whole day, however often a stranger asks for another', async () => {
    const bench = createAccountBench();
    const first = await bench.signUpTicket(owner);
    for (let asked = 0; asked < 100; asked += 1) {
      bench.advance(14 * minute);
      await bench.accounts.requestSignUp({ email: owner, locale });
    }
    expect(await bench.accounts.checkSignUp(first)).toEqual({ outcome: 'valid', username: owner });
  });

  it('is void when another of its kind was used', async () => {
    const bench = await benchOfOwner();
    const tickets: string[] = [];
    for (const pause of [0, minute, 5 * minute]) {
      bench.advance(pause);
      tickets.push(await bench.resetTicket(owner));
    }
    const [first = '', second = '', third = ''] = tickets;
    expect(new Set(tickets).size).toBe(3);
    expect(await bench.accounts.resetPassword(reset(second))).toMatchObject({ outcome: 'reset' });
    for (const ticket of [first, second, third])
      expect(await bench.accounts.checkReset(ticket)).toEqual({ outcome: 'gone' });
  });
});

describe('an address that a stranger asks for every minute', () => {
  it('gets 26 links to a reset and 3 mails about a sign-up in a day at most (P21)', async () => {
    const bench = await benchOfOwner();
    const sent: { readonly at: number; readonly kind: string }[] = [];
    for (let asked = 0; asked < (2 * day) / minute; asked += 1) {
      for (const kind of await askForBoth(bench, owner)) sent.push({ at: bench.now(), kind });
      bench.advance(minute);
    }
    const most = (kind: string) =>
      Math.max(
        ...sent.map(
          ({ at }) => sent.filter((each) => each.kind === kind && each.at >= at && each.at < at + day).length,
        ),
      );
    expect([most('reset'), most('already_signed_up')]).toEqual([26, 3]);
    const minutes = sent
      .filter(({ kind }) => kind === 'reset')
      .map(({ at }) => (at - (sent[0]?.at ?? 0)) / minute);
    expect(minutes.slice(0, 6)).toEqual([0, 1, 6, 60, 120, 180]);
  });

  it('has a link to a reset that works, or gets one when it is asked for, at every minute of two days (P17)', async () => {
    const bench = await benchOfOwner();
    const tickets: string[] = [];
    for (let asked = 0; asked < (2 * day) / minute; asked += 1) {
      const mails = bench.mails.length;
      await bench.accounts.requestReset({ email: owner, locale });
      await bench.accounts.settled();
      if (bench.mails.length > mails) tickets.unshift(await bench.mailedTicket('reset', owner));
      const live = await Promise.all(
        tickets.slice(0, 3).map(async (ticket) => (await bench.accounts.checkReset(ticket)).outcome),
      );
      expect(live).toContain('valid');
      bench.advance(minute);
    }
  }, 60_000);

  it('is the same in the store whether it has an account or not (P17)', async () => {
    const bench = await benchOfOwner();
    const keptOf = async (email: string) => {
      const live: number[] = [];
      for (const pause of [0, 59, 1, 299, 1, 54 * minute, 5 * hour, hour, day]) {
        bench.advance(pause);
        for (const ask of [bench.accounts.requestReset, bench.accounts.requestSignUp]) {
          bench.handed.length = 0;
          await ask({ email, locale });
          const [ticket] = bench.handed.at(-1) as [{ expiresAt: number; createdAt: number; kind: string }];
          live.push(ticket.expiresAt - ticket.createdAt);
        }
      }
      return live;
    };
    expect(await keptOf(nobody)).toEqual(await keptOf(owner));
  });

  it('gets one mail when two ask at the same time', async () => {
    const bench = await benchOfOwner();
    const from = bench.mails.length;
    await Promise.all([1, 2].map(() => bench.accounts.requestReset({ email: owner, locale })));
    await bench.accounts.settled();
    expect(bench.mails.slice(from).map(({ kind }) => kind)).toEqual(['reset']);
  });
});
