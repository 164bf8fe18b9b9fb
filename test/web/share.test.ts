/** The home page: sharing, and every way it can be refused. */
import { describe, expect, it } from 'bun:test';
import { builtInRateLimits } from '../../src/config/json-files.ts';
import { ServiceError } from '../../src/core/errors.ts';
import { builtInPlans } from '../../src/core/plans.ts';
import { createTestApp } from '../support/app.ts';
import { signUpAs } from './signed-in.ts';
import { withMethod } from './store-method.ts';
import { chosenIn, postForm, share, textIn, valueIn, visit } from './visit.ts';
import { makeWaiting } from './waiting.ts';
import { words } from './words.ts';

const odd = 'a "quoted" <b>line</b> & more\n\n\tünï😀\n</textarea><script>1</script>';

describe('sharing', () => {
  it('answers 303 to the receipt, which shows the link once to the browser that made it', async () => {
    const app = createTestApp();
    const created = await postForm(app, '/share', { secret: 'one', passphrase: '', ttl: '3600' });
    const location = created.headers.get('location') ?? '';
    expect(created.status).toBe(303);
    expect(location).toMatch(/^\/receipt\/[0-9a-z]{31}$/);
    expect(created.headers.getSetCookie()[0]).toBe(
      `just-created=1; Path=${location}; Max-Age=60; HttpOnly; SameSite=Lax; Secure`,
    );
    const first = await visit(app, location, { headers: { cookie: 'x=y; just-created=1' } });
    expect(textIn(first.html, 'link')).toMatch(/^https:\/\/mayfly\.example\/secret\/[0-9a-z]{31}$/);
    expect(first.headers.get('set-cookie')).toContain(`just-created=; Path=${location}; Max-Age=0;`);
    const second = await visit(app, location);
    expect(textIn(second.html, 'link')).toBeNull();
    expect(second.html).toContain(words('receipt.show'));
  });

  it('answers a script with 201, the receipt’s address and the link, because it would follow a redirect and use the link up', async () => {
    const app = createTestApp();
    const created = await postForm(app, '/share', { secret: 'one', passphrase: 'canary', 'by-script': '1' });
    const location = created.headers.get('location') ?? '';
    expect(created.status).toBe(201);
    expect(created.html).toMatch(
      /^<!doctype html><p id="link">https:\/\/mayfly\.example\/secret\/[0-9a-z]{31}<\/p>$/,
    );
    expect(location).toMatch(/^\/receipt\/[0-9a-z]{31}$/);
    expect(created.headers.get('set-cookie')).toContain(`just-created=1; Path=${location};`);
    expect(created.headers.get('cache-control')).toBe('no-store, no-transform');
  });

  it('sets no Secure mark where the site has no https', async () => {
    const app = createTestApp({ baseUrl: 'http://localhost:3000' });
    const created = await postForm(app, '/share', { secret: 'one', passphrase: '', ttl: '3600' });
    expect(created.headers.get('set-cookie')).not.toContain('Secure');
  });

  it('puts no value, passphrase or secret key into an address or a cookie (P18)', async () => {
    const app = createTestApp();
    const created = await postForm(app, '/share', {
      secret: 'canary-value',
      passphrase: 'canary-pass',
      ttl: '3600',
    });
    const said = JSON.stringify([...created.headers]) + created.html;
    expect(said).not.toContain('canary');
    const key = created.headers.get('location')?.slice('/receipt/'.length) ?? '';
    const found = await app.service.findReceipt(
      { metadataKey: key, authority: 'holder' },
      { kind: 'anonymous' },
    );
    const secretKey = found.outcome === 'found' ? found.receipt.secretKey : null;
    expect(secretKey).toMatch(/^[0-9a-z]{31}$/);
    expect(said).not.toContain(String(secretKey));
  });

  it('keeps what was typed exactly: line breaks, leading ones too, blanks, markup and marks', async () => {
    for (const secret of [
      odd,
      '\n\n leading',
      'trailing \n\n',
      ' ',
      '\t',
      'a+b&c=d%20',
      '\u0001\u007f',
      '\ufeffbom',
    ]) {
      const app = createTestApp();
      const { secretPath } = await share(app, { secret });
      const revealed = await postForm(app, secretPath);
      expect(textIn(revealed.html, 'value')).toBe(secret);
    }
  });

  it('offers lifetimes within the plan, its default chosen', async () => {
    const plans = {
      anonymous: {
        ...builtInPlans.anonymous,
        ttlMinSeconds: 3_600,
        ttlDefaultSeconds: 7_200,
        ttlMaxSeconds: 100_000,
      },
    };
    const { html } = await visit(createTestApp({ plans }), '/');
    const offered = [...html.matchAll(/<option value="(\d+)"( selected="")?>([^<]*)/g)].map((found) =>
      found.slice(1),
    );
    expect(html).toContain(words('share.ttlBounds', { min: '1 hour', max: '1 day, 3 hours' }));
    expect(offered.map(([seconds]) => Number(seconds))).toEqual([
      3_600, 7_200, 14_400, 43_200, 86_400, 100_000,
    ]);
    expect(offered.filter(([, chosen]) => chosen !== undefined).map(([seconds]) => seconds)).toEqual([
      '7200',
    ]);
  });

  it('grants a lifetime that was typed, in any unit', async () => {
    for (const [amount, unit, seconds] of [
      ['90', 'minutes', 5_400],
      [' 36 ', 'hours', 129_600],
      ['7', 'days', 604_800],
    ] as const) {
      const app = createTestApp();
      const { receiptPath } = await share(app, {
        secret: 'x',
        ttl: 'other',
        'ttl-amount': amount,
        'ttl-unit': unit,
      });
      const found = await app.service.findReceipt(
        { metadataKey: receiptPath.slice('/receipt/'.length), authority: 'holder' },
        { kind: 'anonymous' },
      );
      expect(found).toMatchObject({ receipt: { ttlSeconds: seconds } });
    }
  });

  it('does not look at a typed lifetime that is not chosen', async () => {
    const { status } = await postForm(createTestApp(), '/share', {
      secret: 'x',
      ttl: '3600',
      'ttl-amount': 'soon',
    });
    expect(status).toBe(303);
  });

  it('grants the lifetime that was chosen', async () => {
    const app = createTestApp();
    const { receiptPath } = await share(app, { secret: 'x', ttl: '3600' });
    const found = await app.service.findReceipt(
      { metadataKey: receiptPath.slice('/receipt/'.length), authority: 'holder' },
      { kind: 'anonymous' },
    );
    expect(found).toMatchObject({ receipt: { ttlSeconds: 3_600 } });
  });

  it('sends whoever types the address of the form’s target to the form', async () => {
    const { status, headers } = await visit(createTestApp(), '/share');
    expect([status, headers.get('location')]).toEqual([303, '/']);
  });
});

