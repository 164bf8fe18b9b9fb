/**
 * Proves that an answer ends where its head says, however its bytes are split, and that every ambiguous head or chunk
 * is refused (RFC 9112 §6.3, §7.1, §11.2).
 */
import { describe, expect, it } from 'bun:test';
import fc from 'fast-check';
import { AnswerReader } from './upstream-answer.ts';

const ok = 'HTTP/1.1 200 OK\r\n';
const withLength = (length: number | string) => `${ok}Content-Length: ${length}\r\n\r\n`;
const chunked = `${ok}Transfer-Encoding: chunked\r\n\r\n`;

interface Read {
  readonly state: AnswerReader['state'];
  readonly status: number | undefined;
  readonly fields: readonly (readonly [string, string])[] | undefined;
  readonly isLast: boolean | undefined;
  readonly body: string;
  readonly surplusBytes: number;
}

function read(pieces: readonly string[], method = 'GET'): Read {
  const reader = new AnswerReader(method);
  for (const piece of pieces) reader.push(Buffer.from(piece, 'latin1'));
  const body = Buffer.from(reader.takeBody()).toString('latin1');
  const { state, head, surplusBytes } = reader;
  return { state, status: head?.status, fields: head?.fields, isLast: head?.isLast, body, surplusBytes };
}

