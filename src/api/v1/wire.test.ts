import { describe, expect, it } from 'bun:test';
import fc from 'fast-check';
import { type ExchangeParts, exchangeOf } from '../../../test/support/exchange.ts';
import { announceSeed } from '../../../test/support/run-seed.ts';
import { RequestProblem } from '../../http/problem.ts';
import { dialectOf } from './dialect.ts';
import { readParameters } from './wire.ts';

const form = 'application/x-www-form-urlencoded';
const boundary = 'mayfly-boundary-5dc7c1';
const multipart = `multipart/form-data; boundary=${boundary}`;
const known = new Set(['secret', 'passphrase', 'ttl', 'recipient', 'length']);
const documented = dialectOf('documented');

async function read(parts: ExchangeParts): Promise<Record<string, string>> {
  return Object.fromEntries(await readParameters(exchangeOf(parts), known, documented));
}

async function refusalOf(parts: ExchangeParts): Promise<string> {
  try {
    await readParameters(exchangeOf(parts), known, documented);
  } catch (error) {
    if (error instanceof RequestProblem && error.problem.problem === 'malformed')
      return error.problem.message;
    throw error;
  }
  throw new Error('was accepted');
}

function bytes(...parts: (string | number[])[]): Uint8Array {
  return Buffer.concat(parts.map((part) => Buffer.from(part as string)));
}

