/** What all pages share: headers, methods, forms from other sites, the base path, small files. */
import { describe, expect, it } from 'bun:test';
import { builtInRateLimits } from '../../src/config/json-files.ts';
import { createLinks } from '../../src/core/links.ts';
import { createHref, type RouteName, routes } from '../../src/web/kit/routes.ts';
import { createTestApp } from '../support/app.ts';
import { makeSealed } from './sealed-link.ts';
import { postForm, share, type Visit, visit } from './visit.ts';

/** @param more rules of pages that seal or open end-to-end secrets */
const policyWith = (more: { readonly worker?: true; readonly pictures?: true } = {}) =>
  [
    "default-src 'none'",
    "style-src 'self'",
    "script-src 'self'",
    "connect-src 'self'",
    `img-src 'self'${more.pictures ? ' blob:' : ''}`,
    "font-src 'self'",
    "manifest-src 'self'",
    ...(more.worker ? ["worker-src 'self'"] : []),
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    `trusted-types ${more.worker ? 'mayfly-worker' : "'none'"}`,
  ].join('; ');

const pagePolicy = policyWith();
const sealing = policyWith({ worker: true });
const opening = policyWith({ worker: true, pictures: true });
/** By the names of the answers. */
const policies: Readonly<Record<string, string>> = {
  ...{ home: sealing, head: sealing, refused: sealing },
  ...{ sealed: opening, again: opening },
};

const filePolicy = "default-src 'none'; frame-ancestors 'none'; sandbox";

/** Every kind of answer. */
async function everyAnswer(): Promise<Record<string, Visit>> {
  const app = createTestApp();
  const { receiptPath, secretPath } = await share(app, { secret: 'x', passphrase: 'p' });
  return {
    home: await visit(app, '/'),
    refused: await postForm(app, '/share', { secret: '' }),
    created: await postForm(app, '/share', { secret: 'x' }),
    receipt: await visit(app, receiptPath),
    shown: await postForm(app, receiptPath),
    burn: await visit(app, `${receiptPath}/burn`),
    sealed: await visit(app, (await makeSealed(app, 'x')).path),
    again: await visit(app, `${secretPath}/again`),
    done: await visit(app, `${secretPath}/done`),
    asked: await visit(app, secretPath),
    wrong: await postForm(app, secretPath, { passphrase: 'q' }),
    revealed: await postForm(app, secretPath, { passphrase: 'p' }),
    gone: await visit(app, secretPath),
    moved: await visit(app, '/private/x'),
    unknown: await visit(app, '/no/such/page'),
    method: await visit(app, '/', { method: 'DELETE' }),
    options: await visit(app, '/', { method: 'OPTIONS' }),
    head: await visit(app, '/', { method: 'HEAD' }),
    crossSite: await postForm(app, '/share', { secret: 'x' }, { 'sec-fetch-site': 'cross-site' }),
    large: await postForm(app, '/share', { secret: 'x'.repeat(1_100_000) }),
    ask: await visit(app, '/ask'),
    request: await visit(app, `/ask/${'k'.repeat(31)}`),
    answers: await visit(app, `/answers/${'k'.repeat(31)}`),
    about: await visit(app, '/about'),
    api: await visit(app, '/api/docs'),
    security: await visit(app, '/security'),
    status: await visit(app, '/status'),
    logIn: await visit(app, '/log-in'),
    icon: await visit(app, '/icon.svg'),
    favicon: await visit(app, '/favicon.ico'),
    robots: await visit(app, '/robots.txt'),
  };
}

/** Answers that may be cached: they are the same for everyone and name nobody. */
const keptForADay: readonly string[] = ['icon', 'favicon'];

/** What is wrong with an answer's headers and content. */
function flawsOf({ headers, html }: Visit, name = ''): string[] {
  const policy = headers.get('content-security-policy') ?? '';
  const isPage = headers.get('content-type')?.startsWith('text/html') === true;
  const uncached = isPage ? 'no-store, no-transform' : 'no-store';
  const caching = keptForADay.includes(name) ? 'public, max-age=86400' : uncached;
  const rules: Readonly<Record<string, boolean>> = {
    'not cached': headers.get('cache-control') === caching,
    'not sniffed': headers.get('x-content-type-options') === 'nosniff',
    'not referred': headers.get('referrer-policy') === 'no-referrer',
    'not indexed': headers.get('x-robots-tag') === 'noindex, nofollow, noarchive',
    'a request id': /^[0-9a-f]{20}$/.test(headers.get('x-request-id') ?? ''),
    'nothing by default': policy.startsWith("default-src 'none'; "),
    'no looser rule': !/unsafe|https?:|\*|data:|blob:/.test(policy.replace("img-src 'self' blob:", '')),
    'nobody frames it': policy.includes("frame-ancestors 'none'"),
    'closed as a page or as a file': policy === (isPage ? (policies[name] ?? pagePolicy) : filePolicy),
    'no script without integrity':
      headers.get('integrity-policy') === (isPage ? 'blocked-destinations=(script)' : null),
    'no inline script, style or handler':
      !/<script(?![^>]* src=)|<style|\sstyle=|\son[a-z]+=|javascript:/i.test(html),
    'scripts with their integrity':
      !/<script(?! type="module" src="\/assets\/[^"]+" integrity="sha256-)/.test(html),
    'nothing from elsewhere':
      !/(?:src|srcset|data|poster)="(?!\/assets\/|\/logo\/)|@import|url\(|href="(?:https?:)?\/\//i.test(html),
  };
  return Object.entries(rules).flatMap(([rule, holds]) => (holds ? [] : [rule]));
}