describe('a refused form', () => {
  const tooLong = 'x'.repeat(10_001);
  const cases = [
    { what: 'nothing to share', fields: { secret: '' }, status: 400, field: 'secret' },
    { what: 'a value over the plan’s size', fields: { secret: tooLong }, status: 413, field: 'secret' },
    {
      what: 'a value over it in bytes only',
      fields: { secret: 'ü'.repeat(5_001) },
      status: 413,
      field: 'secret',
    },
    {
      what: 'a passphrase over 1,024 bytes',
      fields: { secret: odd, passphrase: 'p'.repeat(1_025) },
      status: 422,
      field: 'passphrase',
    },
    {
      what: 'a lifetime outside the plan',
      fields: { secret: odd, ttl: '1209600' },
      status: 422,
      field: 'ttl-amount',
    },
    {
      what: 'a lifetime that is no number',
      fields: { secret: odd, ttl: '1e3' },
      status: 422,
      field: 'ttl-amount',
    },
    {
      what: 'a free lifetime outside the plan',
      fields: { secret: odd, ttl: 'other', 'ttl-amount': '30', 'ttl-unit': 'days' },
      status: 422,
      field: 'ttl-amount',
    },
    {
      what: 'a free lifetime that is no whole number',
      fields: { secret: odd, ttl: 'other', 'ttl-amount': '1.5', 'ttl-unit': 'days' },
      status: 422,
      field: 'ttl-amount',
    },
    {
      what: 'a recipient without an account',
      fields: { secret: odd, recipient: 'joanna@example.org' },
      status: 403,
      field: 'recipient',
    },
  ] as const;
  for (const { what, fields, status, field } of cases) {
    it(`for ${what} comes back with ${status}, everything typed in it and the field marked`, async () => {
      const app = createTestApp();
      const typed: Readonly<Record<string, string>> = { passphrase: 'pa"ss', ttl: '3600', ...fields };
      const refused = await postForm(app, '/share', typed);
      expect(refused.status).toBe(status);
      expect(textIn(refused.html, 'secret')).toBe(typed.secret ?? '');
      expect(valueIn(refused.html, 'passphrase')).toBe(typed.passphrase ?? '');
      for (const name of ['recipient', 'ttl-amount']) {
        if (typed[name] !== undefined) expect(valueIn(refused.html, name)).toBe(typed[name]);
      }
      expect(refused.html).toContain(`<a href="#${field}">`);
      expect(refused.html).toMatch(
        new RegExp(`id="${field}"[^>]*aria-describedby="${field}-wrong[^>]*aria-invalid="true"`),
      );
      expect(refused.html.match(/aria-invalid="true"/g)).toHaveLength(1);
      expect(refused.html).toContain(`id="${field}-wrong"`);
      expect(refused.headers.get('set-cookie')).toBeNull();
      expect(app.events.filter(({ event }) => event === 'concealed')).toEqual([]);
    });
  }

  it('shows a choice that this plan does not offer as what it would have been typed as', async () => {
    const { html } = await postForm(createTestApp(), '/share', { secret: 'x', ttl: '1209600' });
    expect([chosenIn(html, 'ttl'), valueIn(html, 'ttl-amount'), chosenIn(html, 'ttl-unit')]).toEqual([
      'other',
      '14',
      'days',
    ]);
  });

  it('keeps the chosen lifetime', async () => {
    const refused = await postForm(createTestApp(), '/share', { secret: '', passphrase: '', ttl: '3600' });
    expect(refused.html).toContain('<option value="3600" selected="">');
  });

  it('over the rate limit comes back with 429, what was typed, and when to try again', async () => {
    const create = {
      anonymous: { limit: 1, windowSeconds: 600, burst: 1 },
      account: builtInRateLimits.create.account,
    };
    const app = createTestApp({ rateLimits: { ...builtInRateLimits, create } });
    expect((await postForm(app, '/share', { secret: 'one' })).status).toBe(303);
    const refused = await postForm(app, '/share', { secret: odd, passphrase: 'p' });
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(refused.headers.get('ratelimit')).toStartWith('"create"');
    expect([textIn(refused.html, 'secret'), valueIn(refused.html, 'passphrase')]).toEqual([odd, 'p']);
    expect((await visit(app, '/')).status).toBe(200);
  });

  for (const code of ['unavailable', 'storage_full', 'busy'] as const) {
    it(`when the store says ${code} comes back with 503 and what was typed`, async () => {
      const app = createTestApp({
        wrapStore: (store) => withMethod(store, 'put', () => Promise.reject(new ServiceError(code, 'down'))),
      });
      const refused = await postForm(app, '/share', { secret: odd, passphrase: '', ttl: '3600' });
      expect(refused.status).toBe(503);
      expect(refused.headers.get('retry-after')).toBe('2');
      expect(textIn(refused.html, 'secret')).toBe(odd);
      expect(app.faults).toEqual([]);
    });
  }

  const malformed = {
    'invalid UTF-8': 'secret=%ff',
    'a truncated sequence': 'secret=%c3',
    'a surrogate': 'secret=%ed%a0%80',
    'a broken escape': 'secret=%zz',
    'a field given twice': 'secret=a&secret=b',
    'raw bytes that are no UTF-8': new Uint8Array([...new TextEncoder().encode('secret='), 0xff]),
  };
  for (const [what, body] of Object.entries(malformed)) {
    it(`with ${what} is refused and nothing is stored`, async () => {
      const app = createTestApp();
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      expect((await visit(app, '/share', { method: 'POST', body, headers })).status).toBe(400);
      expect(app.events).toEqual([]);
    });
  }

  it('of another content type is refused', async () => {
    const headers = { 'content-type': 'application/json' };
    const { status } = await visit(createTestApp(), '/share', {
      method: 'POST',
      body: '{"secret":"x"}',
      headers,
    });
    expect(status).toBe(415);
  });
});

