import { describe, expect, it } from 'bun:test';
import { exchangeOf } from '../../../test/support/exchange.ts';
import { anyGenerated, noOptions } from '../../../test/support/inputs.ts';
import type { ConcealInput, GenerateInput } from '../../core/secrets/outcomes.ts';
import { Sensitive } from '../../core/sensitive.ts';
import { RequestProblem } from '../../http/problem.ts';
import type { DialectName } from '../version.ts';
import { dialectOf } from './dialect.ts';
import { v1Operations } from './operations.ts';

const { burn, findReceipt, reveal, viewReceipt } = v1Operations;

function conceal(body: string, dialect: DialectName = 'documented'): Promise<ConcealInput> {
  return decodeConceal(exchangeOf({ body }), dialectOf(dialect));
}

function generate(body: string, dialect: DialectName = 'documented'): Promise<GenerateInput> {
  return decodeGenerate(exchangeOf({ body }), dialectOf(dialect));
}

async function decodeConceal(...given: Parameters<typeof v1Operations.conceal.decode>) {
  return v1Operations.conceal.decode(...given);
}

async function decodeGenerate(...given: Parameters<typeof v1Operations.generate.decode>) {
  return v1Operations.generate.decode(...given);
}

async function refusalOf(decoding: unknown): Promise<string> {
  const error = await Promise.resolve(decoding).then(
    () => new Error('was accepted'),
    (reason) => reason,
  );
  if (error instanceof RequestProblem && error.problem.problem === 'malformed') return error.problem.message;
  throw error;
}

const unset = undefined;
const refused = 'refused';
type Ttl = number | undefined | typeof refused;

