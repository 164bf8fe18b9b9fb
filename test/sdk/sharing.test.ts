/** The client end to end: against a started server, and against servers that lie. */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import {
  type ConcealOptions,
  createClient,
  type Fetch,
  type MayflyClient,
  type MayflyError,
  newLook,
  parseLink,
  type SharedFile,
} from '../../sdk/mayfly.ts';
import { createAccount, type StartedServer, startServer } from '../support/started-server.ts';
import vectors from '../vectors/end-to-end.json';
import { failure, recordRequests } from './observed.ts';

let server: StartedServer;
let origin: string;
let account: MayflyClient;
const { sent, recording } = recordRequests();

beforeAll(async () => {
  server = await startServer();
  const { username, token } = await createAccount(server.dataDir, 'jo@example.org');
  origin = `http://127.0.0.1:${server.port}`;
  account = createClient({ server: origin, credentials: { username, token }, fetch: recording });
});
afterAll(() => server[Symbol.asyncDispose]());

const keyIn = (link: string) => parseLink(link)?.key ?? '';
const fragmentIn = (link: string) => parseLink(link)?.fragment ?? '';
const other = (character: string) => (character === 'A' ? 'Q' : 'A');

describe('what is shared end to end', () => {
  it('is a text or a file, comes back byte for byte, once, and the server never sees it (P1)', async () => {
    sent.length = 0;
    const bytes = Uint8Array.from({ length: 90_000 }, (_, at) => at * 31);
    const file: SharedFile = { name: 'notes/käse 🧀.bin', type: 'application/x-cheese', bytes };
    const shared: readonly [ConcealOptions, unknown][] = [
      [{ value: ' 🦋\r\n\0 open sesame ' }, [' 🦋\r\n\0 open sesame ', null]],
      [{ value: 'open sesame', passphrase: 'thyme' }, ['open sesame', null]],
      [{ file }, [null, { ...file, name: 'käse 🧀.bin' }]],
    ];
    for (const [options, wanted] of shared) {
      const { passphrase } = options;
      const created = await account.conceal({ ...options, ttlSeconds: 600, memo: 'm' });
      const { metadataKey, secretKey, link, ...rest } = created;
      expect(rest).toMatchObject({ ttlSeconds: 600, isSealed: true, memo: 'm', ignored: [] });
      expect(rest.hasPassphrase).toBe(passphrase !== undefined);
      expect(link).toMatch(new RegExp(`^${origin}/secret/${secretKey}#[\\w-]{21}[AQgw]$`));
      expect(await account.status(link)).toMatchObject({ isSealed: true, hasPassphrase: rest.hasPassphrase });
      expect(await account.inspect(link, { passphrase: 'thyme' })).toMatchObject({ isSealed: true });
      const waits = await account.receipt(metadataKey);
      expect([waits.isSealed, waits.link, waits.secretKey]).toEqual([true, null, secretKey]);
      const revealed = await account.reveal(link, options);
      expect([revealed.value, revealed.file] as unknown).toEqual(wanted);
      expect(`${JSON.stringify(revealed)}${Bun.inspect(revealed)}`).not.toContain('sesame');
      expect((await account.receipt(metadataKey)).state).toBe('received');
      expect((await failure(account.reveal(link, options))).code).toBe('unknown_secret');
      const fragment = fragmentIn(link);
      expect(sent.filter((each) => each.includes(fragment))).toEqual([]);
    }
    expect(sent.filter((each) => /thyme|sesame|cheese/.test(each))).toEqual([]);
  });

  it('is as uniform and complete as what the server draws, when it is drawn', async () => {
    sent.length = 0;
    const { value, link, isSealed } = await account.generate({ length: 32, charset: ['digits', 'symbols'] });
    expect([value.length, isSealed, /[2-9]/.test(value), /[^2-9]/.test(value)]).toEqual([
      32,
      true,
      true,
      true,
    ]);
    expect((await account.reveal(link)).value).toBe(value);
    expect(sent.filter((each) => each.includes(value))).toEqual([]);
    for (const wrong of [
      { length: 3 },
      { length: 129 },
      { length: 4.5 },
      { charset: [] },
      { charset: ['x'] },
    ])
      expect((await failure(account.generate(wrong as object))).code).toBe('invalid_field');
  });

  it('opens neither without its fragment, nor with another, nor with a wrong passphrase, and waits', async () => {
    const { link } = await account.conceal({ value: 'x', passphrase: 'thyme' });
    const last = fragmentIn(link).charAt(20);
    const changed = `${link.slice(0, -2)}${other(last)}${link.slice(-1)}`;
    sent.length = 0;
    const refused: readonly [string, { passphrase?: string }, string, number | null][] = [
      [keyIn(link), { passphrase: 'thyme' }, 'incomplete_link', 422],
      [changed, { passphrase: 'thyme' }, 'incomplete_link', 422],
      [link.slice(0, -1), { passphrase: 'thyme' }, 'incomplete_link', null],
      [`${link}A`, {}, 'incomplete_link', null],
      [link, {}, 'incorrect_passphrase', null],
      [link, { passphrase: 'Thyme' }, 'incorrect_passphrase', 422],
    ];
    for (const [each, options, code, status] of refused)
      expect(await failure(account.reveal(each, options))).toMatchObject({ code, status });
    expect((await account.reveal(link, { passphrase: 'thyme' })).value).toBe('x');
  });

  it('needs no passphrase that it does not have', async () => {
    const { link } = await account.conceal({ value: 'x' });
    expect((await account.reveal(link, { passphrase: 'thyme' })).value).toBe('x');
  });

  it('has a limit of its own, which a refusal names', async () => {
    const anonymous = createClient({ server: origin });
    const large = await failure(anonymous.conceal({ value: 'x'.repeat(104_000) }));
    expect([large.code, large.limitBytes]).toEqual(['too_large', 100_000]);
    expect((await failure(anonymous.conceal({ value: 'x'.repeat(900_000) }))).code).toBe('too_large');
    expect((await anonymous.conceal({ value: 'x'.repeat(50_000) })).isSealed).toBe(true);
  });
});

