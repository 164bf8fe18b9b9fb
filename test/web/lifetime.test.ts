/** The lifetime of a waiting secret, on its receipt: what is offered, granted, refused, and what then becomes of the secret. */
import { describe, expect, it } from 'bun:test';
import { ServiceError } from '../../src/core/errors.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { signUpAs } from './signed-in.ts';
import { withMethod } from './store-method.ts';
import { chosenIn, postForm, type Shared, share, valueIn, visit } from './visit.ts';
import { words } from './words.ts';

const hour = 3_600;
const day = 86_400;

/** The seconds that are left; `null` once it is gone. */
async function leftOf(app: TestApp, { receiptPath }: Pick<Shared, 'receiptPath'>): Promise<number | null> {
  const input = { metadataKey: receiptPath.slice('/receipt/'.length), authority: 'holder' } as const;
  const found = await app.service.findReceipt(input, { kind: 'anonymous' });
  return found.outcome === 'found' ? found.receipt.secretTtlSeconds : null;
}

/** A secret of a day without an account, whose plan allows a week. */
async function createDesk(options: Parameters<typeof createTestApp>[0] = {}) {
  const app = createTestApp(options);
  const shared = await share(app, { secret: 'x', ttl: String(day) });
  const post = (fields: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}) =>
    postForm(app, `${shared.receiptPath}/lifetime`, fields, headers);
  const page = async () => (await visit(app, shared.receiptPath)).html;
  const left = () => leftOf(app, shared);
  return { app, ...shared, post, page, left };
}

/** The part of a page that changes the lifetime; `''` if it has none. */
function formIn(html: string): string {
  return /<details[^>]* id="change-lifetime".*?<\/details>/s.exec(html)?.[0] ?? '';
}

const isOpen = /^<details[^>]* open=""/;

function choicesIn(html: string): string[] {
  const select = /<select id="ttl".*?<\/select>/s.exec(html)?.[0] ?? '';
  return [...select.matchAll(/value="([^"]*)"/g)].map(([, value]) => value ?? '');
}