/** The ttl requested from the plan, before it clamps; `unset` asks for the default. */
const ttls: [text: string, documented: Ttl, upstream: Ttl][] = [
  ['', unset, unset],
  ['0', unset, unset],
  ['000', unset, unset],
  ['-5', refused, unset],
  ['-0', refused, unset],
  ['-99999999999', refused, unset],
  ['1', 1, 1],
  ['3600', 3600, 3600],
  ['007', 7, 7],
  ['99999999999', 99_999_999_999, 99_999_999_999],
  ['9'.repeat(400), Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
  ['abc', refused, unset],
  ['90abc', refused, 90],
  ['61.9', refused, 61],
  ['1e3', refused, 1],
  ['-61.9', refused, unset],
  ['--5', refused, unset],
  ['%2B60', refused, 60],
  ['%2060', refused, 60],
  ['60%20', refused, 60],
  ['0x10', refused, unset],
  ['%D9%A1%D9%A2', refused, unset],
  ['60%0A', refused, 60],
  ['Infinity', refused, unset],
];

describe('the ttl of v1', () => {
  for (const [text, documented, upstream] of ttls) {
    for (const [dialect, expected] of [
      ['documented', documented],
      ['upstream', upstream],
    ] as const) {
      it(`"${text.slice(0, 20)}" is ${expected ?? 'the default'} in the ${dialect} dialect`, async () => {
        const decoding = conceal(`secret=a&ttl=${text}`, dialect);
        if (expected === refused)
          expect(await refusalOf(decoding)).toMatch(/ttl must be a whole number of seconds/);
        else if (expected === unset) expect((await decoding).ttlSeconds).toBeNull();
        else expect((await decoding).ttlSeconds).toBe(expected);
      });
    }
  }
});

describe('the ttl of v1 in JSON', () => {
  const inJson = (ttl: string) =>
    decodeConceal(
      exchangeOf({ body: `{"secret":"a","ttl":${ttl}}`, contentType: 'application/json' }),
      dialectOf('documented'),
    );
  for (const ttl of ['3600', '"3600"', '3.6e3', '3600.0']) {
    it(`${ttl} is 3600 seconds`, async () => expect((await inJson(ttl)).ttlSeconds).toBe(3_600));
  }
  for (const ttl of ['1e21', '99999999999999999999999', '"99999999999999999999999"']) {
    it(`${ttl} is as long as it gets`, async () =>
      expect((await inJson(ttl)).ttlSeconds).toBe(Number.MAX_SAFE_INTEGER));
  }
  for (const ttl of ['0', '-0', '"0"', '""', 'null']) {
    it(`${ttl} is the default`, async () => expect((await inJson(ttl)).ttlSeconds).toBeNull());
  }
  for (const ttl of ['-5', '61.9', '"1e3"', 'true', '1e999', '"-5"']) {
    it(`${ttl} is refused`, async () => expect(await refusalOf(inJson(ttl))).toMatch(/ttl must be a whole/));
  }
});

describe('the options of creation', () => {
  it('are null when they are not given or empty', async () => {
    const concealed = { ...noOptions, value: new Sensitive('a') };
    expect(await conceal('secret=a')).toStrictEqual(concealed);
    expect(await conceal('secret=a&passphrase=&ttl=&recipient=&share_domain=')).toStrictEqual(concealed);
    expect(await generate('length=&charset=&secret[]=ignored')).toStrictEqual(anyGenerated);
  });

  it('pass as received, untrimmed', async () => {
    const input = await conceal('secret=%20a%20&passphrase=%20p%20&recipient=a@b.cd&share_domain=S.example');
    expect(input.value.expose()).toBe(' a ');
    expect(input.passphrase?.expose()).toBe(' p ');
    expect(input.recipient?.expose()).toBe('a@b.cd');
    expect(input.shareDomain).toBe('S.example');
  });

  it('print nothing sensitive', async () => {
    const input = await conceal('secret=canary-1&passphrase=canary-2&recipient=canary-3@b.cd');
    expect(Bun.inspect(input) + JSON.stringify(input)).not.toContain('canary');
  });
});

describe('length and charset', () => {
  for (const length of [4, 12, 128]) {
    it(`accept ${length} characters`, async () =>
      expect((await generate(`length=${length}`)).length).toBe(length));
  }
  for (const length of ['3', '129', '0', '-4', '1e1', '12.0', ' 12', 'twelve', '0000012']) {
    it(`refuse the length "${length}"`, async () => {
      expect(await refusalOf(generate(`length=${encodeURIComponent(length)}`))).toMatch(/from 4 to 128/);
    });
  }
  it('accept a list of sets, each counted once', async () => {
    expect((await generate('charset=lower,digits')).charset).toEqual(['lower', 'digits']);
    expect((await generate('charset=symbols,symbols')).charset).toEqual(['symbols']);
    expect((await generate('charset=lower%2Cupper%2Cdigits%2Csymbols')).charset).toHaveLength(4);
  });
  for (const charset of [
    'hex',
    'lower,',
    ',',
    'lower, upper',
    'Lower',
    'lower;upper',
    'toString',
    'constructor',
  ]) {
    it(`refuse the charset "${charset}"`, async () => {
      expect(await refusalOf(generate(`charset=${encodeURIComponent(charset)}`))).toMatch(/comma list/);
    });
  }
});

const recipients: [text: string, upstream: string | undefined][] = [
  ['joe@example.org', 'joe@example.org'],
  ['Joe <joe@example.org>', 'joe@example.org'],
  ['Joe <joe@müller.example>', 'joe@müller.example'],
  ['joe@пример.рф', 'joe@пример.рф'],
  ['joe@xn--e1afmkfd.xn--p1ai', 'joe@xn--e1afmkfd.xn--p1ai'],
  ['mailto:joe@example.org, ann@example.org', 'joe@example.org'],
  ["Joe O'Neil <o'neil@example.org>", "o'neil@example.org"],
  ['notanemail', undefined],
  ['joe@localhost', undefined],
  ['@example.org', undefined],
  ['joe@example..org', 'joe@example..org'],
  ['joe@example.technology', 'joe@example.technology'],
  ['a@b@c.org', undefined],
];

const domains: [text: string, upstream: string | undefined][] = [
  ['secrets.example.com', 'secrets.example.com'],
  ['Secrets.Example.com', 'Secrets.Example.com'],
  ['bücher.example', 'bücher.example'],
  ['notadomain', undefined],
  ['a..example', undefined],
  ['192.0.2.7', undefined],
  ['https://example.com', undefined],
  ['example.com:8443', undefined],
  ['<b>.example', undefined],
];

describe('a text that is no address or no domain', () => {
  for (const [text, expected] of recipients) {
    it(`as the recipient "${text}" is ${expected ?? 'ignored'} in the upstream dialect`, async () => {
      const body = `secret=a&recipient=${encodeURIComponent(text)}`;
      expect((await conceal(body, 'upstream')).recipient?.expose()).toBe(expected);
      expect((await conceal(body)).recipient?.expose()).toBe(text);
    });
  }
  for (const [text, expected] of domains) {
    it(`as the share domain "${text}" is ${expected ?? 'ignored'} in the upstream dialect`, async () => {
      const body = `secret=a&share_domain=${encodeURIComponent(text)}`;
      expect((await conceal(body, 'upstream')).shareDomain).toBe(expected ?? null);
      expect((await conceal(body)).shareDomain).toBe(text);
    });
  }
  it('is looked for in linear time (P24)', async () => {
    const started = performance.now();
    for (const text of [
      'a@'.repeat(16_000),
      `a@${'b.'.repeat(16_000)}`,
      '.'.repeat(32_000),
      '%'.repeat(32_000),
    ]) {
      const escaped = encodeURIComponent(text);
      await conceal(`secret=a&recipient=${escaped}&share_domain=${escaped}&ttl=${escaped}`, 'upstream');
    }
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});

describe('several recipients', () => {
  const lists: [
    title: string,
    body: string,
    contentType: string | undefined,
    upstream: string | undefined,
  ][] = [
    ['recipient[]', 'recipient[]=joe@x.org&recipient[]=ann@x.org', undefined, 'joe@x.org'],
    ['recipient[] after an empty one', 'recipient[]=&recipient[]=ann@x.org', undefined, 'ann@x.org'],
    ['recipient[] after no address', 'recipient[]=joe&recipient[]=ann@x.org', undefined, 'ann@x.org'],
    ['no address at all', 'recipient[]=joe&recipient[]=ann', undefined, undefined],
    ['a JSON list', '{"recipient":["joe@x.org","ann@x.org"]}', 'application/json', 'joe@x.org'],
    ['a JSON recipient[]', '{"recipient[]":["joe@x.org","ann@x.org"]}', 'application/json', 'joe@x.org'],
  ];
  for (const [title, body, contentType, expected] of lists) {
    it(`as ${title} are refused, and in the upstream dialect ${expected ?? 'none'} is used`, async () => {
      const exchange = () => exchangeOf({ body, ...(contentType && { contentType }) });
      const decoding = decodeGenerate(exchange(), dialectOf('documented'));
      expect(await refusalOf(decoding)).toBe('The parameter "recipient" was given more than once.');
      const { recipient } = await decodeGenerate(exchange(), dialectOf('upstream'));
      expect(recipient?.expose()).toBe(expected);
    });
  }
  it('under both names, or of another type than text, are refused in both dialects', async () => {
    for (const dialect of ['documented', 'upstream'] as const) {
      await refusalOf(generate('recipient=a@x.org&recipient[]=b@x.org', dialect));
      await refusalOf(generate('recipient=a@x.org&recipient=b@x.org', dialect));
      await refusalOf(generate('recipient[0]=a@x.org', dialect));
      const nested = exchangeOf({ body: '{"recipient":[["a"]]}', contentType: 'application/json' });
      await refusalOf(decodeGenerate(nested, dialectOf(dialect)));
    }
  });
});

describe('an operation on a key', () => {
  const documented = dialectOf('documented');
  const upstream = dialectOf('upstream');
  const asked = { rawQuery: 'passphrase=p', params: { secret_key: '<b>', metadata_key: '<b>' } };

  it('takes the key as given', async () => {
    for (const operation of [reveal, burn])
      expect((await operation.decode(exchangeOf(asked), documented)).key).toBe('<b>');
    for (const operation of [viewReceipt, findReceipt])
      expect(await operation.decode(exchangeOf(asked), documented)).toBe('<b>');
  });
  it('takes the passphrase from any carriage where one is needed', async () => {
    const passphraseOf = async (operation: typeof reveal | typeof burn, dialect: typeof documented) =>
      (await operation.decode(exchangeOf(asked), dialect)).passphrase?.expose() ?? null;
    expect(await passphraseOf(reveal, documented)).toBe('p');
    expect(await passphraseOf(burn, documented)).toBeNull();
    expect(await passphraseOf(burn, upstream)).toBe('p');
    expect(await viewReceipt.decode(exchangeOf(asked), upstream)).toBe('<b>');
  });
  it('refuses a malformed POST before anything changes (P4)', async () => {
    for (const body of ['passphrase=%', 'passphrase=a&passphrase=b', 'other=%ff']) {
      await refusalOf(reveal.decode(exchangeOf({ body, params: { secret_key: 'k' } }), documented));
      await refusalOf(burn.decode(exchangeOf({ body, params: { metadata_key: 'k' } }), upstream));
    }
    await refusalOf(viewReceipt.decode(exchangeOf({ body: 'other=%ff' }), documented));
  });
  it('takes nothing from query and body of a GET', () => {
    const exchange = exchangeOf({ method: 'GET', rawQuery: 'passphrase=%', params: { metadata_key: 'k' } });
    expect(findReceipt.decode(exchange, documented)).toBe('k');
  });
});