describe('a burn by the link', () => {
  for (const plain of [false, true])
    it(`takes what a reveal takes, and the receipt says who it was: ${plain ? 'plain' : 'sealed'} (P16)`, async () => {
      const { link, metadataKey } = await account.conceal({
        value: 'open sesame',
        passphrase: 'thyme',
        plain,
      });
      const anonymous = createClient({ server: origin, fetch: recording });
      expect(await account.receipt(metadataKey)).toMatchObject({ state: 'new', burnedBy: null });
      for (const options of [{}, { passphrase: 'Thyme' }])
        expect((await failure(anonymous.burnUnread(link, options))).code).toBe('incorrect_passphrase');
      sent.length = 0;
      expect(await anonymous.burnUnread(link, { passphrase: 'thyme' })).toBeUndefined();
      if (!plain)
        expect(sent.filter((each) => /thyme/.test(each) || each.includes(fragmentIn(link)))).toEqual([]);
      const receipt = await account.receipt(metadataKey);
      expect(receipt).toMatchObject({ state: 'burned', burnedBy: 'recipient', burnedAt: expect.any(Date) });
      for (const gone of [
        anonymous.burnUnread(link, { passphrase: 'thyme' }),
        anonymous.reveal(link, { passphrase: 'thyme' }),
      ])
        expect((await failure(gone)).code).toBe('unknown_secret');
    });

  it('burns nothing with half a link, nor with the key that manages it', async () => {
    const { link, metadataKey, secretKey } = await account.conceal({ value: 'x' });
    expect((await failure(account.burnUnread(secretKey))).code).toBe('incomplete_link');
    expect((await failure(account.burnUnread(link.slice(0, -1)))).code).toBe('incomplete_link');
    expect((await failure(account.burnUnread(metadataKey))).code).toBe('unknown_secret');
    expect((await failure(account.burnUnread(`${origin}/receipt/${metadataKey}`))).code).toBe('invalid_key');
    expect((await account.burn(metadataKey)).burnedBy).toBe('creator');
  });
});

