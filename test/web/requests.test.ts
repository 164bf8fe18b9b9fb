/** The pages of requests for a secret, without their scripts: who may ask, what the server answers the form, and what the pages do not say. */
import { describe, expect, it } from 'bun:test';
import { drawRequest } from '../../sdk/request.ts';
import { generateRequestKey, type RegionLabel, type Regions } from '../../src/core/keys.ts';
import { systemRandom } from '../../src/crypto/random.ts';
import { createTestApp, type TestApp, type TestAppOptions } from '../support/app.ts';
import { giveDomain } from '../support/own-domain.ts';
import { signUpAs } from './signed-in.ts';
import { postForm, visit } from './visit.ts';
import { words } from './words.ts';

const [key, otherKey] = ['k'.repeat(31), '1'.repeat(31)];
const email = 'anna@example.org';

async function withAccount(options: TestAppOptions = {}) {
  const app = createTestApp(options);
  const { cookie, signedIn } = await signUpAs(app, email);
  const { sent } = await drawRequest('a question');
  const form = { ...sent, 'form-token': signedIn.formToken };
  const post = (path: string, fields: Readonly<Record<string, string>>) =>
    postForm(app, path, fields, { cookie });
  return { app, cookie, signedIn, sent, form, post };
}

async function postAsNobody(app: TestApp) {
  const { sent } = await drawRequest('a question');
  return postForm(app, '/ask', sent);
}

describe('the pages of both links', () => {
  it('are the same for every key, look nothing up, and repeat nothing of the address', async () => {
    const { app, cookie } = await withAccount({
      wrapStore: (store) => ({ ...store, findRequest: () => Promise.reject(new Error('looked up')) }),
    });
    for (const page of ['ask', 'answers'])
      for (const cookies of ['', cookie]) {
        const [one, other] = await Promise.all(
          [key, otherKey].map((each) => visit(app, `/${page}/${each}`, { headers: { cookie: cookies } })),
        );
        expect([one?.status, one?.html]).toEqual([200, other?.html ?? '']);
        expect(one?.html).not.toContain(key);
      }
    expect(app.faults).toEqual([]);
  });

  it('call an address without the form of a key damaged', async () => {
    const app = createTestApp();
    for (const path of ['/ask/cut', '/answers/cut', `/ask/${key.toUpperCase()}`]) {
      const { status, html } = await visit(app, path);
      expect([path, status, html.includes(words('damaged.title'))]).toEqual([path, 404, true]);
    }
  });

  it('are on the key’s region, which its form alone says', async () => {
    const regions: Regions = {
      own: 'eu' as RegionLabel,
      all: [
        { label: 'us' as RegionLabel, baseUrl: 'https://us.mayfly.example' },
        { label: 'eu' as RegionLabel, baseUrl: 'https://eu.mayfly.example' },
      ],
    };
    const app = createTestApp({ regions });
    const elsewhere = generateRequestKey(systemRandom, 'us' as RegionLabel);
    for (const page of ['ask', 'answers']) {
      const { status, headers } = await visit(app, `/${page}/${elsewhere}`);
      expect([status, headers.get('location')]).toEqual([
        307,
        `https://us.mayfly.example/${page}/${elsewhere}`,
      ]);
      expect((await visit(app, `/${page}/${generateRequestKey(systemRandom, regions.own)}`)).status).toBe(
        200,
      );
    }
  });

  it('take answers on a share domain, and lead the asker to the site', async () => {
    const { app, signedIn } = await withAccount();
    await giveDomain(app.store, signedIn.caller.account.id, 'links.example.com');
    const headers = { host: 'links.example.com' };
    const shown = await visit(app, `/ask/${key}`, { headers });
    expect([shown.status, shown.html.includes('data-domain="links.example.com"')]).toEqual([200, true]);
    for (const path of ['/ask', `/answers/${key}`]) {
      const { status, headers: given } = await visit(app, path, { headers });
      expect([status, given.get('location')]).toEqual([303, `${app.links.baseUrl}${path}`]);
    }
  });

  it('have no field that a browser could send, and say without scripts what is missing', async () => {
    const app = createTestApp();
    for (const [path, title, command] of [
      [`/ask/${key}`, 'answer.needsScriptsTitle', 'mayfly answer'],
      [`/answers/${key}`, 'answers.needsScriptsTitle', 'mayfly answers'],
    ] as const) {
      const { html } = await visit(app, path);
      expect(html).toContain(words(title));
      expect(html).toContain(`<code>${command} LINK</code>`);
      expect(html.slice(html.indexOf('<main')).match(/<(?:input|textarea|select)[^>]* name=/g)).toBeNull();
    }
    const { html } = await visit(createTestApp({ requests: 'anyone' }), '/ask');
    expect(/<input[^>]* id="prompt"[^>]*>/.exec(html)?.[0]).not.toContain('name=');
    expect(html).toContain('<code>mayfly ask</code>');
  });
});

