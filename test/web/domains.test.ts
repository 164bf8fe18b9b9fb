/** The pages of share domains, as their owner sees them: adding, checking, removing, and refusals with their messages. */
import { describe, expect, it } from 'bun:test';
import { ServiceError } from '../../src/core/errors.ts';
import { builtInPlans } from '../../src/core/plans.ts';
import { createTestApp } from '../support/app.ts';
import { address, signUp, wrongFields } from './account-visitor.ts';
import { addVerified, allowDomains, createDns, openOwner, setUpDns } from './domain-owner.ts';
import { withMethod } from './store-method.ts';
import { textIn, valueIn } from './visit.ts';
import { saying, words } from './words.ts';

const name = 'secrets.example.com';
const page = `/account/domains/${name}`;

/** The text of the domain's badge. */
function badgeIn(html: string): string {
  return /<span class="badge[^"]*">(?:<svg.*?<\/svg>)?([^<]*)</.exec(html)?.[1] ?? '';
}

describe('a domain', () => {
  it('is added by its name, and its page shows both records to make, part by part', async () => {
    const { app, visitor, id } = await openOwner();
    expect((await visitor.get('/account/domains')).html).toMatch(saying('domains.none'));
    const added = await visitor.post('/account/domains', { domain: ' Secrets.Example.COM ' });
    expect([added.status, added.headers.get('location')]).toEqual([303, `${page}?done=added`]);
    const { html } = await visitor.get(`${page}?done=added`);
    const stored = await app.store.findDomain(id, name);
    const shown = ['txt-name', 'txt-value', 'cname-name', 'cname-value'].map((part) => textIn(html, part));
    expect(shown).toEqual([
      `_mayfly-challenge-${stored?.challenge?.slice(0, 7)}.${name}`,
      stored?.challenge ?? '',
      name,
      'mayfly.example',
    ]);
    expect(badgeIn(html)).toBe(words('domain.unverified'));
    expect(html).toMatch(saying('domain.unchecked'));
    expect((await visitor.get('/account/domains')).html).toContain(`href="${page}"`);
  });

  it('that is a registered name itself has to have the addresses of the target', async () => {
    const dns = createDns();
    dns.records.addresses.set('mayfly.example', ['192.0.2.7', '2001:db8::7']);
    const { visitor } = await openOwner({ resolver: dns });
    await visitor.get('/account/domains');
    await visitor.post('/account/domains', { domain: 'example.com' });
    const { html } = await visitor.get('/account/domains/example.com');
    expect([textIn(html, 'address-1'), textIn(html, 'address-2')]).toEqual(['192.0.2.7', '2001:db8::7']);
    expect(html).toContain(words('domain.recordValue', { type: 'AAAA' }));
    expect(textIn(html, 'cname-name')).toBeNull();
  });

  it('with letters that the DNS does not know is shown in both spellings', async () => {
    const { visitor } = await openOwner();
    await visitor.get('/account/domains');
    await visitor.post('/account/domains', { domain: 'geheim.bücher.example.com' });
    const { html } = await visitor.get('/account/domains/geheim.xn--bcher-kva.example.com');
    expect(html).toContain('<h1><bdi>geheim.<wbr/>bücher.<wbr/>example.<wbr/>com</bdi></h1>');
    expect(html).toContain('<code dir="ltr">geheim.xn--bcher-kva.example.com</code>');
  });

  it('is checked when its owner presses, and its page says what is missing until all is there', async () => {
    const owner = await openOwner();
    const { app, dns, visitor, id } = owner;
    await visitor.get('/account/domains');
    await visitor.post('/account/domains', { domain: name });
    const check = async () => {
      await visitor.get(page);
      const checked = await visitor.post(`${page}/verify`);
      expect(checked.headers.get('location')).toBe(`${page}?done=checked`);
      const { html } = await visitor.get(`${page}?done=checked`);
      return [badgeIn(html), /<p class="note alert"[^>]*>([^<]*)/.exec(html)?.[1] ?? ''];
    };
    dns.isDown = true;
    expect(await check()).toEqual([words('domain.unverified'), words('domain.dnsFailed')]);
    dns.isDown = false;
    expect(await check()).toEqual([words('domain.unverified'), words('domain.txtMissing')]);
    await setUpDns(owner, id, name);
    const [[host = '', value = []] = []] = [...dns.records.txt];
    dns.records.txt.set(host, ['another value']);
    expect((await check())[1]).toBe(words('domain.txtDiffers'));
    dns.records.txt.set(host, value);
    dns.records.cname.set(name, ['elsewhere.example.net']);
    expect(await check()).toEqual([words('domain.pending'), words('domain.notPointing')]);
    dns.records.cname.set(name, ['mayfly.example']);
    expect(await check()).toEqual([words('domain.verified'), '']);
    dns.records.txt.delete(host);
    expect((await check())[0]).toBe(words('domain.lost'));
    expect(app.faults).toEqual([]);
  });

  it('is removed only after a page that asks', async () => {
    const owner = await openOwner();
    const { app, visitor, id } = owner;
    await addVerified(owner, name);
    const { status, html } = await visitor.get(`${page}/remove`);
    expect([status, html.includes(words('domain.removeTitle'))]).toEqual([200, true]);
    expect(await app.store.findDomain(id, name)).not.toBeNull();
    const removed = await visitor.post(`${page}/remove`);
    expect(removed.headers.get('location')).toBe('/account/domains?done=removed');
    expect(await app.store.findDomain(id, name)).toBeNull();
  });

  it('that the operator vouches for has no steps, and a look of its own', async () => {
    const { app, visitor, id } = await openOwner();
    const operators = { accountId: id, name, state: 'verified', challenge: null, createdAt: 0 } as const;
    await app.store.addDomain(operators, 1);
    const { html } = await visitor.get(page);
    expect([html.includes('id="txt-value"'), html.includes(`href="${page}/brand"`)]).toEqual([false, true]);
    expect(html).toMatch(saying('domain.vouchedLead'));
  });
});