function part(name: string, value: string | number[], more = ''): Uint8Array {
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n`;
  return bytes(head, value, '\r\n');
}

function multipartOf(...parts: Uint8Array[]): Uint8Array {
  return Buffer.concat([...parts, Buffer.from(`--${boundary}--\r\n`)]);
}

const accepted: [title: string, parts: ExchangeParts, expected: Record<string, string>][] = [
  ['a form', { body: 'secret=a&ttl=5', contentType: form }, { secret: 'a', ttl: '5' }],
  [
    'a form with a charset',
    { body: 'secret=%C3%A4', contentType: `${form}; charset=utf-8` },
    { secret: 'ä' },
  ],
  ['a form without a Content-Type', { body: 'secret=a' }, { secret: 'a' }],
  ['a form under an odd Content-Type', { body: 'secret=a', contentType: 'text/plain' }, { secret: 'a' }],
  ['a query without a body', { rawQuery: 'secret=a' }, { secret: 'a' }],
  [
    'a query under a JSON Content-Type',
    { rawQuery: 'secret=a', contentType: 'application/json' },
    { secret: 'a' },
  ],
  ['a query under an empty multipart', { rawQuery: 'secret=a', contentType: multipart }, { secret: 'a' }],
  ['JSON', { body: '{"secret":"a","ttl":"5"}', contentType: 'application/json' }, { secret: 'a', ttl: '5' }],
  [
    'JSON with numbers for ttl and length',
    { body: '{"ttl":3600,"length":16}', contentType: 'Application/JSON; charset=utf-8' },
    { ttl: '3600', length: '16' },
  ],
  [
    'JSON with a whole number of any size',
    { body: '{"ttl":1e21,"length":12.0}', contentType: 'application/json' },
    { ttl: '1000000000000000000000', length: '12' },
  ],
  [
    'JSON null as not given',
    { body: '{"secret":"a","ttl":null}', contentType: 'application/json' },
    { secret: 'a' },
  ],
  [
    'JSON with a list of one recipient',
    { body: '{"recipient":["a@b.cd"]}', contentType: 'application/json' },
    { recipient: 'a@b.cd' },
  ],
  ['JSON with an empty list', { body: '{"recipient":[]}', contentType: 'application/json' }, {}],
  [
    'JSON whose value looks like members',
    { body: '{"secret":"{\\"secret\\":1,\\"a\\" : [}","x":{"x":1}}', contentType: 'application/json' },
    { secret: '{"secret":1,"a" : [}' },
  ],
  [
    'multipart',
    { body: multipartOf(part('secret', 'a\r\nb')), contentType: multipart },
    { secret: 'a\r\nb' },
  ],
  [
    'multipart with a part type',
    {
      body: bytes(
        `--${boundary}\r\nContent-Disposition: form-data; name="secret"\r\nContent-Type: text/plain\r\n\r\nä`,
        `\r\n--${boundary}--`,
      ),
      contentType: `multipart/form-data; boundary="${boundary}"`,
    },
    { secret: 'ä' },
  ],
  ['recipient[] once', { body: 'recipient[]=a%40b.cd' }, { recipient: 'a@b.cd' }],
  ['recipient%5B%5D once', { body: 'recipient%5B%5D=a@b.cd' }, { recipient: 'a@b.cd' }],
  ['an empty recipient[]', { body: 'ttl=&recipient[]=' }, {}],
  [
    'the body over the query',
    { body: 'secret=body', rawQuery: 'secret=query&ttl=5' },
    { secret: 'body', ttl: '5' },
  ],
  ['the query where the body is empty', { body: 'secret=', rawQuery: 'secret=query' }, { secret: 'query' }],
  ['unknown names, however often', { body: 'x=1&x=2&y[]=1&y[]=2&secret=a&__proto__=1' }, { secret: 'a' }],
  ['+ as a blank and %2B as a plus', { body: 'secret=a+b%20c%2Bd' }, { secret: 'a b c+d' }],
  [
    '+ as it stands in multipart',
    { body: multipartOf(part('secret', 'a+b')), contentType: multipart },
    { secret: 'a+b' },
  ],
  ['blanks at the ends', { body: 'secret=%20%20a%0A' }, { secret: '  a\n' }],
  ['%00', { body: 'secret=a%00b' }, { secret: 'a\0b' }],
  ['CR, LF and both', { body: 'secret=%0D%0A%0D%0A' }, { secret: '\r\n\r\n' }],
  ['a byte order mark in a form', { body: 'secret=%EF%BB%BFa' }, { secret: '\ufeffa' }],
  ['a raw byte order mark', { body: bytes('secret=', [0xef, 0xbb, 0xbf], 'a') }, { secret: '\ufeffa' }],
  [
    'a byte order mark in multipart',
    { body: multipartOf(part('secret', [0xef, 0xbb, 0xbf, 0x61])), contentType: multipart },
    { secret: '\ufeffa' },
  ],
  ['= inside a value', { body: 'secret=a=b==' }, { secret: 'a=b==' }],
  ['a piece of the query without =', { rawQuery: '1732712000&ttl=5&secret' }, { ttl: '5' }],
  ['stray ampersands', { body: '&&secret=a&' }, { secret: 'a' }],
  ['a semicolon as itself', { body: 'secret=a;ttl=5' }, { secret: 'a;ttl=5' }],
  ['U+FFFD in a body', { body: 'secret=%EF%BF%BD' }, { secret: '\ufffd' }],
  ['raw UTF-8 in a form', { body: 'secret=ä😀' }, { secret: 'ä😀' }],
];

const refused: [title: string, parts: ExchangeParts, message: RegExp][] = [
  ['twice in the body', { body: 'secret=a&secret=a' }, /"secret" was given more than once/],
  ['a part without = in a form', { body: 'ttl=5&sec%20ret' }, /^A part of the body has no "=": write an & /],
  ['a part without = under an odd Content-Type', { body: 'ttl', contentType: 'text/plain' }, /has no "="/],
  ['twice in the query', { rawQuery: 'ttl=1&ttl=2' }, /"ttl" was given more than once/],
  [
    'as recipient and recipient[]',
    { body: 'recipient=a&recipient[]=b' },
    /"recipient" was given more than once/,
  ],
  [
    'as recipient and a JSON list',
    { body: '{"recipient":"a","recipient[]":["b"]}', contentType: 'application/json' },
    /"recipient" was given more than once/,
  ],
  ['as recipient[] twice', { body: 'recipient[]=a&recipient[]=b' }, /"recipient" was given more than once/],
  ['as secret[]', { body: 'secret[]=a' }, /"secret" takes one plain value/],
  ['as secret[x]', { body: 'secret[x]=a' }, /"secret" takes one plain value/],
  ['as recipient[0]', { body: 'recipient[0]=a' }, /"recipient" takes one plain value/],
  ['as ttl%5B%5D', { rawQuery: 'ttl%5B%5D=5' }, /"ttl" takes one plain value/],
  [
    'twice in multipart',
    { body: multipartOf(part('ttl', '1'), part('ttl', '2')), contentType: multipart },
    /more than once/,
  ],
  [
    'twice in JSON',
    { body: '{"secret":"a","secret":"b"}', contentType: 'application/json' },
    /more than once/,
  ],
  [
    'twice in JSON, escaped',
    { body: '{"secret":"a","\\u0073ecret":"b"}', contentType: 'application/json' },
    /more than once/,
  ],
  [
    'beside a list with a name that stands twice',
    { body: '{"secret":"a","x":[{"y":1,"y":2}]}', contentType: 'application/json' },
    /more than once/,
  ],
  [
    'as a JSON number for secret',
    { body: '{"secret":1}', contentType: 'application/json' },
    /"secret" must be a text/,
  ],
  [
    'as a JSON list for secret',
    { body: '{"secret":["a"]}', contentType: 'application/json' },
    /"secret" must be a text/,
  ],
  ['as a JSON object', { body: '{"ttl":{}}', contentType: 'application/json' }, /"ttl" must be a text/],
  [
    'as two JSON recipients',
    { body: '{"recipient":["a","b"]}', contentType: 'application/json' },
    /"recipient" was given more than once/,
  ],
  [
    'as a nested JSON list',
    { body: '{"recipient":[["a"]]}', contentType: 'application/json' },
    /"recipient" must be/,
  ],
  [
    'with a lone surrogate',
    { body: '{"secret":"\\ud800"}', contentType: 'application/json' },
    /not well-formed text/,
  ],
  ['in broken JSON', { body: '{"secret":', contentType: 'application/json' }, /not valid JSON/],
  ['in a JSON list', { body: '[]', contentType: 'application/json' }, /must be a JSON object/],
  ['in a JSON text', { body: '"a"', contentType: 'application/json' }, /must be a JSON object/],
  ['with an invalid escape', { body: 'secret=%zz' }, /percent-encoding is invalid/],
  ['with half an escape', { body: 'secret=100%' }, /percent-encoding is invalid/],
  ['with an invalid escape in an unknown name', { rawQuery: '%=1' }, /percent-encoding is invalid/],
  ['with an escaped invalid byte', { body: 'secret=%ff' }, /percent-encoding is invalid/],
  ['in a query where a byte was replaced', { rawQuery: 'secret=%EF%BF%BD' }, /not UTF-8, or U\+FFFD/],
  ['with an escaped surrogate', { body: 'secret=%ED%A0%80' }, /percent-encoding is invalid/],
  ['with an overlong escape', { body: 'secret=%C0%80' }, /percent-encoding is invalid/],
  ['with a raw invalid byte', { body: bytes('secret=', [0xff]) }, /not valid UTF-8/],
  [
    'with a raw invalid byte in JSON',
    { body: bytes('{"secret":"', [0xff], '"}'), contentType: 'application/json' },
    /UTF-8/,
  ],
  [
    'with an invalid byte in multipart',
    { body: multipartOf(part('secret', [0xc3, 0x28])), contentType: multipart },
    /UTF-8/,
  ],
  [
    'as a file',
    { body: multipartOf(part('secret', 'a', '; filename="a.txt"')), contentType: multipart },
    /A file was sent/,
  ],
  ['in multipart without an end', { body: part('secret', 'a'), contentType: multipart }, /not well formed/],
  [
    'in multipart without a boundary',
    { body: 'secret=a', contentType: 'multipart/form-data' },
    /not well formed/,
  ],
];

describe('the carriages of v1', () => {
  for (const [title, parts, expected] of accepted) {
    it(`accept ${title}`, async () => expect(await read(parts)).toEqual(expected));
  }
  for (const [title, parts, message] of refused) {
    it(`refuse a parameter ${title}`, async () => expect(await refusalOf(parts)).toMatch(message));
  }

  it('never repeat a value in a refusal (P18)', async () => {
    for (const [, parts] of refused) {
      const text = await refusalOf({ ...parts, rawQuery: `${parts.rawQuery ?? ''}&passphrase=canary-7f3` });
      expect(text).not.toContain('canary');
    }
  });

  it('read 64 KiB byte for byte in every carriage', async () => {
    const secret = 'aä😀\r\n%+&="\\'.repeat(4_000);
    for (const parts of everyCarriage({ secret })) expect(await read(parts)).toEqual({ secret });
  });

  it('refuse JSON nested 30,000 deep, more than 20 parts and more than 100 fields (P21)', async () => {
    const recipient = `{"recipient":${'['.repeat(30_000)}${']'.repeat(30_000)}}`;
    expect(await refusalOf({ body: recipient, contentType: 'application/json' })).toMatch(/nests deeper/);
    const sent = (count: number) => {
      const parts = Array.from({ length: count }, (_, n) => part(n === 0 ? 'secret' : `a${n}`, 'x'));
      return { body: multipartOf(...parts), contentType: multipart };
    };
    expect(await read(sent(20))).toEqual({ secret: 'x' });
    expect(await refusalOf(sent(21))).toMatch(/more than 20 parts/);
    const contentType = 'application/x-www-form-urlencoded';
    expect(await read({ body: `secret=x${'&'.repeat(99)}`, contentType })).toEqual({ secret: 'x' });
    expect(await refusalOf({ body: `secret=x${'&a'.repeat(100)}`, contentType })).toMatch(
      /more than 100 fields/,
    );
  });
});

const seed = announceSeed('v1 fields');
const text = fc
  .string({ unit: 'binary', minLength: 1, maxLength: 200 })
  .filter((value) => !value.includes(boundary) && !value.includes('\ufffd'));
const parameters = fc.record({ secret: text, passphrase: text, ttl: text }, { requiredKeys: [] });

function encoded(values: Record<string, string>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&');
}

function everyCarriage(values: Record<string, string>): ExchangeParts[] {
  const parts = Object.entries(values).map(([name, value]) => part(name, value));
  return [
    { body: encoded(values), contentType: form },
    { body: new URLSearchParams(values).toString(), contentType: form },
    { body: encoded(values) },
    { body: encoded(values), contentType: 'text/plain' },
    { rawQuery: encoded(values) },
    { rawQuery: encoded(values), contentType: 'application/json' },
    { body: JSON.stringify(values), contentType: 'application/json' },
    { body: multipartOf(...parts), contentType: multipart },
  ];
}

describe(`any well-formed text (seed ${seed})`, () => {
  it('arrives the same by every carriage', async () => {
    await fc.assert(
      fc.asyncProperty(parameters, async (values) => {
        for (const parts of everyCarriage(values)) expect(await read(parts)).toEqual(values);
      }),
      { seed, numRuns: 150 },
    );
  });

  it('in the body wins over the query, name by name', async () => {
    await fc.assert(
      fc.asyncProperty(parameters, parameters, async (inBody, inQuery) => {
        const rawQuery = encoded(inQuery);
        for (const parts of everyCarriage(inBody).filter((one) => one.rawQuery === undefined)) {
          expect(await read({ ...parts, rawQuery })).toEqual({ ...inQuery, ...inBody });
        }
      }),
      { seed, numRuns: 100 },
    );
  });
});

describe(`any bytes at all (seed ${seed})`, () => {
  it('are read or refused, never a fault', async () => {
    const contentTypes = fc.constantFrom(form, multipart, 'application/json', 'text/plain');
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), contentTypes, async (body, contentType) => {
        const outcome = await read({ body, contentType }).catch((error) => error);
        if (outcome instanceof Error) expect(outcome).toBeInstanceOf(RequestProblem);
      }),
      { seed, numRuns: 300 },
    );
  });

  it('in a value are refused exactly when they are not UTF-8', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 12 }), async (raw) => {
        const escaped = `secret=${Array.from(raw, (byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')}`;
        const isText = Buffer.from(Buffer.from(raw).toString('utf8'), 'utf8').equals(raw);
        for (const parts of [
          { body: escaped },
          { body: multipartOf(part('secret', [...raw])), contentType: multipart },
        ]) {
          const outcome = await read(parts).catch(() => 'refused');
          if (isText) expect(outcome).toEqual({ secret: Buffer.from(raw).toString('utf8') });
          else expect(outcome).toBe('refused');
        }
      }),
      { seed, numRuns: 300 },
    );
  });

  it('self-test: the platform form parser, which repairs, would not pass', () => {
    const repaired = new URLSearchParams('secret=%ff').get('secret');
    expect(repaired).toBe('\ufffd');
  });
});