describe('what cannot be shared end to end', () => {
  const refusal = async (address: string, options: ConcealOptions) => {
    let calls = 0;
    const count: Fetch = async () => {
      calls += 1;
      return new Response();
    };
    const error = await failure(createClient({ server: address, fetch: count }).conceal(options));
    expect(calls).toBe(0);
    return error;
  };

  it('is refused before anything is sent, in words that name plain', async () => {
    for (const address of [
      'http://x.example',
      'http://10.0.0.1',
      'http://127.0.0.1.x.example',
      'http://[::2]',
    ]) {
      const error = await refusal(address, { value: 'x' });
      expect([address, error.code, /plain: true/.test(error.message)]).toEqual([
        address,
        'insecure_address',
        true,
      ]);
    }
    const mailed = await refusal('https://x.example', { value: 'x', recipient: 'alan@example.org' });
    expect([mailed.code, mailed.field]).toEqual(['invalid_field', 'recipient']);
    expect(mailed.message).toContain('plain: true');
    const file: SharedFile = { name: 'a', type: '', bytes: new Uint8Array(1) };
    expect((await refusal('https://x.example', { file, plain: true })).field).toBe('plain');
    for (const empty of [{ value: '' }, {} as ConcealOptions])
      expect((await refusal('https://x.example', empty)).field).toBe('value');
    expect((await refusal('https://x.example', { value: 'a\ud800' })).field).toBe('value');
    expect((await refusal('https://x.example', { value: 'a', passphrase: '' })).field).toBe('passphrase');
  });

  it('is everything where there is no WebCrypto, as on plain http in a browser', async () => {
    const whole = Object.getOwnPropertyDescriptor(globalThis, 'crypto');
    Object.defineProperty(globalThis, 'crypto', { value: {}, configurable: true });
    try {
      expect((await refusal('https://x.example', { value: 'x' })).code).toBe('insecure_address');
    } finally {
      Object.defineProperty(globalThis, 'crypto', whole ?? {});
    }
  });

  it('is not what https and this machine can have', async () => {
    for (const address of [
      'https://x.example',
      'http://localhost',
      'http://a.localhost:1',
      'http://127.9.0.1',
      'http://[::1]:1',
    ]) {
      const down: Fetch = () => Promise.reject(new TypeError('down'));
      expect(
        (await failure(createClient({ server: address, fetch: down }).conceal({ value: 'x' }))).code,
      ).toBe('unreachable');
    }
  });

  it('goes with plain: true, as the server shares it', async () => {
    const created = await account.conceal({ value: 'x', plain: true });
    expect([created.isSealed, fragmentIn(created.link)]).toEqual([false, '']);
    expect((await account.reveal(created.link)).value).toBe('x');
  });
});