describe('the lifetime on a receipt', () => {
  it('is offered in a closed part: what ends before the latest expiry, nearest to what is left', async () => {
    const { app, page } = await createDesk();
    const usual = ['300', '1800', '3600', '14400', '43200', '86400', '259200'];
    const first = formIn(await page());
    expect([choicesIn(first), chosenIn(first, 'ttl')]).toEqual([[...usual, 'longest', 'other'], '86400']);
    expect(first).not.toMatch(isOpen);
    app.clock.advance(9 * hour);
    expect(chosenIn(await page(), 'ttl')).toBe('43200');
    const whole = await share(app, { secret: 'x', ttl: String(7 * day) });
    app.clock.advance(6.5 * day);
    const late = (await visit(app, whole.receiptPath)).html;
    expect([choicesIn(late), chosenIn(late, 'ttl')]).toEqual([
      ['300', '1800', '3600', '14400', 'longest', 'other'],
      'longest',
    ]);
    expect(late).toContain(words('lifetime.longest', { left: '12 hours' }));
  });

  it('counts from now on, and the secret opens until then and no longer (P8)', async () => {
    for (const late of [0, 1]) {
      const { app, receiptPath, secretPath, post, page } = await createDesk();
      app.clock.advance(hour);
      const { status, headers } = await post({ ttl: String(3 * day) });
      expect([status, headers.get('location')]).toEqual([303, `${receiptPath}#lifetime`]);
      expect(await page()).toContain('>3 days</time>');
      app.clock.advance(3 * day - 1 + late);
      expect((await postForm(app, secretPath)).status).toBe(late === 0 ? 200 : 404);
    }
  });

  it('can be typed in any unit, made shorter and longer again, and be the longest possible', async () => {
    const { app, post, left } = await createDesk();
    app.clock.advance(hour);
    for (const [ttl, amount, unit, granted] of [
      ['other', '90', 'minutes', 5_400],
      ['other', ' 2 ', 'days', 2 * day],
      ['300', '9', 'days', 300],
      ['longest', '', '', 7 * day - hour],
    ] as const) {
      expect((await post({ ttl, 'ttl-amount': amount, 'ttl-unit': unit })).status).toBe(303);
      expect(await left()).toBe(granted);
    }
  });

  it('is what is possible when the longest arrives later than it was offered', async () => {
    const { app, page, post, left } = await createDesk();
    await page();
    app.clock.advance(day - 1);
    expect((await post({ ttl: 'longest' })).status).toBe(303);
    expect(await left()).toBe(6 * day + 1);
  });

  it('comes back as typed, with what is allowed, when it is no number or not allowed', async () => {
    const { app, post, left } = await createDesk();
    app.clock.advance(hour);
    const bounds = { min: '1 minute', max: '6 days, 23 hours' };
    for (const [amount, unit, message] of [
      ['a while', 'hours', words('share.ttlNumber')],
      ['', 'days', words('share.ttlNumber')],
      ['0', 'days', words('share.ttlOutOfRange', bounds)],
      ['59', 'seconds', words('share.ttlOutOfRange', bounds)],
      ['7', 'days', words('share.ttlOutOfRange', bounds)],
    ] as const) {
      const { status, html } = await post({ ttl: 'other', 'ttl-amount': amount, 'ttl-unit': unit });
      expect([
        status,
        chosenIn(html, 'ttl'),
        valueIn(html, 'ttl-amount'),
        chosenIn(html, 'ttl-unit'),
      ]).toEqual([422, 'other', amount, unit]);
      expect(formIn(html)).toMatch(isOpen);
      expect(formIn(html)).toContain(`<p class="wrong" id="ttl-amount-wrong">${message}</p>`);
      expect(await left()).toBe(day - hour);
    }
  });

  it('is refused when a choice has become too long meanwhile, and shown as what it would have been typed as', async () => {
    const { app, post, left } = await createDesk();
    await post({ ttl: 'longest' });
    app.clock.advance(5 * day);
    const { status, html } = await post({ ttl: String(3 * day) });
    expect([status, valueIn(html, 'ttl-amount'), chosenIn(html, 'ttl-unit')]).toEqual([422, '3', 'days']);
    expect(html).toContain(words('share.ttlOutOfRange', { min: '1 minute', max: '2 days' }));
    expect(await left()).toBe(2 * day);
  });

  it('may be shorter than the plan’s shortest where the latest expiry is nearer than that', async () => {
    const { app, page, post, left } = await createDesk();
    await post({ ttl: 'longest' });
    app.clock.advance(7 * day - 40);
    const html = await page();
    expect([choicesIn(html).slice(0, 2), chosenIn(html, 'ttl')]).toEqual([['longest', 'other'], 'longest']);
    expect((await post({ ttl: 'other', 'ttl-amount': '30', 'ttl-unit': 'seconds' })).status).toBe(422);
    expect((await post({ ttl: 'longest' })).status).toBe(303);
    expect(await left()).toBe(40);
  });

  it('reaches as far as the plan of the account that made the secret', async () => {
    const app = createTestApp();
    const { cookie, signedIn } = await signUpAs(app, 'alice@example.com');
    const post = (path: string, fields: Readonly<Record<string, string>>) =>
      postForm(app, path, { 'form-token': signedIn.formToken, ...fields }, { cookie });
    const receiptPath = (await post('/share', { secret: 'x', ttl: '3600' })).headers.get('location') ?? '';
    expect(choicesIn((await visit(app, receiptPath, { headers: { cookie } })).html)).toContain('604800');
    expect((await post(`${receiptPath}/lifetime`, { ttl: 'longest' })).status).toBe(303);
    expect(await leftOf(app, { receiptPath })).toBe(14 * day);
  });

  it('is offered no more once the secret is gone; who still asks sees what became of it (P6)', async () => {
    const endings = {
      received: ({ app, secretPath }) => postForm(app, secretPath),
      burned: ({ app, receiptPath }) => postForm(app, `${receiptPath}/burn`),
      expired: ({ app }) => app.clock.advance(day),
    } satisfies Record<string, (desk: Shared & { readonly app: TestApp }) => unknown>;
    for (const [state, end] of Object.entries(endings)) {
      const desk = await createDesk();
      await end(desk);
      const { status, headers } = await desk.post({ ttl: String(3 * day) });
      expect([state, status, headers.get('location')?.split('#')[0]]).toEqual([state, 303, desk.receiptPath]);
      const html = await desk.page();
      expect(formIn(html)).toBe('');
      expect(html).toContain(words(`receipt.${state as keyof typeof endings}Title`));
    }
  });

  it('is not offered for a secret whose lifetime cannot be changed, which still says its expiry', async () => {
    const { app, page, post, left } = await createDesk({
      wrapService: (service) => ({
        ...service,
        async findReceipt(...args) {
          const found = await service.findReceipt(...args);
          if (found.outcome === 'unknown') return found;
          return { ...found, receipt: { ...found.receipt, longestTtlSeconds: null } };
        },
      }),
    });
    app.clock.advance(hour);
    const html = await page();
    expect([formIn(html), html.includes('>23 hours</time>')]).toEqual(['', true]);
    expect((await post({ ttl: '3600' })).status).toBe(303);
    expect(await left()).toBe(day - hour);
  });

  it('comes back as chosen when it cannot be changed just now', async () => {
    const failing = () => Promise.reject(new ServiceError('unavailable', 'a seeded fault'));
    const { post, left } = await createDesk({
      wrapStore: (store) => withMethod(store, 'setExpiry', failing),
    });
    const { status, html } = await post({ ttl: '1800' });
    expect([status, chosenIn(html, 'ttl')]).toEqual([503, '1800']);
    expect(formIn(html)).toMatch(/^<details[^>]* open="".*role="alert"/s);
    expect(await left()).toBe(day);
  });

  it('changes for no other site, no GET and no key that opens nothing', async () => {
    const { app, receiptPath, post, left } = await createDesk();
    expect((await post({ ttl: '300' }, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    const looked = await visit(app, `${receiptPath}/lifetime?ttl=300`);
    expect([looked.status, looked.headers.get('location')]).toEqual([303, receiptPath]);
    expect((await postForm(app, `/receipt/${'z'.repeat(31)}/lifetime`, { ttl: '300' })).status).toBe(404);
    expect(await left()).toBe(day);
  });
});
