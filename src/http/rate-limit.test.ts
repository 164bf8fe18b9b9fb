import { describe, expect, it } from 'bun:test';
import { builtInRateLimits } from '../config/rate-limits.ts';
import { createRateLimiter } from './rate-limit.ts';

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
