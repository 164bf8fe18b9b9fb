/** The client against a started server, and against answers that our servers never give. */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import { createClient, type MayflyClient, type Receipt } from '../../sdk/mayfly.ts';
import { createTestApp } from '../support/app.ts';
import { lookUntil } from '../support/look-until.ts';
import { createAccount, type StartedServer, startServer } from '../support/started-server.ts';
import { failure } from './observed.ts';

let server: StartedServer;
let anonymous: MayflyClient;
let account: MayflyClient;
beforeAll(async () => {
  server = await startServer();
  const { username, token } = await createAccount(server.dataDir, 'jo@example.org');
  const address = `http://127.0.0.1:${server.port}`;
  anonymous = createClient({ server: address });
  account = createClient({ server: `${address}/`, credentials: { username, token } });
});
afterAll(() => server[Symbol.asyncDispose]());

describe('the client', () => {
  it('conceals, inspects and reveals a value byte for byte, once (P1)', async () => {
    const value = ' \u{1f98b}\r\n\0 value ';
    const created = await anonymous.conceal({ value, plain: true, ttlSeconds: 3_600 });
    expect(created).toMatchObject({
      state: 'new',
      ttlSeconds: 3_600,
      hasPassphrase: false,
      recipient: null,
      shareDomain: '',
    });
    expect(created.link).toBe(`http://localhost:${server.port}/secret/${created.secretKey}`);
    expect(await anonymous.status(created.link)).toMatchObject({
      secretKey: created.secretKey,
      hasPassphrase: false,
    });
    expect((await anonymous.inspect(created.secretKey)).secretTtlSeconds).toBeGreaterThan(3_590);
    const revealed = await anonymous.reveal(created.link);
    expect([revealed.secretKey, revealed.value]).toEqual([created.secretKey, value]);
    expect((await failure(anonymous.reveal(created.link))).code).toBe('unknown_secret');
    expect(await anonymous.status(created.link)).toBeNull();
  });

  it('says what was not granted as asked, and nothing where all was', async () => {
    const long = await anonymous.conceal({ value: 'x', ttlSeconds: 1_209_600 });
    expect([long.ttlSeconds, long.adjusted, long.ignored]).toEqual([
      604_800,
      { ttlSeconds: { asked: 1_209_600, granted: 604_800 } },
      [],
    ]);
    const short = await anonymous.generate({ ttlSeconds: 1 });
    expect(short.adjusted).toEqual({ ttlSeconds: { asked: 1, granted: 60 } });
    const plain = await anonymous.conceal({ value: 'x', ttlSeconds: 60 });
    expect([plain.adjusted, plain.ignored]).toEqual([{}, []]);
  });

  it('says what a server ignored, and takes no odd remark for one', async () => {
    const record = {
      ...{ key: '0'.repeat(31), state: 'new', has_passphrase: false, secret_ttl: 60, metadata_ttl: 120 },
      ...{ created: 1_790_000_000, recipients: '', share_url: '', lifespan: 60 },
    };
    const answer = (details: unknown) =>
      createClient({
        server: 'https://x.example',
        fetch: async () =>
          Response.json({ success: true, record: { metadata: record, secret: record }, details }),
      }).conceal({ value: 'x', plain: true });
    const ignored = ['secret.notify', 'x'];
    expect((await answer({ ignored })).ignored).toEqual(ignored);
    expect(await answer({})).toMatchObject({
      recipient: null,
      link: `https://x.example/secret/${record.key}`,
    });
    for (const odd of [
      undefined,
      null,
      5,
      { ignored: 5, adjusted: [] },
      { ignored: [5], adjusted: { ttl: 5 } },
    ])
      expect(await answer(odd)).toMatchObject({ adjusted: {}, ignored: [] });
  });

  it('generates a value and returns it once', async () => {
    const generated = await anonymous.generate({ length: 32, charset: ['digits', 'lower'] });
    expect(generated.value).toMatch(/^[0-9a-z]{32}$/);
    expect((await anonymous.reveal(generated.link)).value).toBe(generated.value);
    expect((await anonymous.generate()).value).toHaveLength(12);
    const drawn = await anonymous.generate({ length: 32, charset: ['digits'], plain: true });
    expect([drawn.value, drawn.isSealed]).toEqual([expect.stringMatching(/^[2-9]{32}$/), false]);
    expect((await anonymous.reveal(drawn.secretKey)).value).toBe(drawn.value);
  });

  it('carries any passphrase, and a wrong one consumes nothing (P14, P15)', async () => {
    const passphrase = ' pässphrase: 100 % \u{1f511} ';
    const { link } = await anonymous.conceal({ value: 'guarded', passphrase, plain: true });
    for (const options of [{}, { passphrase: passphrase.trim() }]) {
      expect(await failure(anonymous.reveal(link, options))).toMatchObject({
        code: 'incorrect_passphrase',
        status: 422,
      });
    }
    expect(await anonymous.inspect(link, { passphrase })).toMatchObject({ hasPassphrase: true });
    expect((await anonymous.reveal(link, { passphrase })).value).toBe('guarded');
  });

  it('shows and burns the receipts of an account, and lists them newest first, page by page', async () => {
    const made = [];
    for (const value of ['one', 'two', 'three']) made.push(await account.conceal({ value }));
    const [one, two, three] = made.map(({ metadataKey }) => metadataKey);
    expect(await account.receipt(one ?? '')).toMatchObject({
      metadataKey: one,
      state: 'new',
      secretKey: made[0]?.secretKey,
    });
    expect(await account.burn(two ?? '')).toMatchObject({
      state: 'burned',
      secretKey: null,
      link: null,
      secretTtlSeconds: null,
      recipient: null,
      burnedAt: expect.any(Date),
    });
    expect(await failure(account.burn(two ?? ''))).toMatchObject({ code: 'already_gone', status: 409 });
    const listed = [];
    for await (const receipt of account.recent({ pageSize: 1 })) listed.push(receipt);
    expect(listed.map(({ metadataKey }) => metadataKey)).toEqual([three, two, one] as string[]);
    expect(listed.every(({ secretKey }) => secretKey === null)).toBe(true);
  });

  it('keeps a memo for the creator, shows it in every receipt, and changes or removes it', async () => {
    const memo = ' VPN for Al \u{1f511}\n';
    const created = await account.conceal({ value: 'x', memo });
    expect(created.memo).toBe(memo);
    const { metadataKey, link } = created;
    await anonymous.reveal(link);
    expect(await account.receipt(metadataKey)).toMatchObject({ state: 'received', memo });
    for (const next of ['second', '', 'third']) {
      const changed = await account.setMemo(metadataKey, next);
      expect(changed).toMatchObject({ metadataKey, state: 'received', memo: next });
      expect((await account.recent({ pageSize: 1 }).next()).value.memo).toBe(next);
    }
    expect((await account.generate({ memo: 'drawn' })).memo).toBe('drawn');
    expect((await anonymous.generate()).memo).toBe('');
    for (const wrong of ['x'.repeat(501), '\ud800'])
      expect(await failure(account.setMemo(metadataKey, wrong))).toMatchObject({
        code: 'invalid_field',
        field: 'memo',
      });
    expect(await failure(anonymous.setMemo(metadataKey, 'x'))).toMatchObject({ code: 'not_authorized' });
    expect((await failure(account.setMemo(link, 'x'))).code).toBe('invalid_key');
  });

  it('gives an unread secret another lifetime from now on, and says what was not granted as asked', async () => {
    const { metadataKey, link } = await account.conceal({
      value: 'x',
      plain: true,
      ttlSeconds: 3_600,
      memo: 'kept',
    });
    const shorter = await account.setTtl(metadataKey, 120);
    expect(shorter).toMatchObject({ metadataKey, link, memo: 'kept', adjusted: {}, ignored: [] });
    expect(shorter.secretTtlSeconds).toBeWithin(100, 121);
    expect((await account.setTtl(metadataKey, 0)).secretTtlSeconds).toBeWithin(90, 121);
    const longest = await account.setTtl(`http://x.example/receipt/${metadataKey}`, 30 * 86_400);
    const { asked, granted } = longest.adjusted.ttlSeconds ?? {};
    expect([asked, longest.secretTtlSeconds]).toEqual([30 * 86_400, Number(granted)]);
    expect(granted).toBeWithin(14 * 86_400 - 60, 14 * 86_400 + 1);
    for (const wrong of [-1, 1.5])
      expect(await failure(account.setTtl(metadataKey, wrong))).toMatchObject({
        code: 'invalid_field',
        field: 'ttl',
      });
    expect(await failure(anonymous.setTtl(metadataKey, 60))).toMatchObject({ code: 'not_authorized' });
    expect((await failure(account.setTtl(link, 60))).code).toBe('invalid_key');
    expect((await anonymous.reveal(link)).value).toBe('x');
    expect(await failure(account.setTtl(metadataKey, 60))).toMatchObject({
      code: 'already_gone',
      status: 409,
    });
  });

  it('tells of a lock by wrong passphrases, and lifts it', async () => {
    const { metadataKey, link, locked } = await account.conceal({
      value: 'x',
      plain: true,
      passphrase: 'right',
    });
    expect(locked).toBeNull();
    const record = { key: metadataKey, state: 'new', metadata_ttl: 60, created: 1 };
    const lockOf = async (told: unknown) => {
      const fetch = async () => Response.json({ success: true, record: { ...record, locked: told } });
      return (await createClient({ server: 'http://x.example', fetch }).receipt(metadataKey)).locked;
    };
    expect(await lockOf({ by: 'passphrase', until: 60 })).toEqual({
      by: 'passphrase',
      until: new Date(60_000),
    });
    expect(await lockOf({ by: 'code', until: null })).toEqual({ by: 'code', until: null });
    expect([await lockOf(null), await lockOf(undefined)]).toEqual([null, null]);
    for (let n = 0; n < 5; n += 1)
      expect((await failure(anonymous.reveal(link, { passphrase: 'wrong' }))).code).toBe(
        'incorrect_passphrase',
      );
    const refused = await failure(anonymous.reveal(link, { passphrase: 'right' }));
    expect(refused).toMatchObject({ code: 'too_many_attempts', status: 429 });
    expect(await account.allowMore(metadataKey)).toMatchObject({ metadataKey, locked: null });
    expect((await anonymous.reveal(link, { passphrase: 'right' })).value).toBe('x');
    expect((await failure(account.allowMore(metadataKey))).code).toBe('already_gone');
    expect((await failure(anonymous.allowMore(metadataKey))).code).toBe('not_authorized');
  });

  it('tells what became of the mail, and sends it again or to another address', async () => {
    const { metadataKey, notify, delivery } = await account.conceal({
      value: 'mailed',
      plain: true,
      recipient: 'alan@example.org',
      notify: ['expiring', 'read'],
    });
    expect(notify).toEqual(['read', 'expiring']);
    expect(delivery).toEqual({ state: 'queued', at: expect.any(Date), reply: null });
    expect((await mailed(metadataKey)).delivery?.state).toBe('accepted');
    const sent = await account.deliver(metadataKey, { recipient: 'grace@example.com', locale: 'xx' });
    expect(sent).toMatchObject({
      metadataKey,
      adjusted: { locale: { asked: 'xx', granted: 'en' } },
      ignored: [],
      recipient: 'gr*****@e*****.com',
      delivery: { state: 'queued' },
    });
    expect((await mailed(metadataKey)).delivery?.state).toBe('accepted');
    expect((await account.deliver(metadataKey)).recipient).toBe('gr*****@e*****.com');
    await mailed(metadataKey);
    await account.burn(metadataKey);
    expect(await failure(account.deliver(metadataKey))).toMatchObject({ code: 'already_gone', status: 409 });
    const silent = await account.conceal({ value: 'x', plain: true, notify: [] });
    expect([silent.notify, silent.delivery]).toEqual([[], null]);
    expect(await failure(account.deliver(silent.metadataKey))).toMatchObject({ field: 'recipient' });
    expect(await failure(anonymous.conceal({ value: 'x', notify: ['read'] }))).toMatchObject({
      code: 'account_required',
    });
  });

  /** The receipt once the mail has ended. */
  const mailed = (metadataKey: string): Promise<Receipt> =>
    lookUntil(
      'the end of a mail',
      () => account.receipt(metadataKey),
      ({ delivery }) => delivery?.state !== 'queued',
    );

  it('tells what is wrong by one closed set of codes', async () => {
    expect(await failure(anonymous.conceal({ value: '', plain: true }))).toMatchObject({
      status: 422,
      field: 'secret.secret',
    });
    expect(await failure(anonymous.conceal({ value: 'x', ttlSeconds: -1 }))).toMatchObject({
      code: 'invalid_field',
      field: 'secret.ttl',
    });
    expect(await failure(anonymous.conceal({ value: 'x'.repeat(10_001), plain: true }))).toMatchObject({
      code: 'too_large',
      limitBytes: 10_000,
    });
    expect(
      await failure(anonymous.conceal({ value: 'x', plain: true, recipient: 'jo@example.org' })),
    ).toMatchObject({
      code: 'account_required',
    });
    const key = '0'.repeat(31);
    expect(await failure(anonymous.receipt(key))).toMatchObject({ code: 'not_authorized', status: 401 });
    expect(await failure(account.receipt(key))).toMatchObject({ code: 'unknown_secret', status: 404 });
    const wrong = createClient({
      server: `http://127.0.0.1:${server.port}`,
      credentials: { username: 'jo@example.org', token: 'no' },
    });
    expect(await failure(wrong.generate())).toMatchObject({
      code: 'not_authorized',
      requestId: expect.any(String),
    });
  });

  it('sends nothing for a text that is no key, or a receipt where a secret is asked for', async () => {
    let calls = 0;
    const counted = createClient({
      server: 'https://x.example',
      fetch: async () => {
        calls += 1;
        return new Response();
      },
    });
    const key = '0'.repeat(31);
    for (const text of ['', 'no', key.toUpperCase().replace('0', 'A'), `https://x.example/receipt/${key}`]) {
      expect((await failure(counted.reveal(text))).code).toBe('invalid_key');
    }
    expect((await failure(counted.burn(`https://x.example/secret/${key}`))).code).toBe('invalid_key');
    expect(calls).toBe(0);
  });

  it('makes one call, follows no redirect and asks for no cache', async () => {
    const calls: RequestInit[] = [];
    const counted = createClient({
      server: 'https://x.example/below',
      fetch: async (url, init) => {
        expect(url).toBe(`https://x.example/below/api/v2/secret/${'0'.repeat(31)}/reveal`);
        calls.push(init);
        return new Response('<html>502</html>', { status: 502, headers: { 'Retry-After': '7' } });
      },
    });
    expect(await failure(counted.reveal('0'.repeat(31), { strictlyOnce: true }))).toMatchObject({
      code: 'unexpected_answer',
      status: 502,
      retryAfterSeconds: 7,
    });
    expect(calls).toHaveLength(1);
    expect(calls[0]).toMatchObject({
      redirect: 'error',
      cache: 'no-store',
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
    });
  });

  it('does not take an answer with holes for a secret', async () => {
    const holes = createClient({
      server: 'https://x.example',
      fetch: async () => Response.json({ success: true, record: { key: 'x' } }),
    });
    expect((await failure(holes.reveal('0'.repeat(31)))).code).toBe('unexpected_answer');
  });

  it('gives up after its time, and says when nobody is there', async () => {
    await using hanging = Bun.serve({ port: 0, fetch: () => new Promise<Response>(() => {}) });
    const impatient = createClient({ server: `http://127.0.0.1:${hanging.port}`, timeoutMs: 50 });
    expect(await failure(impatient.generate())).toMatchObject({ code: 'timed_out', status: null });
    const nobody = createClient({ server: 'http://127.0.0.1:1' });
    expect(await failure(nobody.generate())).toMatchObject({ code: 'unreachable', status: null });
  });

  it.each([
    [' https://x.example ', 'https://x.example'],
    ['HTTPS://X.EXAMPLE:443/Below//', 'https://x.example/Below'],
    ['\uFEFFhttp://LOCALHOST:3000\r\n', 'http://localhost:3000'],
    ['\u200Bhttps://bücher.example/\u00A0', 'https://xn--bcher-kva.example'],
  ])('takes the server %j, and asks and links as URL writes it', async (given, written) => {
    const app = createTestApp();
    const asked: string[] = [];
    const fetch = async (url: string, init: RequestInit) => {
      asked.push(url);
      return app.handler(new Request(url.replace(written, 'http://localhost'), init));
    };
    const { link } = await createClient({ server: given, fetch }).conceal({ value: 'x' });
    expect(link).toStartWith(`${written}/secret/`);
    for (const url of asked) expect(url).toStartWith(`${written}/api/`);
  });

  it('links below the path of the server, on a share domain too', async () => {
    const key = 'abcdefghijklmnopqrstuvwxyz01234';
    for (const sealed of [true, false]) {
      const metadata = {
        key,
        state: 'new',
        metadata_ttl: 9,
        created: 1,
        sealed,
        share_domain: 'own.example',
      };
      const record = { metadata, secret: { key, lifespan: 9, sealed } };
      const fetch = async () => Response.json({ success: true, record, details: {} });
      const client = createClient({ server: 'https://x.example/vault', fetch });
      const { link } = await client.conceal({ value: 'x', shareDomain: 'own.example', plain: !sealed });
      expect(link).toStartWith(`https://own.example/vault/secret/${key}`);
    }
  });

  it('refuses a server that is no http address', () => {
    expect(() => createClient({ server: 'file:///x' })).toThrow(TypeError);
    expect(() => createClient({ server: ' ' })).toThrow(TypeError);
  });
});
