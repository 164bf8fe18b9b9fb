import { describe, expect, it } from 'bun:test';
import { builtInRateLimits, createRateLimiter, parseRateLimits } from './rate-limit.ts';

describe('the built-in rate limits', () => {
  it('P21 are those that are documented', () => {
    const hour = 3_600;
    expect(builtInRateLimits.create.anonymous).toEqual({ limit: 1_200, windowSeconds: hour, burst: 300 });
    expect(builtInRateLimits.create.account).toEqual({ limit: 12_000, windowSeconds: hour, burst: 1_000 });
    expect(builtInRateLimits.manage.anonymous).toEqual({ limit: 1_200, windowSeconds: hour, burst: 120 });
    expect(builtInRateLimits.manage.account).toEqual({ limit: 12_000, windowSeconds: hour, burst: 600 });
    expect(builtInRateLimits.logIn.anonymous).toEqual({ limit: 10, windowSeconds: 600, burst: 10 });
    expect(builtInRateLimits.logIn.account).toEqual({ limit: 100, windowSeconds: hour, burst: 30 });
    expect(builtInRateLimits.signUp.anonymous).toEqual({ limit: 10, windowSeconds: hour, burst: 10 });
    expect(builtInRateLimits.mail.account).toEqual({ limit: 50, windowSeconds: hour, burst: 50 });
    expect(builtInRateLimits.mailbox.account).toEqual({ limit: 20, windowSeconds: 24 * hour, burst: 20 });
  });
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
    expect(limiter.peek('create', 'anonymous', 'a')).not.toBeNull();
    expect(limiter.take('manage', 'anonymous', 'a')).toBeNull();
    expect(limiter.take('create', 'account', 'a')).toBeNull();
    expect(limiter.take('create', 'anonymous', 'b')).toBeNull();
  });

  it('P21 counts a log-in before it is tried and gives it back when it was right: only wrong ones use the limit up', () => {
    const limiter = createRateLimiter({ table: builtInRateLimits, nowMs: () => 0 });
    for (let right = 0; right < 1_000; right++) {
      expect(limiter.take('logIn', 'account', 'jo@example.org')).toBeNull();
      limiter.refund('logIn', 'account', 'jo@example.org');
    }
    for (let wrong = 0; wrong < 30; wrong++)
      expect(limiter.take('logIn', 'account', 'jo@example.org')).toBeNull();
    expect(limiter.take('logIn', 'account', 'jo@example.org')).toMatchObject({ retryAfterSeconds: 36 });
    expect(limiter.peek('logIn', 'anonymous', 'jo@example.org')).toBeNull();
    limiter.refund('logIn', 'anonymous', 'jo@example.org');
    limiter.refund('logIn', 'account', 'al@example.org');
    expect(limiter.peek('logIn', 'account', 'jo@example.org')).not.toBeNull();
  });

  it('limits nothing when it is off', () => {
    const limiter = createRateLimiter({ table: 'off', nowMs: () => 0 });
    for (let call = 0; call < 1_000; call++) expect(limiter.take('logIn', 'anonymous', 'a')).toBeNull();
    limiter.refund('logIn', 'anonymous', 'a');
    expect(limiter.peek('logIn', 'anonymous', 'a')).toBeNull();
  });
});

describe('parseRateLimits', () => {
  it('merges what is given over the built-in table', () => {
    const table = parseRateLimits({ create: { anonymous: { limit: 5 } } });
    expect(table).toEqual({
      ...builtInRateLimits,
      create: { ...builtInRateLimits.create, anonymous: { limit: 5, windowSeconds: 3_600, burst: 300 } },
    });
    expect(builtInRateLimits.create.anonymous.limit).toBe(1_200);
  });

  it('takes every whole number from 1 to 1,000,000,000, and none outside', () => {
    const parsed = (limit: number) => parseRateLimits({ create: { anonymous: { limit } } });
    for (const limit of [1, 1_000_000_000])
      expect(parsed(limit)).toMatchObject({ create: { anonymous: { limit } } });
    for (const limit of [0, 1_000_000_001]) expect(parsed(limit)).toHaveProperty('problems');
  });

  it('reads the built-in table back as itself', () => {
    expect(parseRateLimits(JSON.parse(JSON.stringify(builtInRateLimits)))).toEqual(builtInRateLimits);
  });

  it.each([
    [null, 'it must hold a JSON object of limits'],
    [[], 'it must hold a JSON object of limits'],
    [{ creates: {} }, 'there is no limit "creates" (create, manage, logIn, signUp, mail, mailbox)'],
    [{ create: 5 }, 'create must be an object with anonymous or account'],
    [{ create: { everyone: {} } }, 'create.everyone is no kind of caller (anonymous, account)'],
    [{ create: { account: 5 } }, 'create.account must be an object with limit, windowSeconds or burst'],
    [
      { create: { account: { per: 5 } } },
      'create.account.per is not a field of a limit (limit, windowSeconds, burst)',
    ],
    [
      { create: { account: { limit: 0 } } },
      'create.account.limit must be a whole number from 1 to 1000000000',
    ],
    [
      { create: { account: { burst: 1.5 } } },
      'create.account.burst must be a whole number from 1 to 1000000000',
    ],
    [
      { create: { account: { windowSeconds: '60' } } },
      'create.account.windowSeconds must be a whole number from 1 to 1000000000',
    ],
    [
      JSON.parse('{"__proto__":{}}'),
      'there is no limit "__proto__" (create, manage, logIn, signUp, mail, mailbox)',
    ],
    [
      JSON.parse('{"create":{"constructor":{}}}'),
      'create.constructor is no kind of caller (anonymous, account)',
    ],
  ])('refuses %j with a sentence', (json, sentence) => {
    expect(parseRateLimits(json)).toEqual({ problems: [sentence] });
  });

  it('names every wrong entry, not the first alone', () => {
    const json = { creates: {}, mail: { account: { limit: -1, burst: null } }, manage: [] };
    expect(parseRateLimits(json)).toEqual({
      problems: [
        'there is no limit "creates" (create, manage, logIn, signUp, mail, mailbox)',
        'mail.account.limit must be a whole number from 1 to 1000000000',
        'mail.account.burst must be a whole number from 1 to 1000000000',
        'manage must be an object with anonymous or account',
      ],
    });
  });
});
