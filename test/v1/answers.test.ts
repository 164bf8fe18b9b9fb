/** The answers of v1 to valid requests: the rows of the contract, in both dialects. */
import { describe, expect, it } from 'bun:test';
import type { DialectName } from '../../src/api/version.ts';
import { giveDomain } from '../support/own-domain.ts';
import { createV1Caller } from './caller.ts';

const dialects: readonly DialectName[] = ['documented', 'upstream'];
const keyForm = /^[0-9a-z]{31}$/;

const recordFields = (...between: string[]) =>
  ['custid', 'metadata_key', 'secret_key', 'ttl', 'metadata_ttl', 'secret_ttl', 'state', ...between].join(
    ' ',
  );
const fieldsOf = (body: object) => Object.keys(body).join(' ');

for (const dialect of dialects) {
  const isUpstream = dialect === 'upstream';
  const recipient = isUpstream ? ['recipient'] : [];
  const metadataUrl = isUpstream ? ['metadata_url'] : [];

  describe(`creation in the ${dialect} dialect`, () => {
    for (const path of ['/share', '/create', '/share/']) {
      it(`at ${path} answers 200 with the metadata record`, async () => {
        const caller = createV1Caller({ dialect });
        const { status, body, headers } = await caller.post(path, { secret: 'hello', ttl: '7200' });
        expect(status).toBe(200);
        expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
        expect(fieldsOf(body)).toBe(
          recordFields(
            ...recipient,
            ...['share_domain', 'passphrase_required', 'created', 'updated'],
            ...metadataUrl,
          ),
        );
        expect(body).toMatchObject({
          custid: 'anon',
          metadata_key: expect.stringMatching(keyForm),
          secret_key: expect.stringMatching(keyForm),
          ttl: 7_200,
          metadata_ttl: 14_400,
          secret_ttl: 7_200,
          state: 'new',
          share_domain: '',
          passphrase_required: false,
          created: caller.app.clock.now(),
          updated: caller.app.clock.now(),
          ...(isUpstream ? { recipient: [] } : {}),
        });
      });
    }

    it('by an account carries its username and its plan', async () => {
      const caller = createV1Caller({ dialect });
      const alice = await caller.app.account('Alice@Example.com', 'identity');
      const body = await caller.share({ ttl: '99999999999' }, alice);
      expect([body.custid, body.ttl]).toEqual(['alice@example.com', 2_592_000]);
    });

    it('names the recipient obscured, and sends the link and never the value', async () => {
      const caller = createV1Caller({ dialect });
      const alice = await caller.app.account();
      const body = await caller.share({ secret: 'canary', recipient: 'joe@example.org' }, alice);
      const obscured = 'jo*****@e*****.org';
      expect(body.recipient).toEqual(isUpstream ? [obscured] : obscured);
      await caller.app.service.settled();
      expect(caller.app.mails[0]?.to.expose()).toBe('joe@example.org');
      expect(caller.app.mails[0]?.link.expose()).toBe(`https://mayfly.example/secret/${body.secret_key}`);
    });

    it('on a share domain of the account names it, and links to it', async () => {
      const caller = createV1Caller({ dialect });
      const alice = await caller.app.account('alice@example.com', 'identity');
      await giveDomain(caller.app.store, alice.id, 'secrets.example.com');
      const form = { share_domain: 'Secrets.example.com', recipient: 'joe@example.org' };
      const body = await caller.share(form, alice);
      expect(body.share_domain).toBe('secrets.example.com');
      await caller.app.service.settled();
      expect(caller.app.mails[0]?.link.expose()).toBe(
        `https://secrets.example.com/secret/${body.secret_key}`,
      );
      const revealed = await caller.post(`/secret/${body.secret_key}`);
      expect(revealed.body.share_domain).toBe(
        isUpstream ? 'https://secrets.example.com' : 'secrets.example.com',
      );
    });

    it('makes links on the share domain that the request arrives on, where its owner lets everybody', async () => {
      const { app, send } = createV1Caller({ dialect });
      const alice = await app.account('alice@example.com', 'identity');
      await giveDomain(app.store, alice.id, 'secrets.example.com');
      for (const path of ['/share', '/generate']) {
        const headers = { host: 'secrets.example.com:443' };
        const { body } = await send('POST', path, { form: { secret: 'a' }, headers });
        expect(body.share_domain).toBe('secrets.example.com');
      }
    });

    it('tells its account what it asked for', async () => {
      const { app, share, post } = createV1Caller({ dialect });
      const alice = await app.account();
      await app.store.setNotify(alice.id, ['burned']);
      for (const notify of ['read', 'expiring,read,read', 'none', '']) {
        const { secret_key: key } = await share({ notify }, alice);
        expect((await post(`/secret/${key}`)).status).toBe(200);
      }
      await app.service.settled();
      expect(app.accountMails.map(({ kind }) => kind)).toEqual(['secret_read', 'secret_read']);
    });

    it('takes the site itself as no share domain, with its port too', async () => {
      for (const [baseUrl, ...names] of [
        ['https://mayfly.example', 'mayfly.example', 'Mayfly.example:443'],
        ['http://localhost:3000', 'localhost', 'localhost:3000'],
      ]) {
        const caller = createV1Caller({ dialect, ...(baseUrl && { baseUrl }) });
        for (const name of names) expect((await caller.share({ share_domain: name })).share_domain).toBe('');
      }
    });

    it('builds links from configuration, whatever the request calls itself (P20)', async () => {
      const caller = createV1Caller({ dialect });
      const alice = await caller.app.account();
      const headers = {
        host: 'evil.example',
        'x-forwarded-host': 'evil.example',
        'x-original-host': 'evil.example',
      };
      const form = { secret: 'a', recipient: 'joe@example.org' };
      const { text } = await caller.send('POST', '/share', { form, as: alice, headers });
      await caller.app.service.settled();
      expect(caller.app.mails).toHaveLength(1);
      expect(text + (caller.app.mails[0]?.link.expose() ?? '')).not.toContain('evil');
    });

    it('says that a passphrase is required', async () => {
      const caller = createV1Caller({ dialect });
      expect((await caller.share({ passphrase: 'p' })).passphrase_required).toBe(true);
    });
  });

  describe(`generate in the ${dialect} dialect`, () => {
    it('answers the record with the value last, and the value once more by reveal', async () => {
      const caller = createV1Caller({ dialect });
      const { status, body } = await caller.post('/generate', { secret: 'ignored' });
      expect(status).toBe(200);
      expect(Object.keys(body).at(-1)).toBe('value');
      expect(body.value).toHaveLength(12);
      expect((await caller.post(`/secret/${body.secret_key}`)).body.value).toBe(body.value);
    });
    it('without a body answers too', async () => {
      const caller = createV1Caller({ dialect });
      expect((await caller.send('POST', '/generate', { body: '' })).status).toBe(200);
    });
    it('keeps to the length and the sets asked for, without look-alikes', async () => {
      const caller = createV1Caller({ dialect });
      for (const [charset, form] of [
        ['digits', /^[2-9]{128}$/],
        ['lower,upper', /^[a-hj-km-np-zA-HJ-NP-Z]{128}$/],
      ] as const) {
        const { body } = await caller.post('/generate', { length: '128', charset });
        expect(body.value).toMatch(form);
      }
    });
  });

  describe(`reveal in the ${dialect} dialect`, () => {
    it('gives the value once', async () => {
      const caller = createV1Caller({ dialect });
      const { secret_key: key } = await caller.share({ secret: ' hello\r\n' });
      const first = await caller.post(`/secret/${key}`);
      expect(first.status).toBe(200);
      expect(first.body).toEqual({
        secret_key: key,
        value: ' hello\r\n',
        share_domain: isUpstream ? 'https://mayfly.example' : '',
      });
      expect(Object.keys(first.body)).toEqual(['secret_key', 'value', 'share_domain']);
      expect((await caller.post(`/secret/${key}`)).status).toBe(404);
    });
    it('takes the passphrase from a form, from the query and from JSON', async () => {
      const caller = createV1Caller({ dialect });
      const passphrase = 'ä b&c';
      const carriages: ((key: string) => Promise<{ body: { value: string } }>)[] = [
        (key) => caller.post(`/secret/${key}`, { passphrase }),
        (key) =>
          caller.send('POST', `/secret/${key}?passphrase=${encodeURIComponent(passphrase)}`, { body: '' }),
        (key) =>
          caller.send('POST', `/secret/${key}`, {
            body: JSON.stringify({ passphrase }),
            headers: { 'content-type': 'application/json' },
          }),
      ];
      for (const reveal of carriages) {
        const { secret_key: key } = await caller.share({ passphrase });
        expect((await reveal(key)).body.value).toBe('a value');
      }
    });
    it('ignores a passphrase that is not needed', async () => {
      const caller = createV1Caller({ dialect });
      const { secret_key: key } = await caller.share();
      expect((await caller.post(`/secret/${key}`, { passphrase: 'x' })).status).toBe(200);
    });
    it('releases to exactly one of twenty at once (P1)', async () => {
      const caller = createV1Caller({ dialect });
      const { secret_key: key } = await caller.share();
      const answers = await Promise.all(Array.from({ length: 20 }, () => caller.post(`/secret/${key}`)));
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      expect(new Set(answers.filter(({ status }) => status !== 200).map(({ text }) => text)).size).toBe(1);
    });
  });

  describe(`the record in the ${dialect} dialect`, () => {
    for (const name of ['private', 'metadata', 'receipt']) {
      it(`at /${name}/:metadata_key is the same by POST and GET, without the value`, async () => {
        const caller = createV1Caller({ dialect });
        const alice = await caller.app.account();
        const made = await caller.share({ secret: 'canary', ttl: '600' }, alice);
        caller.app.clock.advance(100);
        const got = await caller.get(`/${name}/${made.metadata_key}`, alice);
        expect(got.body).toEqual({ ...made, secret_ttl: 500, metadata_ttl: 1_100 });
        const posted = await caller.post(`/${name}/${made.metadata_key}`, {}, alice);
        expect(posted.body).toEqual({ ...got.body, state: 'viewed', updated: caller.app.clock.now() });
        expect(got.text + posted.text).not.toContain('canary');
      });
    }

    it('says received, and when, which nothing later changes', async () => {
      const caller = createV1Caller({ dialect });
      const alice = await caller.app.account();
      const made = await caller.share({}, alice);
      caller.app.clock.advance(30);
      await caller.post(`/secret/${made.secret_key}`);
      const receivedAt = caller.app.clock.now();
      caller.app.clock.advance(30);
      for (const method of ['GET', 'POST']) {
        const { body } = await caller.send(method, `/private/${made.metadata_key}`, { as: alice });
        expect(body).toMatchObject({ state: 'received', received: receivedAt, updated: receivedAt });
      }
    });

    it('says expired from the instant on, and is unknown after twice the lifetime (P8)', async () => {
      const caller = createV1Caller({ dialect });
      const alice = await caller.app.account();
      const made = await caller.share({ ttl: '60' }, alice);
      caller.app.clock.advance(59);
      expect((await caller.get(`/private/${made.metadata_key}`, alice)).body).toMatchObject({
        state: 'new',
        secret_ttl: 1,
      });
      caller.app.clock.advance(1);
      const { body } = await caller.get(`/private/${made.metadata_key}`, alice);
      expect(body).toMatchObject({ state: 'expired', metadata_ttl: 60 });
      expect(body).not.toHaveProperty('received');
      expect((await caller.post(`/secret/${made.secret_key}`)).status).toBe(404);
      caller.app.clock.advance(60);
      expect((await caller.get(`/private/${made.metadata_key}`, alice)).status).toBe(404);
    });
  });

  describe(`burn in the ${dialect} dialect`, () => {
    for (const name of ['private', 'metadata', 'receipt']) {
      it(`at /${name}/:metadata_key/burn destroys the secret and says so in both places`, async () => {
        const caller = createV1Caller({ dialect });
        const alice = await caller.app.account();
        const made = await caller.share({}, alice);
        caller.app.clock.advance(5);
        const { status, body } = await caller.post(`/${name}/${made.metadata_key}/burn`, {}, alice);
        expect(status).toBe(200);
        const { status: word, state, secret_shortkey: shortkey, ...record } = body;
        expect([word, shortkey]).toEqual(['burned', made.secret_key.slice(0, 6)]);
        expect(state).toEqual({ ...record, state: 'burned' });
        expect(record.updated).toBe(made.created + 5);
        expect((await caller.post(`/secret/${made.secret_key}`)).status).toBe(404);
      });
    }

    it('and reveal exclude each other (P7)', async () => {
      for (let round = 0; round < 20; round++) {
        const caller = createV1Caller({ dialect });
        const alice = await caller.app.account();
        const made = await caller.share({}, alice);
        const reveal = () => caller.post(`/secret/${made.secret_key}`);
        const burn = () => caller.post(`/private/${made.metadata_key}/burn`, {}, alice);
        const order = round % 2 === 0 ? [reveal(), burn()] : [burn(), reveal()];
        const statuses = (await Promise.all(order)).map(({ status }) => status).sort();
        expect(statuses).toEqual([200, 404]);
      }
    });
  });

  describe(`recent in the ${dialect} dialect`, () => {
    const ways = ['private', 'metadata', 'receipt'].flatMap((name) =>
      ['GET', 'POST'].map((method) => [method, `/${name}/recent`] as const),
    );
    for (const [method, path] of ways) {
      it(`by ${method} ${path} lists the account's records, newest first, never a secret key (P16)`, async () => {
        const caller = createV1Caller({ dialect });
        const alice = await caller.app.account();
        const bob = await caller.app.account('bob@example.com');
        const first = await caller.share({ ttl: '600', recipient: 'joe@example.org' }, alice);
        caller.app.clock.advance(10);
        const second = await caller.share({ passphrase: 'p' }, alice);
        await caller.share({}, bob);
        await caller.share();
        await caller.post(`/secret/${first.secret_key}`);
        const { status, body, text } = await caller.send(method, path, { as: alice });
        expect(status).toBe(200);
        expect(body.map((each: { metadata_key: string }) => each.metadata_key)).toEqual([
          second.metadata_key,
          first.metadata_key,
        ]);
        expect(body[0]).toEqual({ ...second, secret_key: null });
        expect(body[1]).toMatchObject({ state: 'received', secret_key: null });
        expect(text).not.toContain(second.secret_key);
      });
    }
    it('of a fresh account is an empty array', async () => {
      const caller = createV1Caller({ dialect });
      expect((await caller.get('/private/recent', await caller.app.account())).text).toBe('[]');
    });
    it('holds at most 1,000 records', async () => {
      const caller = createV1Caller({ dialect });
      const alice = await caller.app.account();
      for (let made = 0; made < 1_001; made++) await caller.share({}, alice);
      expect((await caller.get('/private/recent', alice)).body).toHaveLength(1_000);
    }, 30_000);
  });

  describe(`status and authcheck in the ${dialect} dialect`, () => {
    it('answer nominal, with the default locale of the installation', async () => {
      for (const defaultLocale of ['en', 'de'] as const) {
        const caller = createV1Caller({ dialect, defaultLocale });
        const alice = await caller.app.account();
        const nominal = `{"status":"nominal","locale":"${defaultLocale}"}`;
        const headers = { 'accept-language': 'fr' };
        expect((await caller.send('GET', '/status', { headers })).text).toBe(nominal);
        expect((await caller.get('/status/?locale=fr', alice)).text).toBe(nominal);
        expect((await caller.get('/authcheck', alice)).text).toBe(nominal);
      }
    });
    it('compare the username without case', async () => {
      const caller = createV1Caller({ dialect });
      const alice = await caller.app.account();
      const authorization = `Basic ${btoa(`ALICE@example.com:${alice.token}`)}`;
      expect((await caller.send('GET', '/authcheck', { headers: { authorization } })).status).toBe(200);
    });
  });

  describe(`every path of the ${dialect} dialect`, () => {
    it('answers HEAD like GET, and OPTIONS with 204 and Allow', async () => {
      const caller = createV1Caller({ dialect });
      const head = await caller.send('HEAD', '/status');
      expect([head.status, head.text]).toEqual([200, '']);
      const options = await caller.send('OPTIONS', '/private/recent');
      expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, HEAD, POST, OPTIONS']);
    });
    it('says that nothing may be stored, sniffed, referred or indexed (P19)', async () => {
      const caller = createV1Caller({ dialect });
      const { secret_key: key } = await caller.share();
      for (const answer of [
        await caller.post(`/secret/${key}`),
        await caller.post(`/secret/${key}`),
        await caller.get('/x'),
      ]) {
        expect(answer.headers.get('cache-control')).toBe('no-store');
        expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
        expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
        expect(answer.headers.get('x-robots-tag')).toBe('noindex, nofollow, noarchive');
        expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f]{20}$/);
        expect(answer.headers.get('set-cookie')).toBeNull();
      }
    });
  });
}