describe('every answer', () => {
  it('has the common headers, a policy that fits it, no inline script and nothing from elsewhere (P19)', async () => {
    const answers = Object.entries(await everyAnswer());
    expect(answers.map(([name, answer]) => [name, flawsOf(answer, name)])).toEqual(
      answers.map(([name]) => [name, []]),
    );
  });

  it('self-test: a cached page with a looser policy, a style, a script and a picture from elsewhere is caught', async () => {
    const { home } = await everyAnswer();
    if (home === undefined) throw new Error('there is no home');
    const headers = new Headers(home.headers);
    headers.set('cache-control', 'private, no-cache');
    headers.delete('integrity-policy');
    headers.set(
      'content-security-policy',
      pagePolicy.replace("script-src 'self'", "script-src 'unsafe-inline'"),
    );
    const html = home.html.replace(
      '</head>',
      '<style>a{}</style><script>1</script></head><img src="https://cdn.example/x.png">',
    );
    expect(flawsOf({ ...home, headers, html })).toEqual([
      'not cached',
      'no looser rule',
      'closed as a page or as a file',
      'no script without integrity',
      'no inline script, style or handler',
      'scripts with their integrity',
      'nothing from elsewhere',
    ]);
  });

  it('has the status that its page says', async () => {
    const statuses = Object.entries(await everyAnswer()).map(([name, { status }]) => `${name} ${status}`);
    expect(statuses).toEqual([
      'home 200',
      'refused 400',
      'created 303',
      'receipt 200',
      'shown 200',
      'burn 200',
      'sealed 200',
      'again 200',
      'done 200',
      'asked 200',
      'wrong 422',
      'revealed 200',
      'gone 404',
      'moved 308',
      'unknown 404',
      'method 405',
      'options 204',
      'head 200',
      'crossSite 403',
      'large 413',
      'ask 200',
      'request 200',
      'answers 200',
      'about 200',
      'api 200',
      'security 200',
      'status 200',
      'logIn 200',
      'icon 200',
      'favicon 204',
      'robots 200',
    ]);
  });

  it('is light: a page weighs less than 17 kB without the picture of a QR code, and 7 kB compressed with it', async () => {
    const { api: _, ...pages } = await everyAnswer();
    for (const [name, { html }] of Object.entries(pages)) {
      const text = html.replace(/<svg id="qr"[\s\S]*?<\/svg>/, '');
      const isLight = text.length < 17_000 && Bun.gzipSync(Buffer.from(html)).length < 7_000;
      expect({ name, isLight }).toEqual({ name, isLight: true });
    }
  });

  it('reports its operation, status and id and no path (P18)', async () => {
    const app = createTestApp();
    const { secretPath } = await share(app, { secret: 'x' });
    await visit(app, secretPath);
    expect(app.answers.map(({ operation, status }) => `${operation} ${status}`)).toEqual([
      'web.share 303',
      'web.receipt 200',
      'web.secret 200',
    ]);
    expect(JSON.stringify(app.answers)).not.toContain(secretPath.slice('/secret/'.length));
  });
});

describe('methods', () => {
  it('are told by Allow, in a 405 and in the answer to OPTIONS', async () => {
    const app = createTestApp();
    const allowed: Readonly<Record<string, string>> = {
      '/about': 'GET, HEAD, OPTIONS',
      '/language': 'GET, HEAD, POST, OPTIONS',
      '/': 'GET, HEAD, OPTIONS',
      '/share': 'GET, HEAD, POST, OPTIONS',
      '/receipt/x': 'GET, HEAD, POST, OPTIONS',
      '/receipt/x/burn': 'GET, HEAD, POST, OPTIONS',
      '/private/x': 'GET, HEAD, OPTIONS',
      '/secret/x': 'GET, HEAD, POST, OPTIONS',
      '/robots.txt': 'GET, HEAD, OPTIONS',
    };
    for (const [path, allow] of Object.entries(allowed)) {
      const refused = await visit(app, path, { method: 'PUT' });
      const asked = await visit(app, path, { method: 'OPTIONS' });
      expect([path, refused.status, refused.headers.get('allow')]).toEqual([path, 405, allow]);
      expect([path, asked.status, asked.headers.get('allow')]).toEqual([path, 204, allow]);
    }
  });

  it('HEAD answers as GET without a body', async () => {
    const app = createTestApp();
    const { receiptPath, secretPath } = await share(app, { secret: 'x' });
    const paths = [
      '/',
      receiptPath,
      secretPath,
      '/secret/gone',
      '/about',
      '/status',
      '/robots.txt',
      '/icon.svg',
      '/sdk/mayfly.js',
    ];
    for (const path of paths) {
      const get = await visit(app, path);
      const head = await visit(app, path, { method: 'HEAD' });
      expect([path, head.status, head.html]).toEqual([path, get.status, '']);
      expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'));
    }
  });
});

