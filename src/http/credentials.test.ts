import { describe, expect, it } from 'bun:test';
import fc from 'fast-check';
import { createRightCredentials, parseBasic } from './credentials.ts';

const basic = (pair: string | Uint8Array) => `Basic ${Buffer.from(pair).toString('base64')}`;
const token = '0123456789abcdef'.repeat(4);

describe('parseBasic', () => {
  it('reads a username and a token (RFC 7617)', () => {
    expect(parseBasic(basic(`someone@example.org:${token}`))).toEqual({
      username: 'someone@example.org',
      token,
    });
    expect(parseBasic('Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==')).toEqual({
      username: 'aladdin',
      token: 'open sesame',
    });
  });

  it('reads the scheme in any case', () => {
    const encoded = basic(`a@b.example:${token}`).slice('Basic '.length);
    for (const scheme of ['basic ', 'BASIC ', 'bAsIc  '])
      expect(parseBasic(scheme + encoded)?.token).toBe(token);
  });

  it('puts the username, and only the username, in lower case', () => {
    expect(parseBasic(basic('Some.One@EXAMPLE.org:ABC'))).toEqual({
      username: 'some.one@example.org',
      token: 'ABC',
    });
  });

  it('reads UTF-8, as the challenge announces', () => {
    expect(parseBasic(basic('Jörg@example.org:ß€'))).toEqual({ username: 'jörg@example.org', token: 'ß€' });
  });

  it('divides at the first colon', () => {
    expect(parseBasic(basic('\uFEFFann:b'))?.username).toBe('\uFEFFann');
    expect(parseBasic(basic('a:b:c'))).toEqual({ username: 'a', token: 'b:c' });
  });

  it.each([
    ['another scheme', `Bearer ${token}`],
    ['nothing after the scheme', 'Basic '],
    ['no blank after the scheme', `Basic${Buffer.from('a:b').toString('base64')}`],
    ['no base64', 'Basic a:b!'],
    ['base64 that is cut off', 'Basic YTpi1'],
    ['base64 with something after it', 'Basic YTpi YTpi'],
    ['the alphabet of URLs', basic('a:ÿÿÿ').replace('/', '_')],
    ['no colon', basic('ab')],
    ['no username', basic(':token')],
    ['no token', basic('name:')],
    ['a NUL', basic('a\0:b')],
    ['a line feed', basic('a:b\n')],
    ['invalid UTF-8', basic(Uint8Array.of(0x61, 0x3a, 0xff))],
    ['an overlong header', basic(`a:${'b'.repeat(5_000)}`)],
    ['an empty header', ''],
  ])('takes %s for no credentials', (_what, header) => {
    expect(parseBasic(header)).toBeNull();
  });

  it('gives back every username and token that RFC 7617 can carry', () => {
    const text = (forbidden: RegExp) =>
      fc
        .string({ unit: 'grapheme', minLength: 1, maxLength: 60 })
        .filter((part) => !forbidden.test(part) && part.isWellFormed());
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the characters the format forbids.
    const [inName, inToken] = [/[:\u0000-\u001f\u007f]/, /[\u0000-\u001f\u007f]/];
    fc.assert(
      fc.property(text(inName), text(inToken), (username, secret) => {
        expect(parseBasic(basic(`${username}:${secret}`))).toEqual({
          username: username.toLowerCase(),
          token: secret,
        });
      }),
      { numRuns: 500 },
    );
  });

  it('P24 never throws, whatever the header, and never takes long', () => {
    const any = fc.oneof(
      fc.string({ maxLength: 400 }),
      fc.string({ maxLength: 400 }).map((text) => `Basic ${text}`),
      fc.uint8Array({ maxLength: 400 }).map(basic),
    );
    fc.assert(
      fc.property(any, (header) => {
        const parsed = parseBasic(header);
        expect(parsed === null || (parsed.username.length > 0 && parsed.token.length > 0)).toBe(true);
      }),
      { numRuns: 1_000 },
    );
    const startedMs = performance.now();
    for (const header of [
      `Basic ${' '.repeat(100_000)}`,
      `Basic ${'A'.repeat(100_000)}!`,
      `basic${' '.repeat(2_000)}`,
    ]) {
      expect(parseBasic(header)).toBeNull();
    }
    expect(performance.now() - startedMs).toBeLessThan(50);
  });
});

describe('createRightCredentials', () => {
  it('knows what was noted until it is forgotten', () => {
    const right = createRightCredentials();
    expect(right.has('a')).toBe(false);
    right.note('a');
    expect([right.has('a'), right.has('b')]).toEqual([true, false]);
    right.forget('a');
    expect(right.has('a')).toBe(false);
  });

  it('P21 remembers a bounded number, and lets the oldest go first', () => {
    const right = createRightCredentials(3);
    for (const header of ['a', 'b', 'c', 'b', 'd']) right.note(header);
    expect(['a', 'b', 'c', 'd'].map((header) => right.has(header))).toEqual([false, true, true, true]);
  });

  it('P21 remembers ten thousand unless it is told otherwise', () => {
    const right = createRightCredentials();
    for (let n = 0; n < 10_000; n += 1) right.note(`header ${n}`);
    expect(right.has('header 0')).toBe(true);
    right.note('one more');
    expect([right.has('header 0'), right.has('header 1')]).toEqual([false, true]);
  });

  it('P21 evicts none for one that it knows already', () => {
    const right = createRightCredentials(2);
    for (const header of ['a', 'b', 'b']) right.note(header);
    expect(['a', 'b'].map((header) => right.has(header))).toEqual([true, true]);
  });

  it('P18 holds no credentials', () => {
    const right = createRightCredentials();
    right.note(basic(`someone@example.org:${token}`));
    expect(Bun.inspect(right, { depth: 10 })).not.toContain(token);
  });
});
