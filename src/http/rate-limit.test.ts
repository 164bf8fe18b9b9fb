import { describe, expect, it } from 'bun:test';
import { builtInRateLimits, type LocalLimit, type RateLimitTable } from '../config/json-files.ts';
import type { LimitRule } from '../core/ports/limits.ts';
import { createOwnLimits, createRateLimiter } from './rate-limit.ts';

describe('the built-in rate limits', () => {
  const hour = 3_600;
  const same = (rule: LimitRule) => ({ anonymous: rule, account: rule });
  const documented: RateLimitTable = {
    create: {
      anonymous: { limit: 1_200, windowSeconds: hour, burst: 300 },
      account: { limit: 12_000, windowSeconds: hour, burst: 1_000 },
    },
    manage: {
      anonymous: { limit: 3_000, windowSeconds: hour, burst: 300 },
      account: { limit: 12_000, windowSeconds: hour, burst: 1_000 },
    },
    logIn: {
      anonymous: { limit: 10, windowSeconds: 600, burst: 10 },
      account: { limit: 100, windowSeconds: hour, burst: 30 },
    },
    signUp: same({ limit: 10, windowSeconds: hour, burst: 10 }),
    mail: same({ limit: 50, windowSeconds: hour, burst: 50 }),
    mailbox: same({ limit: 20, windowSeconds: 24 * hour, burst: 20 }),
  };

  it('P21 are those that are documented', () => {
    expect(builtInRateLimits).toEqual(documented);
  });

  it.each(['anonymous', 'account'] as const)(
    'let the %s caller read back at once all it may create at once',
    (party) => {
      const limiter = createRateLimiter({ table: builtInRateLimits, nowMs: () => 0 });
      const passed = (name: LocalLimit) => {
        let calls = 0;
        while (limiter.take(name, party, 'a') === null) calls++;
        return calls;
      };
      expect(passed('manage')).toBeGreaterThanOrEqual(passed('create'));
    },
  );
});

describe('createRateLimiter', () => {
  it('refuses the call after the burst, with Retry-After and the RateLimit headers', () => {
    const limiter = createRateLimiter({ table: builtInRateLimits, nowMs: () => 0 });
    for (let call = 0; call < 300; call++)
      expect(limiter.take('create', 'anonymous', '203.0.113.0/24')).toBeNull();
    expect(limiter.take('create', 'anonymous', '203.0.113.0/24')).toEqual({
      retryAfterSeconds: 3,
      headers: {
        'retry-after': '3',
        ratelimit: '"create";r=0;t=3',
        'ratelimit-policy': '"create";q=1200;w=3600',
      },
    });
  });

  it('rounds the time to wait up to whole seconds, so that coming back then is in time', () => {
    let nowMs = 0;
    const limiter = createRateLimiter({ table: builtInRateLimits, nowMs: () => nowMs });
    for (let call = 0; call < 300; call++) limiter.take('create', 'anonymous', 'a');
    nowMs = 2_700;
    expect(limiter.take('create', 'anonymous', 'a')?.retryAfterSeconds).toBe(1);
    nowMs = 500;
    const waitSeconds = limiter.take('create', 'anonymous', 'a')?.retryAfterSeconds ?? 0;
    expect(waitSeconds).toBe(3);
    nowMs += waitSeconds * 1000;
    expect(limiter.take('create', 'anonymous', 'a')).toBeNull();
  });

  it('keeps classes and parties apart', () => {
    const limiter = createRateLimiter({ table: builtInRateLimits, nowMs: () => 0 });
    for (let call = 0; call < 301; call++) limiter.take('create', 'anonymous', 'a');
    expect(limiter.take('create', 'anonymous', 'a')).not.toBeNull();
    expect(limiter.take('manage', 'anonymous', 'a')).toBeNull();
    expect(limiter.take('create', 'account', 'a')).toBeNull();
    expect(limiter.take('create', 'anonymous', 'b')).toBeNull();
  });

  const toLogIn = (party: 'anonymous' | 'account', client: string) =>
    [{ name: 'logIn', party, client }] as const;

  it('P21 counts a log-in before it is tried and gives it back when it was right: only wrong ones use the limit up', async () => {
    const limiter = createRateLimiter({ table: builtInRateLimits, nowMs: () => 0 });
    const jo = toLogIn('account', 'jo@example.org');
    for (let right = 0; right < 1_000; right++) {
      expect(await limiter.takeShared(jo)).toBeNull();
      await limiter.refundShared(jo);
    }
    for (let wrong = 0; wrong < 30; wrong++) expect(await limiter.takeShared(jo)).toBeNull();
    expect(await limiter.takeShared(jo)).toMatchObject({ retryAfterSeconds: 36 });
    expect(await limiter.peekShared(toLogIn('anonymous', 'jo@example.org'))).toBeNull();
    await limiter.refundShared(toLogIn('anonymous', 'jo@example.org'));
    await limiter.refundShared(toLogIn('account', 'al@example.org'));
    expect(await limiter.peekShared(jo)).not.toBeNull();
  });

  it('counts what is asked for together against all or against none, and tells the first that refuses', async () => {
    const limiter = createRateLimiter({ table: builtInRateLimits, nowMs: () => 0 });
    const [client, jo] = [toLogIn('anonymous', 'a'), toLogIn('account', 'jo@example.org')];
    for (let call = 0; call < 30; call++) await limiter.takeShared(jo);
    for (let call = 0; call < 100; call++) {
      expect(await limiter.takeShared([...client, ...jo])).toMatchObject({ retryAfterSeconds: 36 });
    }
    for (let call = 0; call < 10; call++) expect(await limiter.takeShared(client)).toBeNull();
    expect(await limiter.takeShared([...client, ...jo])).toMatchObject({ retryAfterSeconds: 60 });
  });

  it('counts with all nodes on a store what they share, and by itself what they do not', async () => {
    const shared = createOwnLimits(() => 0);
    const nodes = [1, 2].map(() => createRateLimiter({ table: builtInRateLimits, nowMs: () => 0, shared }));
    const client = toLogIn('anonymous', 'a');
    const allowed = await Promise.all(
      Array.from({ length: 40 }, (_, call) => nodes[call % 2]?.takeShared(client)),
    );
    expect(allowed.filter((refusal) => refusal === null)).toHaveLength(10);
    for (const node of nodes) {
      const passed = Array.from({ length: 400 }, () => node.take('create', 'anonymous', 'a'));
      expect(passed.filter((refusal) => refusal === null)).toHaveLength(300);
    }
  });

  it('limits nothing when it is off', async () => {
    const limiter = createRateLimiter({ table: 'off', nowMs: () => 0 });
    const client = toLogIn('anonymous', 'a');
    for (let call = 0; call < 1_000; call++) {
      expect(await limiter.takeShared(client)).toBeNull();
      expect(limiter.take('create', 'anonymous', 'a')).toBeNull();
    }
    await limiter.refundShared(client);
    expect(await limiter.peekShared(client)).toBeNull();
  });
});