async function secretOf(contentType: string, body: string | Uint8Array): Promise<string> {
  try {
    return (await read({ contentType, body })).secret ?? 'none';
  } catch (error) {
    return error instanceof Error ? error.message : 'refused';
  }
}

const malformed = 'malformed';

describe('a body of v1 that names another charset than UTF-8', () => {
  it('is read where the label makes no difference: plain ASCII, as existing clients send it', async () => {
    const labels = ['ISO-8859-1', 'us-ascii', '"windows-1252"', 'Shift_JIS', 'x-unknown', ''];
    for (const label of labels) {
      expect([label, await secretOf(`${form}; charset=${label}`, 'secret=a%20b')]).toEqual([label, 'a b']);
    }
    for (const label of ['utf-8', 'UTF8', '"Utf-8"']) {
      expect([label, await secretOf(`${form};charset=${label}`, 'secret=ä')]).toEqual([label, 'ä']);
    }
    expect(await secretOf('application/json; charset=iso-8859-1', '{"secret":"\\u00e4"}')).toBe('ä');
  });

  it('is refused where another reader of it would see another text, and never converted', async () => {
    const bytes = (...parts: number[]) => Uint8Array.from([...Buffer.from('secret='), ...parts]);
    const bodies: readonly (readonly [string, string | Uint8Array])[] = [
      // UTF-8 for "ä", which ISO-8859-1 reads as two letters.
      [`${form}; charset=ISO-8859-1`, 'secret=ä'],
      [`${form}; charset=ISO-8859-1`, 'secret=%C3%A4'],
      ['application/json; charset=iso-8859-1', '{"secret":"ä"}'],
      ['text/plain; charset=windows-1252', 'secret=ä'],
      // One Chinese character in GBK; the bytes are also well-formed UTF-8.
      [`${form}; charset=gbk`, bytes(0xd0, 0xb0)],
      [`${form}; charset="Shift_JIS"; x=y`, bytes(0xc3, 0xa4)],
      // ASCII bytes that decode to a different text.
      [`${form}; charset=iso-2022-jp`, bytes(0x1b, 0x24, 0x42, 0x24, 0x22, 0x1b, 0x28, 0x42)],
      [`${form}; charset=utf-7`, 'secret=%2BAOQ-'],
      [`${form}; charset=UTF-16`, 'secret=a'],
      [`${form}; charset=utf-16le`, new Uint8Array(Buffer.from('secret=a', 'utf16le'))],
    ];
    for (const [contentType, body] of bodies)
      expect([contentType, await secretOf(contentType, body)]).toEqual([contentType, malformed]);
  });

  it('is refused as multipart too', async () => {
    const multipart = (label: string) => `multipart/form-data; boundary=b; charset=${label}`;
    const body = (value: string) =>
      `--b\r\nContent-Disposition: form-data; name="secret"\r\n\r\n${value}\r\n--b--\r\n`;
    expect(await secretOf(multipart('iso-8859-1'), body('a'))).toBe('a');
    expect(await secretOf(multipart('iso-8859-1'), body('ä'))).toBe(malformed);
    expect(await secretOf(multipart('utf-8'), body('ä'))).toBe('ä');
  });
});