describe('who may ask', () => {
  it('is what the setting says: the form, the header and the answer agree', async () => {
    const found: Record<string, unknown> = {};
    for (const requests of ['accounts', 'anyone', 'off'] as const) {
      const { app, cookie, form, post } = await withAccount({ requests });
      const [stranger, account] = [
        await visit(app, '/ask'),
        await visit(app, '/ask', { headers: { cookie } }),
      ];
      const hasForm = ({ html }: typeof stranger) => html.includes('id="prompt"');
      const home = await visit(app, '/');
      found[requests] = {
        pages: [stranger.status, hasForm(stranger), account.status, hasForm(account)],
        header: home.html.includes('href="/ask"'),
        posts: [(await postAsNobody(app)).status, (await post('/ask', form)).status],
      };
    }
    expect(found).toEqual({
      accounts: { pages: [200, false, 200, true], header: true, posts: [422, 201] },
      anyone: { pages: [200, true, 200, true], header: true, posts: [201, 201] },
      off: { pages: [404, false, 404, false], header: false, posts: [422, 422] },
    });
  });

  it('tells a stranger to log in, and leads back', async () => {
    const { html } = await visit(createTestApp(), '/ask');
    expect(html).toContain(words('ask.closedTitle'));
    expect(html).toContain('href="/log-in?back=%2Fask"');
  });

  it('says to whoever asks what senders will see', async () => {
    const { app, cookie } = await withAccount({ requests: 'anyone' });
    const own = await visit(app, '/ask', { headers: { cookie } });
    expect([own.html.includes(email), own.html.includes(words('ask.shownNobody'))]).toEqual([true, false]);
    const { html } = await visit(app, '/ask');
    expect([html.includes(words('ask.shownNobody')), html.includes('name="places"')]).toEqual([true, false]);
  });
});

describe('the form', () => {
  it('makes what was chosen, and answers its script with the key alone', async () => {
    const { app, form, post, signedIn, sent } = await withAccount();
    await giveDomain(app.store, signedIn.caller.account.id, 'links.example.com');
    const chosen = {
      places: '3',
      ttl: '3600',
      'answer-ttl': '86400',
      notify: 'yes',
      'share-domain': 'links.example.com',
    };
    const made = await post('/ask', { ...form, ...chosen });
    const answer = JSON.parse(made.html);
    expect(answer).toEqual({
      key: answer.key,
      domain: 'links.example.com',
      address: `/answers/${answer.key}`,
    });
    const closed = await app.requests.change(
      { requestKey: answer.key, ownerProof: null, change: { close: true } },
      signedIn.caller,
    );
    if (closed.outcome !== 'found') throw new Error(closed.outcome);
    const { request } = closed;
    expect([
      request.places,
      request.until - request.createdAt,
      request.answerTtlSeconds,
      request.notify,
    ]).toEqual([3, 3_600, 86_400, true]);
    expect(made.html).not.toContain(sent.terms);
  });

  it('is refused with the reason as a text, and a fresh token where it is too old', async () => {
    const { app, form, post, signedIn, sent } = await withAccount({ plans: {} });
    const refusals = [
      await post('/ask', { ...form, 'share-domain': 'other.example.com' }),
      await post('/ask', { ...form, terms: 'not base64url!' }),
      await post('/ask', { ...form, terms: 'AAAA' }),
      await post('/ask', { ...form, owner_hash: 'AAAA' }),
      await post('/ask', { ...form, places: '21' }),
      await post('/ask', { ...sent, 'form-token': 'f'.repeat(32) }),
    ];
    for (let made = 0; made < 2; made += 1)
      refusals.push(await post('/ask', { ...form, ...(await drawRequest('x')).sent, places: '20' }));
    refusals.push(await post('/ask', { ...form, ...(await drawRequest('x')).sent, places: '20' }));
    const { say: stale, formToken } = JSON.parse(refusals[5]?.html ?? '');
    expect(refusals.map(({ status }) => status)).toEqual([422, 400, 400, 400, 400, 403, 201, 201, 422]);
    expect([stale, formToken]).toEqual([words('problem.stale'), signedIn.formToken]);
    expect(JSON.parse(refusals[8]?.html ?? '').say).toBe(words('ask.tooMany', { max: 40 }));
    expect(app.faults).toEqual([]);
  });

  it('closes a request for the account that made it, and for nobody else', async () => {
    const { app, form, post, cookie } = await withAccount();
    const { key: made } = JSON.parse((await post('/ask', form)).html);
    const other = await signUpAs(app, 'other@example.org');
    const token = { 'form-token': other.signedIn.formToken };
    const by = [
      await postForm(app, `/ask/${made}/close`, {}),
      await postForm(app, `/ask/${made}/close`, token, { cookie: other.cookie }),
      await postForm(app, `/ask/${made}/close`, {}, { cookie }),
      await post(`/ask/${made}/close`, form),
      await post(`/ask/${made}/close`, form),
      await post(`/ask/${key}/close`, form),
    ];
    expect(by.map(({ status }) => status)).toEqual([303, 404, 403, 200, 200, 404]);
  });
});