describe('a name that is refused', () => {
  const refusals: readonly [string, number, string][] = [
    ['', 422, words('domains.nameMissing')],
    ['https://secrets.example.com/', 422, words('domains.nameMalformed')],
    ['192.0.2.7', 422, words('domains.nameIsAddress')],
    ['intranet', 422, words('domains.nameNotPublic')],
    ['co.uk', 422, words('domains.nameIsSuffix')],
    ['mayfly.example', 422, words('domains.nameIsOurs')],
    ['mine.example.com', 409, words('domains.exists')],
    ['theirs.example.com', 409, words('domains.taken')],
  ];
  for (const [typed, status, sentence] of refusals) {
    it(`is told why and comes back in the form: “${typed}”`, async () => {
      const { app, visitor, id } = await openOwner();
      const other = await app.account('other@example.com', 'identity');
      const of = (accountId: typeof id, domain: string, state: 'verified' | 'unverified') =>
        app.store.addDomain({ accountId, name: domain, state, challenge: null, createdAt: 0 }, 9);
      await of(id, 'mine.example.com', 'unverified');
      await of(other.id, 'theirs.example.com', 'verified');
      await visitor.get('/account/domains');
      const refused = await visitor.post('/account/domains', { domain: typed });
      expect([refused.status, wrongFields(refused.html)]).toEqual([status, ['domain']]);
      expect(refused.html).toContain(sentence);
      expect(valueIn(refused.html, 'domain') ?? '').toBe(typed);
      expect(await app.store.listDomains(id)).toHaveLength(1);
    });
  }

  it('because there are enough comes back with how many there may be', async () => {
    const plans = { identity: { ...builtInPlans.identity, maxDomains: 1 } };
    const { app, visitor, id } = await openOwner({ plans });
    await visitor.get('/account/domains');
    await visitor.post('/account/domains', { domain: name });
    await app.store.removeDomain(id, name);
    await visitor.get('/account/domains');
    await app.store.addDomain({ accountId: id, name, state: 'pending', challenge: null, createdAt: 0 }, 1);
    const refused = await visitor.post('/account/domains', { domain: 'one.more.example.com' });
    expect([refused.status, valueIn(refused.html, 'domain')]).toEqual([409, 'one.more.example.com']);
    expect(refused.html).toContain(words('domains.tooMany', { count: 1 }));
    expect((await visitor.get('/account/domains')).html).not.toContain('id="domain"');
  });

  it('because the store does not answer is not lost', async () => {
    const down = async () => Promise.reject(new ServiceError('unavailable', 'the store is away'));
    let isDown = false;
    const { visitor } = await openOwner({
      wrapStore: (store) =>
        withMethod(
          withMethod(store, 'addDomain', async (...given) => (isDown ? down() : store.addDomain(...given))),
          'listDomains',
          async (...given) => (isDown ? down() : store.listDomains(...given)),
        ),
    });
    await visitor.get('/account/domains');
    isDown = true;
    const refused = await visitor.post('/account/domains', { domain: name });
    expect([refused.status, valueIn(refused.html, 'domain')]).toEqual([503, name]);
  });
});

