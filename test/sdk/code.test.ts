/** Secrets that ask for a code from a mailbox, through the client: against the service, and servers that know no codes. */
import { describe, expect, it } from 'bun:test';
import { createClient, type Fetch, MayflyError, newLook, parseLink } from '../../sdk/mayfly.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { failure } from './observed.ts';

const server = 'https://mayfly.example';
const verify = 'anna@example.org';
type Change = (path: string, body: Record<string, unknown>) => Response | undefined;

/** The client of an account of this service, and all that it sends; `change` alters a request, or answers instead. */
async function openClient(change: Change = () => undefined) {
  const app: TestApp = createTestApp({ baseUrl: server });
  const { username, token } = await app.account();
  const sent: { path: string; body: Record<string, unknown> }[] = [];
  const fetch: Fetch = async (url, init) => {
    const body = JSON.parse(String(init.body ?? '{}'));
    const path = new URL(url).pathname.replace('/api/v2', '');
    sent.push({ path, body: structuredClone(body) });
    const instead = change(path, body);
    if (instead !== undefined) return instead;
    return app.handler(new Request(url, { ...init, ...(init.body && { body: JSON.stringify(body) }) }));
  };
  const client = createClient({ server, credentials: { username, token }, fetch });
  return { app, client, sent };
}

describe('a server that knows no codes', () => {
  const forget: Change = (path, body) => {
    const secrets = (body.secrets ?? [body.secret]) as Record<string, unknown>[];
    if (/conceal|generate|batch/.test(path)) for (const each of secrets) delete each.verify;
    return undefined;
  };

  it('keeps nothing that was to ask for one: the client burns it, and says why', async () => {
    const { client, sent } = await openClient(forget);
    for (const create of [
      () => client.conceal({ value: 'x', verify }),
      () => client.conceal({ value: 'x', plain: true, verify }),
      () => client.generate({ verify }),
      () => client.conceal({ file: { name: 'a', type: '', bytes: Uint8Array.of(1) }, verify }),
    ])
      expect(await failure(create())).toMatchObject({
        code: 'unsupported',
        message: 'This server cannot ask for a code. The secret was burned.',
      });
    const states = (await Array.fromAsync(client.recent())).map(({ state }) => state);
    expect(states).toEqual(Array.from({ length: 4 }, () => 'burned' as const));
    expect(sent.filter(({ body }) => JSON.stringify(body).includes(verify))).toHaveLength(4);
  });

  it('keeps those of a batch that were to ask for none, and their links', async () => {
    const { client } = await openClient(forget);
    const [open, asking, plain] = await client.batch([
      { value: 'one' },
      { value: 'two', verify },
      { value: 'three', plain: true },
    ]);
    expect(asking).toMatchObject({ code: 'unsupported' });
    for (const [made, value] of [
      [open, 'one'],
      [plain, 'three'],
    ] as const) {
      if (made === undefined || made instanceof MayflyError) throw new Error('not created');
      expect((await client.reveal(made.link)).value).toBe(value);
    }
    expect((await Array.fromAsync(client.recent())).filter(({ state }) => state === 'burned')).toHaveLength(
      1,
    );
  });

  it('gives no link away even if the secret cannot be burned', async () => {
    const { client } = await openClient((path, body) => {
      forget(path, body);
      return path.endsWith('/burn') ? new Response(null, { status: 502 }) : undefined;
    });
    expect((await failure(client.conceal({ value: 'x', verify }))).message).toBe(
      'This server cannot ask for a code. The secret could not be burned.',
    );
  });
});

/** The code of the last email. */
async function mailedBy({ service, accountMails }: TestApp): Promise<string> {
  await service.settled();
  const mail = accountMails.at(-1);
  if (mail?.kind !== 'code') throw new Error('no code was mailed');
  return mail.code.expose();
}

describe('a code', () => {
  const passphrase = 'thyme';

  for (const plain of [false, true])
    it(`opens or burns, with the look that it was sent for: ${plain ? 'plain' : 'sealed'} (P1)`, async () => {
      const { app, client, sent } = await openClient();
      const made = await client.conceal({ value: 'x', passphrase, verify, plain });
      const burnable = await client.conceal({ value: 'x', passphrase, verify, plain });
      expect([made.needsCode, made.ignored, made.codes]).toEqual([true, [], []]);
      expect(await client.status(made.link)).toMatchObject({ needsCode: true });
      sent.length = 0;
      const look = newLook();
      expect(await client.sendCode(made.link, look, { locale: 'de' })).toEqual({
        sentTo: 'an*****@e*****.org',
        until: new Date((app.clock.now() + 600) * 1_000),
      });
      const proof = plain ? {} : { link_proof: expect.stringMatching(/^[\w-]{43}$/) };
      const path = `/secret/${parseLink(made.link)?.key}/code`;
      expect(sent).toEqual([{ path, body: { look, locale: 'de', ...proof } }]);
      const code = await mailedBy(app);
      expect(app.accountMails.at(-1)).toMatchObject({ locale: 'de' });
      const other = await failure(client.reveal(made.link, { passphrase, look: newLook(), code }));
      expect(other.code).toBe('code_required');
      expect((await client.reveal(made.link, { passphrase, look, code })).value).toBe('x');
      const { codes, state } = await client.receipt(made.metadataKey);
      expect([state, codes]).toEqual([
        'received',
        [{ state: 'accepted', at: new Date(app.clock.now() * 1_000) }],
      ]);
      await client.sendCode(burnable.link, look);
      await client.burnUnread(burnable.link, { passphrase, look, code: await mailedBy(app) });
      expect(await client.receipt(burnable.metadataKey)).toMatchObject({ burnedBy: 'recipient' });
      expect((await Array.fromAsync(client.recent())).map(({ codes }) => codes)).toEqual([null, null]);
      expect(JSON.stringify(sent).includes(passphrase)).toBe(plain);
    });

  it('is refused with what is left, until none is; its creator sees the lock and lifts it (P14)', async () => {
    const { app, client } = await openClient();
    const { link, metadataKey } = await client.conceal({ value: 'x', verify });
    const look = newLook();
    await client.sendCode(link, look);
    const right = await mailedBy(app);
    const code = right === '000000' ? '000001' : '000000';
    const refused = [];
    for (let tries = 0; tries < 6; tries += 1)
      refused.push(await failure(client.reveal(link, { look, code })));
    const seen: unknown = refused.map(({ code, attemptsLeft }) => [code, attemptsLeft]);
    expect(seen).toEqual([
      ...[4, 3, 2, 1, 0].map((left) => ['incorrect_code', left] as const),
      ['too_many_attempts', null],
    ]);
    expect((await failure(client.reveal(link, { look, code: right }))).code).toBe('too_many_attempts');
    await client.allowMore(metadataKey);
    expect((await client.reveal(link, { look, code: right })).value).toBe('x');
  });

  it('is neither sent nor needed for a secret that asks for none', async () => {
    const { app, client } = await openClient();
    const { link } = await client.conceal({ value: 'x' });
    expect((await failure(client.sendCode(link, newLook()))).code).toBe('needs_no_code');
    expect([app.accountMails.length, (await client.reveal(link)).value]).toEqual([0, 'x']);
  });

  it('is not for a value that the server draws', async () => {
    const { client } = await openClient();
    expect((await failure(client.generate({ plain: true, verify }))).field).toBe('secret.verify');
    expect((await client.generate({ verify })).needsCode).toBe(true);
  });
});