describe('a server that lies', () => {
  const [sealed] = vectors.cases.filter(({ name }) => name === 'a text');
  if (sealed === undefined) throw new Error('no vector');
  const key = 'abcdefghijklmnopqrstuvwxyz01234';
  const link = `https://x.example/secret/${key}#${sealed.fragment}`;
  const waiting = { key, has_passphrase: true, secret_ttl: 60, created: 1_790_000_000, sealed: true };

  /** Answers by the end of the path; notes what was asked. */
  function lying(answers: Readonly<Record<string, unknown>>) {
    const asked: string[] = [];
    const fetch: Fetch = async (url, init) => {
      const name = url.split('/').at(-1) ?? '';
      asked.push(`${init.method} ${name} ${JSON.stringify(init.headers)} ${init.body ?? ''}`);
      return Response.json({ success: true, record: answers[name] ?? answers.any, details: {} });
    };
    return { client: createClient({ server: 'https://x.example', fetch }), asked };
  }

  it('gets no proof and no passphrase if it does not say that the secret is sealed', async () => {
    const { sealed: _, ...older } = waiting;
    for (const record of [
      { ...waiting, sealed: false },
      older,
      { ...waiting, sealed: 'true' },
      { ...waiting, sealed: 1 },
    ]) {
      const plain = { key, secret_value: 'not what was shared' };
      for (const look of [undefined, newLook()]) {
        const { client, asked } = lying({ status: record, reveal: plain });
        const options = { passphrase: 'thyme', ...(look === undefined ? {} : { look }) };
        expect((await failure(client.reveal(link, options))).code).toBe('not_sealed');
        expect([asked.length, asked[0]?.startsWith('GET status'), asked.join().includes('thyme')]).toEqual([
          1,
          true,
          false,
        ]);
      }
    }
  });

  it('that knows no such secret gets no proof', async () => {
    const { client, asked } = lying({ status: { key, state: 'unknown' } });
    expect((await failure(client.reveal(link, { passphrase: 'thyme' }))).code).toBe('unknown_secret');
    expect(asked).toHaveLength(1);
  });

  it('is asked nothing with a damaged fragment, whatever it would answer', async () => {
    for (const damaged of [
      'x',
      sealed.fragment.slice(1),
      `${sealed.fragment}A`,
      `${sealed.fragment.slice(0, -1)}%41`,
    ]) {
      const { client, asked } = lying({ any: waiting });
      const broken = `https://x.example/secret/${key}#${damaged}`;
      expect((await failure(client.reveal(broken, { passphrase: 'thyme' }))).code).toBe('incomplete_link');
      expect(asked).toEqual([]);
    }
  });

  it('gets no passphrase from any call with a full link', async () => {
    const { client, asked } = lying({ any: { ...waiting, state: 'unknown' }, status: waiting });
    const ignore = () => {};
    await client.reveal(link, { passphrase: 'thyme' }).catch(ignore);
    await client.inspect(link, { passphrase: 'thyme' }).catch(ignore);
    await client.burnUnread(link, { passphrase: 'thyme' }).catch(ignore);
    expect(asked.map((each) => each.split(' ').slice(0, 2).join(' '))).toEqual([
      'GET status',
      'POST reveal',
      `GET ${key}`,
      'GET status',
      'POST burn',
    ]);
    expect(asked.join()).not.toContain('thyme');
    expect(asked.join()).not.toContain(sealed.fragment);
  });

  it('passes off neither a value that it made up nor a form that this client does not know', async () => {
    const { ciphertext } = sealed.sealed;
    const status = { ...waiting, has_passphrase: false };
    const readWith = (record: unknown) => {
      const { client } = lying({ status, reveal: { key, ...Object(record) } });
      return client.reveal(link).then(
        ({ value }) => value,
        (error: MayflyError) => error.code,
      );
    };
    expect(await readWith({ sealed: { v: 1, ciphertext } })).toBe('hunter2');
    expect(await readWith({ secret_value: 'made up' })).toBe('unexpected_answer');
    expect(await readWith({ sealed: { v: 1 }, secret_value: 'made up' })).toBe('unexpected_answer');
    for (const v of vectors.refusals.versions)
      expect([v, await readWith({ sealed: { v, ciphertext }, secret_value: 'made up' })]).toEqual([
        v,
        'unreadable',
      ]);
    for (const { name, ciphertext: wrong } of vectors.refusals.ciphertexts)
      expect([name, await readWith({ sealed: { v: 1, ciphertext: wrong } })]).toEqual([name, 'unreadable']);
  });

  it('can neither make a link of its own nor store a sealed value as a plain one', async () => {
    const metadata = {
      ...{ key: '0'.repeat(31), state: 'new', metadata_ttl: 120, created: 1_790_000_000, sealed: true },
      share_url: 'https://evil.example/secret/x',
      share_domain: 'evil.example',
    };
    const creationOf = (secret: unknown, shareDomain?: string) => {
      const { client } = lying({ conceal: { metadata, secret } });
      return client.conceal({ value: 'x', ...(shareDomain === undefined ? {} : { shareDomain }) });
    };
    const secret = { key, lifespan: 60, sealed: true };
    expect((await creationOf(secret)).link).toStartWith(`https://x.example/secret/${key}#`);
    expect((await creationOf(secret, 'own.example')).link).toStartWith(`https://own.example/secret/${key}#`);
    for (const wrong of [
      { ...secret, sealed: false },
      { key, lifespan: 60 },
      { ...secret, key: `${key}?x` },
      { ...secret, key: `../../${key}` },
      { ...secret, key: `x/secret/${key}` },
    ])
      expect((await failure(creationOf(wrong))).code).toBe('unexpected_answer');
  });
});