describe('a form that a program sends', () => {
  it('is refused where an & of a value was not encoded, at every page, so that no rest of it is lost', async () => {
    const app = createTestApp();
    const { secretPath, metadataKey } = await makeWaiting(app, { passphrase: 'a&b' });
    const created = app.events.length;
    const receipt = `/receipt/${metadataKey}`;
    for (const [path, field] of [
      ['/share', 'secret'],
      ['/suggest', 'secret'],
      [secretPath, 'open=now&passphrase'],
      [`${secretPath}/burn`, 'passphrase'],
      [`${receipt}/memo`, 'memo'],
      [`${receipt}/lifetime`, 'ttl'],
      [`${receipt}/send-again`, 'recipient'],
      ['/log-in', 'password'],
      ['/sign-up', 'email'],
    ] as const) {
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      const { status } = await visit(app, path, { method: 'POST', body: `${field}=a&b`, headers });
      expect([path, status]).toEqual([path, 400]);
    }
    expect(app.events.length).toBe(created);
  });
});

describe('an installation where only accounts create', () => {
  it('says so plainly instead of showing a form, and links to the log-in', async () => {
    const { status, html } = await visit(createTestApp({ anonymousMayCreate: false }), '/');
    expect([status, html.includes('id="share"'), html.includes(words('share.closedTitle'))]).toEqual([
      200,
      false,
      true,
    ]);
    expect(html).toMatch(/<main.*href="\/log-in".*<\/main>/s);
  });

  it('refuses the form with 403, stores nothing and loses nothing', async () => {
    const app = createTestApp({ anonymousMayCreate: false });
    for (const path of ['/share', '/suggest']) {
      const refused = await postForm(app, path, { secret: odd, passphrase: '', ttl: '3600' });
      expect([refused.status, textIn(refused.html, 'secret')]).toEqual([403, odd]);
    }
    expect(app.events).toEqual([]);
  });

  it('shows the form to whoever is logged in', async () => {
    const app = createTestApp({ anonymousMayCreate: false });
    const { cookie } = await signUpAs(app, 'ann@example.com');
    expect((await visit(app, '/', { headers: { cookie } })).html).toContain('id="share"');
  });
});