describe('an answer that means one thing', () => {
  it.each([
    ['a length', `${withLength(5)}hello`, 'GET', 'hello'],
    ['a length of nothing', withLength(0), 'POST', ''],
    ['chunks', `${chunked}3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n`, 'GET', 'hello'],
    ['chunks with a size in capitals', `${chunked}A\r\n0123456789\r\n0\r\n\r\n`, 'GET', '0123456789'],
    ['a chunk that holds line ends', `${chunked}6\r\n\r\n0\r\n\r\r\n0\r\n\r\n`, 'GET', '\r\n0\r\n\r'],
    ['HEAD, whose length is of what is not sent', withLength(77), 'HEAD', ''],
    ['HEAD with a coding', chunked, 'HEAD', ''],
    ['204', 'HTTP/1.1 204 No Content\r\n\r\n', 'GET', ''],
    ['304 with a length', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n', 'GET', ''],
    ['no reason phrase', 'HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok', 'GET', 'ok'],
  ])('is read to its end: %s', (_what, bytes, method, body) => {
    expect(read([bytes], method)).toMatchObject({ state: 'done', body, surplusBytes: 0 });
  });

  it('reads the same however its bytes are cut into pieces', () => {
    const answers = [
      `${withLength(11)}hello world`,
      `${chunked}3\r\nhel\r\n1f\r\n${'x'.repeat(31)}\r\n0\r\n\r\n`,
      `${ok}X-A: b\r\nConnection: close\r\nContent-Length: 1\r\n\r\nzand more`,
    ];
    const pieces = (text: string, cuts: readonly number[]) => {
      const at = [0, ...cuts.map((cut) => cut % text.length).sort((a, b) => a - b), text.length];
      return at.slice(1).map((end, index) => text.slice(at[index], end));
    };
    fc.assert(
      fc.property(fc.constantFrom(...answers), fc.array(fc.nat(200), { maxLength: 12 }), (text, cuts) => {
        expect(read(pieces(text, cuts))).toEqual(read([text]));
      }),
      { numRuns: 500 },
    );
    for (const text of answers) expect(read([...text])).toEqual(read([text]));
  });

  it('keeps the fields that are for the client, and none of the connection', () => {
    const head = `${ok}Content-Type: a/b\r\nKeep-Alive: timeout=5\r\nConnection: X-Hop , keep-alive\r\nX-Hop: 1\r\nX-End:  two words \t\r\nTE: x\r\nTrailer: y\r\nUpgrade: z\r\nContent-Length: 0\r\n\r\n`;
    expect(read([head])).toMatchObject({
      fields: [
        ['content-type', 'a/b'],
        ['x-end', 'two words'],
      ],
      isLast: false,
    });
  });

  it('keeps the length of what HEAD and 304 leave out, because it is a fact there', () => {
    expect(read([withLength(77)], 'HEAD').fields).toEqual([['content-length', '77']]);
  });

  it('says when it is the last of its connection', () => {
    expect(read([`${ok}Connection: Close\r\nContent-Length: 0\r\n\r\n`]).isLast).toBe(true);
  });

  it('counts what comes behind its end, and reads none of it', () => {
    const smuggled = 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nbad';
    expect(read([`${withLength(2)}ok${smuggled}`])).toMatchObject({
      body: 'ok',
      surplusBytes: smuggled.length,
    });
    expect(read([`${withLength(2)}ok`, smuggled])).toMatchObject({
      body: 'ok',
      surplusBytes: smuggled.length,
    });
    expect(read([`${chunked}0\r\n\r\nmore`])).toMatchObject({ body: '', surplusBytes: 4 });
  });
});

describe('an answer that could mean two things', () => {
  it.each([
    ['a length and a coding', `${ok}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['two lengths', `${ok}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello`],
    ['the same length twice', `${ok}Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello`],
    ['a list of lengths', `${withLength('5, 5')}hello`],
    ['a length with a sign', `${withLength('+5')}hello`],
    ['a length in hexadecimal', `${withLength('0x5')}hello`],
    ['a length of nothing at all', `${withLength('')}hello`],
    ['a length beyond every number', withLength('9'.repeat(20))],
    ['another coding', `${ok}Transfer-Encoding: gzip\r\n\r\n`],
    ['two codings', `${ok}Transfer-Encoding: gzip, chunked\r\n\r\n`],
    ['neither length nor coding', `${ok}\r\nhello`],
    ['204 with content', 'HTTP/1.1 204 No\r\nContent-Length: 5\r\n\r\nhello'],
    ['a folded line', `${ok}X-A: b\r\n c\r\nContent-Length: 0\r\n\r\n`],
    ['a blank before the colon', `${ok}Content-Length : 0\r\n\r\n`],
    ['a line without a name', `${ok}: b\r\nContent-Length: 0\r\n\r\n`],
    ['a line without a colon', `${ok}hello\r\nContent-Length: 0\r\n\r\n`],
    ['a lone line feed', `${ok}X-A: b\nContent-Length: 0\r\n\r\n`],
    ['a lone carriage return', `${ok}X-A: b\rX: 1\r\nContent-Length: 0\r\n\r\n`],
    ['a NUL', `${ok}X-A: \0\r\nContent-Length: 0\r\n\r\n`],
    ['an interim answer', 'HTTP/1.1 100 Continue\r\n\r\n'],
    ['a change of protocol', 'HTTP/1.1 101 Switching\r\nContent-Length: 0\r\n\r\n'],
    ['an older version', 'HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n'],
    ['another protocol', 'SSH-2.0-OpenSSH_9\r\n\r\n'],
    ['a status of four digits', 'HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n'],
    ['a status that is none', 'HTTP/1.1 999 OK\r\nContent-Length: 0\r\n\r\n'],
    ['a head without end', `${ok}X-A: ${'a'.repeat(40_000)}`],
    ['a head too long', `${ok}X-A: ${'a'.repeat(40_000)}\r\nContent-Length: 0\r\n\r\n`],
    ['a chunk size that is no number', `${chunked}zz\r\n`],
    ['a chunk size with a sign', `${chunked}-3\r\nabc\r\n0\r\n\r\n`],
    ['a chunk of more than any size', `${chunked}fffffffff\r\n`],
    ['a chunk size without end', `${chunked}00000000003`],
    ['a chunk with an extension', `${chunked}3;a=b\r\nabc\r\n0\r\n\r\n`],
    ['a chunk longer than its size', `${chunked}2\r\nabc\r\n0\r\n\r\n`],
    ['a chunk that ends in a lone line feed', `${chunked}3\nabc\r\n0\r\n\r\n`],
    ['trailers', `${chunked}0\r\nX-A: b\r\n\r\n`],
  ])('is refused: %s', (_what, bytes) => {
    expect(read([bytes]).state).toBe('odd');
    expect(read([...bytes]).state).toBe('odd');
  });

  it.each([
    ['a length', `${withLength(5)}hell`],
    ['chunks', `${chunked}3\r\nabc\r\n0\r\n`],
    ['a head', `${ok}Content-Length: 0\r\n`],
  ])('is not ended before its end: %s', (_what, bytes) => {
    expect(['head', 'body']).toContain(read([bytes]).state);
  });
});
