import { describe, expect, it } from 'bun:test';
import { builtInRateLimits } from '../config/rate-limits.ts';
import type { AccountId } from '../core/accounts/accounts.ts';
import type { MailQuota } from '../core/mail/mailer.ts';
import { Sensitive } from '../core/sensitive.ts';
import type { ClientKey } from './gcra.ts';
import { createMailQuota } from './mail-quota.ts';
import { createRateLimiter, type RateLimiter } from './rate-limit.ts';

const jo = 1 as AccountId;
const al = 2 as AccountId;
const hourMs = 3_600_000;
const mailbox = 'ann@example.org';

function setUp() {
  const time = { nowMs: 0 };
  const counted: ClientKey[] = [];
  const limiter = createRateLimiter({ table: builtInRateLimits, nowMs: () => time.nowMs });
  const listening: RateLimiter = {
    ...limiter,
    take(name, party, client) {
      counted.push(client);
      return limiter.take(name, party, client);
    },
  };
  return { time, counted, limiter, quota: createMailQuota(listening) };
}

function takeMany(quota: MailQuota, account: AccountId, addresses: readonly string[]): number {
  return addresses.filter((address) => quota.take(account, new Sensitive(address)).outcome === 'allowed')
    .length;
}

const different = (count: number) => Array.from({ length: count }, (_, at) => `person${at}@example.org`);

describe('the bounds on mails', () => {
  it('P21 are 50 an hour for an account, whomever it writes to', () => {
    const { quota, time } = setUp();
    expect(takeMany(quota, jo, different(60))).toBe(50);
    expect(quota.take(jo, new Sensitive(mailbox))).toEqual({ outcome: 'too_many', retryAfterSeconds: 72 });
    expect(takeMany(quota, al, different(60))).toBe(50);
    time.nowMs = hourMs;
    expect(takeMany(quota, jo, different(60))).toBe(50);
  });

  it('P21 are 20 a day for a mailbox, whoever writes to it, in whatever case', () => {
    const { quota, time } = setUp();
    expect(takeMany(quota, jo, Array(15).fill(mailbox))).toBe(15);
    expect(takeMany(quota, al, Array(15).fill('Ann@EXAMPLE.org'))).toBe(5);
    expect(quota.take(al, new Sensitive(mailbox))).toEqual({ outcome: 'too_many', retryAfterSeconds: 4_320 });
    expect(takeMany(quota, al, ['another@example.org'])).toBe(1);
    time.nowMs = 24 * hourMs;
    expect(takeMany(quota, jo, Array(30).fill(mailbox))).toBe(20);
  });

  it('count a mail against both or against neither: what one bound refuses the other does not count', () => {
    const { quota, limiter } = setUp();
    takeMany(quota, al, Array(20).fill(mailbox));
    expect(takeMany(quota, jo, Array(1_000).fill(mailbox))).toBe(0);
    expect(takeMany(quota, jo, different(60))).toBe(50);
    // The account has none left: neither has the mailbox that it then writes to lost one.
    const fresh = 'fresh@example.org';
    expect(takeMany(quota, jo, Array(100).fill(fresh))).toBe(0);
    expect(limiter.peek('mail', 'account', jo)).not.toBeNull();
    expect(takeMany(quota, 3 as AccountId, Array(20).fill(fresh))).toBe(20);
  });

  it('would lose a mail of the account for each full mailbox if nothing were given back (self-test)', () => {
    const { limiter } = setUp();
    const greedy = createMailQuota({ ...limiter, refund: () => {} });
    takeMany(greedy, al, Array(20).fill(mailbox));
    takeMany(greedy, jo, Array(10).fill(mailbox));
    expect(takeMany(greedy, jo, different(60))).toBe(40);
  });

  it('P18 keep no address, and a hash that another process does not give', () => {
    const [one, two] = [setUp(), setUp()];
    for (const { quota } of [one, two]) quota.take(jo, new Sensitive(mailbox));
    expect(one.counted).toEqual([jo, expect.stringMatching(/^[0-9A-Za-z+/]{43}=$/)]);
    expect(one.counted[1]).not.toBe(two.counted[1] ?? '');
  });

  it('are off with all other limits', () => {
    const quota = createMailQuota(createRateLimiter({ table: 'off', nowMs: () => 0 }));
    expect(takeMany(quota, jo, Array(500).fill(mailbox))).toBe(500);
  });
});
