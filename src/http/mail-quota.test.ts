import { describe, expect, it } from 'bun:test';
import { builtInRateLimits } from '../config/json-files.ts';
import type { AccountId } from '../core/account.ts';
import type { MailQuota } from '../core/mailer.ts';
import { Sensitive } from '../core/sensitive.ts';
import { type ClientKey, createMailQuota, createRateLimiter, type RateLimiter } from './rate-limit.ts';

const jo = 1 as AccountId;
const al = 2 as AccountId;
const hourMs = 3_600_000;
const mailbox = 'ann@example.org';

const key = new Uint8Array(32).fill(7);

function setUp(rootKey = key) {
  const time = { nowMs: 0 };
  const counted: ClientKey[] = [];
  const limiter = createRateLimiter({ table: builtInRateLimits, nowMs: () => time.nowMs });
  const listening: RateLimiter = {
    ...limiter,
    takeShared(calls) {
      counted.push(...calls.map(({ client }) => client));
      return limiter.takeShared(calls);
    },
  };
  return { time, counted, limiter, quota: createMailQuota(listening, rootKey) };
}

async function takeMany(quota: MailQuota, account: AccountId, addresses: readonly string[]): Promise<number> {
  let allowed = 0;
  for (const address of addresses) {
    if ((await quota.take(account, new Sensitive(address))).outcome === 'allowed') allowed += 1;
  }
  return allowed;
}

const different = (count: number) => Array.from({ length: count }, (_, at) => `person${at}@example.org`);

describe('the bounds on mails', () => {
  it('P21 are 50 an hour for an account, whomever it writes to', async () => {
    const { quota, time } = setUp();
    expect(await takeMany(quota, jo, different(60))).toBe(50);
    expect(await quota.take(jo, new Sensitive(mailbox))).toEqual({
      outcome: 'too_many',
      retryAfterSeconds: 72,
    });
    expect(await takeMany(quota, al, different(60))).toBe(50);
    time.nowMs = hourMs;
    expect(await takeMany(quota, jo, different(60))).toBe(50);
  });

  it('P21 are 20 a day for a mailbox, whoever writes to it, in whatever case', async () => {
    const { quota, time } = setUp();
    expect(await takeMany(quota, jo, Array(15).fill(mailbox))).toBe(15);
    expect(await takeMany(quota, al, Array(15).fill('Ann@EXAMPLE.org'))).toBe(5);
    expect(await quota.take(al, new Sensitive(mailbox))).toEqual({
      outcome: 'too_many',
      retryAfterSeconds: 4_320,
    });
    expect(await takeMany(quota, al, ['another@example.org'])).toBe(1);
    time.nowMs = 24 * hourMs;
    expect(await takeMany(quota, jo, Array(30).fill(mailbox))).toBe(20);
  });

  it('count a mail against both or against neither: what one bound refuses the other does not count', async () => {
    const { quota, limiter } = setUp();
    await takeMany(quota, al, Array(20).fill(mailbox));
    expect(await takeMany(quota, jo, Array(1_000).fill(mailbox))).toBe(0);
    expect(await takeMany(quota, jo, different(60))).toBe(50);
    // The account has no mails left, so the mailbox it then writes to must not lose one.
    const fresh = 'fresh@example.org';
    expect(await takeMany(quota, jo, Array(100).fill(fresh))).toBe(0);
    expect(await limiter.peekShared([{ name: 'mail', party: 'account', client: jo }])).not.toBeNull();
    expect(await takeMany(quota, 3 as AccountId, Array(20).fill(fresh))).toBe(20);
  });

  it('would lose a mail of the account for each full mailbox if each were counted by itself (self-test)', async () => {
    const { limiter } = setUp();
    const greedy = createMailQuota(
      {
        ...limiter,
        async takeShared(calls) {
          for (const call of calls) {
            const refusal = await limiter.takeShared([call]);
            if (refusal !== null) return refusal;
          }
          return null;
        },
      },
      key,
    );
    await takeMany(greedy, al, Array(20).fill(mailbox));
    await takeMany(greedy, jo, Array(10).fill(mailbox));
    expect(await takeMany(greedy, jo, different(60))).toBe(40);
  });

  it('give a mail back to both bounds when it was not handed over', async () => {
    const { quota } = setUp();
    for (let mail = 0; mail < 100; mail += 1) {
      expect(await takeMany(quota, jo, [mailbox])).toBe(1);
      await quota.refund(jo, new Sensitive('ANN@example.org'));
    }
    expect(await takeMany(quota, jo, Array(30).fill(mailbox))).toBe(20);
  });

  it('P18 keep no address, and a hash that every node with the same root gives, and no other', async () => {
    const [one, two, other] = [setUp(), setUp(), setUp(new Uint8Array(32).fill(8))];
    for (const { quota } of [one, two, other]) await quota.take(jo, new Sensitive(mailbox));
    expect(one.counted).toEqual([jo, expect.stringMatching(/^[0-9A-Za-z+/]{43}=$/)]);
    expect(two.counted).toEqual(one.counted);
    expect(other.counted[1]).not.toBe(one.counted[1] ?? '');
  });

  it('are off with all other limits', async () => {
    const quota = createMailQuota(createRateLimiter({ table: 'off', nowMs: () => 0 }), key);
    expect(await takeMany(quota, jo, Array(500).fill(mailbox))).toBe(500);
  });
});