describe('a form of another site', () => {
  const cases: readonly [Record<string, string>, number][] = [
    [{ 'sec-fetch-site': 'same-origin' }, 303],
    [{ 'sec-fetch-site': 'none' }, 303],
    [{ 'sec-fetch-site': 'same-site' }, 403],
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ 'sec-fetch-site': 'cross-site', origin: 'https://mayfly.example' }, 403],
    [{ 'sec-fetch-site': '' }, 403],
    [{ 'sec-fetch-site': 'same-origin', origin: 'null' }, 303],
    [{ origin: 'https://mayfly.example' }, 303],
    [{ origin: 'https://share.example', host: 'share.example' }, 303],
    [{ origin: 'null' }, 303],
    [{ origin: 'https://evil.example' }, 403],
    [{ origin: 'https://mayfly.example.evil.example', host: 'mayfly.example' }, 403],
    [{ origin: 'garbage' }, 403],
    [{}, 303],
  ];
  for (const [headers, status] of cases) {
    it(`is told by ${JSON.stringify(headers)}: ${status}`, async () => {
      const app = createTestApp();
      expect((await postForm(app, '/share', { secret: 'x' }, headers)).status).toBe(status);
      expect(app.events).toHaveLength(status === 303 ? 1 : 0);
    });
  }

  it('costs its visitor nothing of the allowance', async () => {
    const create = {
      anonymous: { limit: 1, windowSeconds: 600, burst: 1 },
      account: builtInRateLimits.create.account,
    };
    const app = createTestApp({ rateLimits: { ...builtInRateLimits, create } });
    for (let at = 0; at < 3; at += 1)
      await postForm(app, '/share', { secret: 'x' }, { 'sec-fetch-site': 'cross-site' });
    expect((await postForm(app, '/share', { secret: 'x' })).status).toBe(303);
  });
});

describe('rate limits', () => {
  it('answer 429 with Retry-After on the pages of secrets and receipts, and spare the start page', async () => {
    const manage = {
      anonymous: { limit: 1, windowSeconds: 600, burst: 2 },
      account: builtInRateLimits.manage.account,
    };
    const app = createTestApp({ rateLimits: { ...builtInRateLimits, manage } });
    const paths = ['/secret/x', '/receipt/x', '/secret/x', '/receipt/x/burn', '/', '/robots.txt'];
    const statuses: number[] = [];
    for (const path of paths) statuses.push((await visit(app, path)).status);
    expect(statuses).toEqual([404, 404, 429, 429, 200, 200]);
    expect(Number((await visit(app, '/secret/x')).headers.get('retry-after'))).toBeGreaterThan(0);
  });
});

describe('addresses', () => {
  it('lie below the path of the base URL, links, forms, redirects and cookies too', async () => {
    const app = createTestApp({ baseUrl: 'https://example.com/drop' });
    const home = await visit(app, '/drop/');
    expect([home.status, home.html.includes('action="/drop/share"')]).toEqual([200, true]);
    const created = await postForm(app, '/drop/share', { secret: 'x' });
    const location = created.headers.get('location') ?? '';
    expect(location).toStartWith('/drop/receipt/');
    expect(created.headers.get('set-cookie')).toContain(`Path=${location};`);
    const shown = await postForm(app, location);
    expect(shown.html).toContain('https://example.com/drop/secret/');
    expect((await visit(app, '/drop/robots.txt')).html).toContain('Disallow: /drop/secret/');
    expect((await visit(app, '/drop/sdk/mayfly.js')).status).toBe(200);
  });

  it('agree with the links that the service gives', () => {
    const links = createLinks('https://example.com/drop');
    const href = createHref('/drop');
    const key = 'a'.repeat(31);
    expect(links.secretUrl(key as Parameters<typeof links.secretUrl>[0], '')).toBe(
      `https://example.com${href('secret', key)}`,
    );
    expect(links.receiptUrl(key as Parameters<typeof links.receiptUrl>[0])).toBe(
      `https://example.com${href('receipt', key)}`,
    );
  });

  it('are each served', async () => {
    const app = createTestApp();
    for (const name of Object.keys(routes) as RouteName[]) {
      expect([name, (await visit(app, createHref('')(name, 'x'), { method: 'OPTIONS' })).status]).toEqual([
        name,
        204,
      ]);
    }
  });

  it('robots are kept from every address that holds a key', async () => {
    const { html } = await visit(createTestApp(), '/robots.txt');
    for (const path of ['/secret/', '/receipt/', '/private/', '/sign-up/', '/reset/', '/account', '/api/'])
      expect(html).toContain(`Disallow: ${path}\n`);
  });

  it('below /api answer JSON, all others a page', async () => {
    const app = createTestApp();
    expect((await visit(app, '/api/nope')).headers.get('content-type')).toStartWith('application/json');
    expect((await visit(app, '/nope')).headers.get('content-type')).toStartWith('text/html');
  });
});
