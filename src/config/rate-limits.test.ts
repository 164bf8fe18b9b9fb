import { describe, expect, it } from 'bun:test';
import { readJson } from './json.ts';
import { builtInRateLimits, rateLimitsFile } from './json-files.ts';

function parseRateLimits(json: unknown) {
  const read = readJson(JSON.stringify(json), rateLimitsFile);
  return 'value' in read ? read.value : read;
}

describe('the rate limits file', () => {
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
    [{ create: { everyone: {} } }, 'create.everyone is not a kind of caller (anonymous, account)'],
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
      'create.constructor is not a kind of caller (anonymous, account)',
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