describe('domains of others', () => {
  it('are as unknown as those that do not exist, to every page and form', async () => {
    const owner = await openOwner();
    await addVerified(owner, name);
    const { app } = owner;
    const stranger = await signUp(app, 'mallory@example.com');
    await allowDomains(app, 'mallory@example.com');
    const gone = '/account/domains?done=gone';
    for (const at of [name, 'no.such.example.com', 'x', '%00', '__proto__']) {
      const path = `/account/domains/${at}`;
      for (const end of ['', '/remove', '/brand'])
        expect([path, end, (await stranger.get(path + end)).headers.get('location')]).toEqual([
          path,
          end,
          gone,
        ]);
      for (const [end, fields] of [
        ['/verify', {}],
        ['/remove', {}],
        ['/brand', { name: 'Mallory' }],
        ['/logo', { remove: 'yes' }],
      ] as const) {
        await stranger.get('/account');
        const answer = await stranger.post(path + end, fields);
        expect([path, end, answer.headers.get('location')]).toEqual([path, end, gone]);
      }
    }
    expect(await app.store.findVerifiedDomain(name)).toMatchObject({
      state: 'verified',
      brand: { name: null },
    });
  });

  it('need a session: everybody else is led to the log-in', async () => {
    const app = createTestApp();
    for (const path of ['/account/domains', page, `${page}/brand`, `${page}/remove`]) {
      const answer = await app.fetch(path);
      const logIn = `/log-in?${new URLSearchParams({ back: path })}`;
      expect([path, answer.status, answer.headers.get('location')]).toEqual([path, 303, logIn]);
    }
  });
});

describe('an account whose plan has no domains', () => {
  it('finds no way to them, no form to add one, and why', async () => {
    const app = createTestApp();
    const visitor = await signUp(app);
    expect((await visitor.get('/account')).html).not.toContain('/account/domains');
    const { status, html } = await visitor.get('/account/domains');
    expect([status, html.includes('id="domain"')]).toEqual([200, false]);
    expect(html).toMatch(saying('domains.planRequired'));
    const refused = await visitor.post('/account/domains', { domain: name });
    expect(refused.status).toBe(403);
  });

  it('still finds those that it had before', async () => {
    const { app, visitor, id } = await openOwner();
    expect((await visitor.get('/account')).html).toContain('href="/account/domains"');
    await visitor.get('/account/domains');
    await visitor.post('/account/domains', { domain: name });
    await app.store.setPlan(id, 'basic');
    expect((await visitor.get('/account')).html).toContain('href="/account/domains"');
    const { html } = await visitor.get('/account/domains');
    expect([html.includes(`href="${page}"`), html.includes('id="domain"')]).toEqual([true, false]);
    expect((await app.store.findAccount(address))?.plan).toBe('basic');
  });
});
