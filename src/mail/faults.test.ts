import { describe, expect, it } from 'bun:test';
import fc from 'fast-check';
import { announceSeed } from '../../test/support/run-seed.ts';
import { toFault, toReplyLine, troubleOf } from './faults.ts';

const troubleIn = (error: object) => troubleOf(toFault(error));

describe('a mail server', () => {
  it.each([
    ['its name is unknown', { code: 'EDNS' }],
    ['nothing listens there', { code: 'ESOCKET', originalCode: 'ECONNREFUSED', command: 'CONN' }],
    ['there is no way to it', { code: 'ESOCKET', originalCode: 'EHOSTUNREACH', command: 'CONN' }],
    ['the network is down', { code: 'ECONNECTION', originalCode: 'ENETUNREACH', command: 'CONN' }],
    ['the connection takes too long', { code: 'ETIMEDOUT', timeoutType: 'CONNECT_TIMEOUT', command: 'CONN' }],
  ])('cannot be reached when %s', (_what, error) => expect(troubleIn(error)).toBe('unreachable'));

  it.each([
    ['breaks off', { code: 'ECONNECTION', command: 'CONN' }],
    ['resets the connection', { code: 'ESOCKET', originalCode: 'ECONNRESET', command: 'MAIL FROM' }],
    ['does not greet', { code: 'ETIMEDOUT', timeoutType: 'GREETING_TIMEOUT', command: 'CONN' }],
    ['trickles', { code: 'EABORT' }],
  ])('does not answer when it %s', (_what, error) => expect(troubleIn(error)).toBe('unanswered'));

  it.each([
    ['asks to come back later', { code: 'EENVELOPE', responseCode: 451, response: '451 Later' }],
    ['refuses the log-in', { code: 'EAUTH', responseCode: 535, response: '535 No' }],
    ['has a certificate that nobody vouches for', { code: 'ESOCKET', originalCode: 'CERT_HAS_EXPIRED' }],
    ['speaks another protocol', { code: 'EPROTOCOL' }],
    ['is not to blame', new TypeError('x')],
  ])('is in no such trouble when it %s', (_what, error) => expect(troubleIn(error)).toBeNull());
});

const key = '0123456789abcdefghijklmnopqrstu';
const link = `https://secrets.example.com/secret/${key}`;
const address = 'jo@example.org';
const hidden = [address, link, key];

describe('a reply', () => {
  it('is one line, whose code stands once', () => {
    expect(toReplyLine('250 2.0.0 Ok: queued as 4F1D2', hidden)).toBe('250 2.0.0 Ok: queued as 4F1D2');
    expect(toReplyLine('550-5.7.1 One\r\n550-5.7.1 two\n550 three', [])).toBe(
      '550 5.7.1 One 5.7.1 two three',
    );
    expect(toReplyLine('550-One\r\n550', [])).toBe('550 One');
  });

  it('is absent when the server sent nothing readable', () => {
    for (const silence of [null, '', ' ', '\u0000\r\n\u200b'])
      expect(toReplyLine(silence, hidden)).toBeNull();
  });

  it('has no controls, invisible marks or turned directions', () => {
    expect(toReplyLine('550 a\u0000b\u001b[31mc\u202ed\u2028e\u200bf\ud800g', [])).toBe(
      '550 a b [31mc d e f g',
    );
  });

  it('has at most 300 characters, none of them half', () => {
    expect(toReplyLine(`550 ${'x'.repeat(1_000)}`, [])).toBe(`550 ${'x'.repeat(295)}…`);
    expect(toReplyLine(`550 ${'x'.repeat(296)}`, [])).toHaveLength(300);
    for (const length of [294, 295, 296]) {
      const line = toReplyLine(`550 ${'x'.repeat(length)}${'😀'.repeat(9)}`, []) ?? '';
      expect([line.length <= 300, line.isWellFormed()]).toEqual([true, true]);
    }
  });

  it('never repeats what is hidden: whole, in capitals, broken over lines, in soft line breaks', () => {
    const [start, end] = [key.slice(0, 15), key.slice(15)];
    const quotes: readonly [string, string][] = [
      [`550 see ${link}.`, '550 see ….'],
      [`550 see ${link.toUpperCase()}`, '550 see …'],
      [`550 <${address}> unknown, <JO@Example.ORG> unknown`, '550 <…> unknown, <…> unknown'],
      [`550-body: ${start}\r\n550 ${end} was bad`, '550 body: … was bad'],
      [`550-body: ${start}=\r\n550-${end} was bad`, '550 body: … was bad'],
      [`550 ${start}\u200b${end}`, '550 …'],
      [
        `550 https%3A%2F%2Fsecrets.example.com%2Fsecret%2F${key}`,
        '550 https%3A%2F%2Fsecrets.example.com%2Fsecret%2F…',
      ],
    ];
    for (const [reply, shown] of quotes) expect(toReplyLine(reply, hidden)).toBe(shown);
  });

  it('hides before it shortens, so that no piece is left at the end', () => {
    for (let length = 240; length < 300; length += 1)
      expect(toReplyLine(`550 ${'x'.repeat(length)}${link}`, hidden)).not.toContain('012');
    expect(toReplyLine(`550 ${`${link} `.repeat(200)}`, hidden)).not.toContain('012');
  });

  it('holds all of that for anything that a server may say', () => {
    const seed = announceSeed('replies');
    const noise = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 40 }),
      fc.constantFrom('\r\n550-', '\n', '550 '),
    );
    const piece = fc.oneof(noise, fc.constantFrom(link, key, address));
    const reply = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(''));
    const isFit = (line: string | null) =>
      line === null ||
      (line.length <= 300 &&
        !/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(line) &&
        !hidden.some((term) => line.toLowerCase().includes(term)));
    fc.assert(
      fc.property(reply, (text) => isFit(toReplyLine(text, hidden))),
      { seed, numRuns: 500 },
    );
    expect(isFit(`550 ${key}`)).toBe(false);
  });
});
