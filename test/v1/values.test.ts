/** Values come back byte for byte, however they were sent, through the whole service. */
import { describe, expect, it } from 'bun:test';
import fc from 'fast-check';
import { builtInPlans } from '../../src/core/plans.ts';
import { announceSeed } from '../support/run-seed.ts';
import { type CallOptions, createV1Caller } from './caller.ts';

const plans = {
  anonymous: { ...builtInPlans.anonymous, maxValueBytes: 65_536 },
};
const json = { 'content-type': 'application/json' };
const boundary = 'mayfly-boundary-5dc7c1';

interface Carried extends CallOptions {
  readonly query?: string;
}

/** Multipart as curl writes it: FormData would turn a single line feed into two characters, as browsers do. */
function multipart(values: Record<string, string>): CallOptions {
  const parts = Object.entries(values).map(
    ([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  return {
    body: `${parts.join('')}--${boundary}--\r\n`,
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
  };
}

const escaped = (values: Record<string, string>) =>
  Object.entries(values)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&');

const carriages: Record<string, (values: Record<string, string>) => Carried> = {
  'a form': (form) => ({ form }),
  'a form with %20': (values) => ({ body: escaped(values) }),
  'bytes without a Content-Type': (values) => ({ body: new TextEncoder().encode(escaped(values)) }),
  multipart,
  JSON: (values) => ({ body: JSON.stringify(values), headers: json }),
  'the query': (values) => ({ query: `?${escaped(values)}`, body: '' }),
};

const texts: Record<string, string> = {
  'a NUL': 'a\0b',
  'a byte order mark': '\ufeffa',
  'line ends of every kind': '\r\n\n\r',
  'blanks at both ends': '  a\t',
  'a plus, a percent and their escapes': '+ %20 %2B % %zz',
  'what looks like more parameters': 'a&secret=b;ttl=1#x',
  'decomposed and composed letters': 'e\u0301 \u00e9',
  'characters beyond the first plane': '😀𝒜\u{10ffff}',
  'noncharacters and controls': '\uffff\ufffe\u0001\u007f\u0085\u2028',
  markup: '<script>alert("1")</script> & \'quotes\'',
  'a text of three blanks': '   ',
  'what looks like JSON': '{"secret":"x","__proto__":null}',
};

const seed = announceSeed('values of v1');

describe(`values of v1 (seed ${seed})`, () => {
  const { send, post } = createV1Caller({ plans });
  async function roundTrip(
    secret: string,
    passphrase: string,
    carry: (values: Record<string, string>) => Carried,
  ) {
    const { query = '', ...options } = carry({ secret, passphrase, ttl: '600' });
    const made = await send('POST', `/share${query}`, options);
    expect(made.status).toBe(200);
    expect(made.body).toMatchObject({ ttl: 600, passphrase_required: true });
    const reveal = carry({ passphrase });
    const { query: revealQuery = '', ...revealOptions } = reveal;
    return (await send('POST', `/secret/${made.body.secret_key}${revealQuery}`, revealOptions)).body.value;
  }

  for (const [carriage, carry] of Object.entries(carriages)) {
    for (const [title, text] of Object.entries(texts)) {
      it(`${title}: come back byte for byte by ${carriage}`, async () => {
        expect(await roundTrip(text, text, carry)).toBe(text);
      });
    }
    it(`any text at all comes back byte for byte by ${carriage}`, async () => {
      const text = fc
        .string({ unit: 'binary', minLength: 1, maxLength: 300 })
        .filter((value) => !value.includes(boundary) && !value.includes('\ufffd'));
      const check = fc.asyncProperty(text, text, async (secret, passphrase) => {
        fc.pre(Buffer.byteLength(passphrase) <= 1_024);
        expect(await roundTrip(secret, passphrase, carry)).toBe(secret);
      });
      await fc.assert(check, { seed, numRuns: 30 });
    });
  }

  it('of the largest size come back, and one byte more is refused with the limit', async () => {
    const largest = 'ä'.repeat(32_768);
    const body = new TextEncoder().encode(`secret=${largest}`);
    const made = await send('POST', '/share', { body });
    expect((await post(`/secret/${made.body.secret_key}`)).body.value).toBe(largest);
    const refused = await send('POST', '/share', { body: new TextEncoder().encode(`secret=${largest}a`) });
    expect([refused.status, refused.body.message]).toEqual([413, expect.stringContaining('65536 bytes')]);
  });

  it('of the largest size pass with the largest passphrase, each of their bytes percent-encoded', async () => {
    const small = createV1Caller();
    const [secret, passphrase] = ['%01'.repeat(10_000), '%02'.repeat(1_024)];
    const form = 'application/x-www-form-urlencoded';
    const body = `secret=${secret}&passphrase=${passphrase}`;
    const made = await small.send('POST', '/share', { body, headers: { 'content-type': form } });
    expect([made.status, made.body.passphrase_required]).toEqual([200, true]);
  });

  it('of the largest size pass with the largest passphrase in JSON that escapes each of their bytes', async () => {
    const small = createV1Caller();
    const json = { secret: '\u0001'.repeat(10_000), passphrase: '\u0002'.repeat(1_024) };
    const headers = { 'content-type': 'application/json' };
    const made = await small.send('POST', '/share', { body: JSON.stringify(json), headers });
    expect([made.status, made.body.passphrase_required]).toEqual([200, true]);
  });

  it('with a body of exactly the cap are read', async () => {
    const small = createV1Caller();
    const padding = (bytes: number) => `secret=a&x=${'x'.repeat(bytes - 11)}`;
    expect((await small.send('POST', '/share', { body: padding(70_240) })).status).toBe(200);
    expect((await small.send('POST', '/share', { body: padding(70_241) })).status).toBe(413);
  });

  it('and every parameter are granted the same in every encoding', async () => {
    const records = [];
    for (const carry of Object.values(carriages)) {
      const { query = '', ...options } = carry({ secret: 'a', ttl: '90', unknown: 'x' });
      const {
        metadata_key: _m,
        secret_key: _s,
        ...rest
      } = (await send('POST', `/share${query}`, options)).body;
      records.push(JSON.stringify(rest));
    }
    expect(new Set(records).size).toBe(1);
  });
});
