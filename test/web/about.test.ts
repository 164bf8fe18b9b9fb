/** The pages around the service, and what a refusal looks like. */
import { describe, expect, it } from 'bun:test';
import { builtInRateLimits } from '../../src/config/json-files.ts';
import { ServiceError } from '../../src/core/errors.ts';
import { wordsIn } from '../../src/web/kit/language.ts';
import { createTestApp } from '../support/app.ts';
import { postForm, type Visit, visit } from './visit.ts';
import { words } from './words.ts';

/** What is wrong with a page's outline. */
function flawsOf(html: string): string[] {
  const levels = [...html.matchAll(/<h([1-6])[ >]/g)].map(([, level]) => Number(level));
  const rules: Readonly<Record<string, boolean>> = {
    'one heading of the first level': levels.filter((level) => level === 1).length === 1 && levels[0] === 1,
    'no level left out': levels.every((level, at) => level <= (levels[at - 1] ?? 0) + 1),
    'one of each landmark': ['header', 'main', 'footer'].every((name) => html.split(`<${name}`).length === 2),
    'a language and a direction': /^<!doctype html><html lang="[A-Za-z-]+" dir="(?:ltr|rtl)">/.test(html),
    'a title that ends with the brand': /<title>[^<]+ · Mayfly<\/title>/.test(html),
    'ids that occur once': new Set(idsIn(html)).size === idsIn(html).length,
    'every word known': !/\{[a-zA-Z]+\}|undefined|\[object/.test(html.replace(/<code>.*?<\/code>/gs, '')),
  };
  return Object.entries(rules).flatMap(([rule, holds]) => (holds ? [] : [rule]));
}

function idsIn(html: string): string[] {
  return [...html.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id);
}

/** The links that an error page offers. */
function waysOf({ html }: Visit): string[] {
  const main = html.slice(html.indexOf('<main'), html.indexOf('</main>'));
  return [...main.matchAll(/<a [^>]*href="([^"]*)"/g)].map(([, href = '']) => href);
}

describe('the pages around the service', () => {
  for (const path of ['/about', '/security', '/status', '/api/docs']) {
    it(`${path} has an outline that a screen reader can follow`, async () => {
      const { status, html } = await visit(createTestApp(), path);
      expect([status, flawsOf(html)]).toEqual([200, []]);
    });
  }

  it('self-test: a second title, a skipped level, a lost landmark and an id given twice are found', async () => {
    const { html } = await visit(createTestApp(), '/about');
    const seeded = html
      .replace('<h2>', '<h1>x</h1><h3>')
      .replace('<footer', '<div')
      .replace('id="main"', 'id="main" id="main"')
      .replace(' · Mayfly', '');
    expect(flawsOf(seeded)).toEqual([
      'one heading of the first level',
      'no level left out',
      'one of each landmark',
      'a title that ends with the brand',
      'ids that occur once',
    ]);
  });

  it('show how it works in a picture with a title and a description, which stand in the words of the page', async () => {
    const { html } = await visit(createTestApp(), '/about');
    expect(html).toContain('role="img" aria-labelledby="picture-title picture-text"');
    const { say } = wordsIn('en');
    expect(html).toContain(`<title id="picture-title">${say('about.picture')}</title>`);
    expect(html).toContain(`<desc id="picture-text">${say('about.pictureText')}</desc>`);
  });

  it('keep the places on /security that other pages link to', async () => {
    const { html } = await visit(createTestApp(), '/security');
    expect(idsIn(html)).toEqual(
      expect.arrayContaining(['end-to-end', 'once', 'private', 'looking', 'at-rest']),
    );
  });

  it('are linked from the foot of every page, with the API and the status', async () => {
    const app = createTestApp({ baseUrl: 'https://example.com/drop' });
    const { html } = await visit(app, '/drop/nope');
    const foot = html.slice(html.indexOf('<footer'));
    for (const path of ['/drop/about', '/drop/security', '/drop/api/docs', '/drop/status'])
      expect(foot).toContain(`href="${path}"`);
  });
});

describe('the status', () => {
  it('says 200 and the version while the store answers', async () => {
    const { status, html } = await visit(createTestApp(), '/status');
    expect(status).toBe(200);
    for (const text of [words('status.works'), '0.1.0', 'UTC']) expect(html).toContain(text);
  });

  it('says 503 in the same face when the store does not answer or cannot be asked', async () => {
    const failures = [
      () => false,
      async () => false,
      () => {
        throw new ServiceError('unavailable', 'the store is away');
      },
      () => Promise.reject(new Error('canary')),
    ];
    for (const isReady of failures) {
      const { status, html } = await visit(createTestApp({ isReady }), '/status');
      expect([status, flawsOf(html)]).toEqual([503, []]);
      expect(html).toContain(words('status.fails'));
      expect(html).not.toContain('canary');
    }
  });
});

describe('a refusal', () => {
  it('has the face of every page and a way on that helps', async () => {
    const app = createTestApp();
    const crossSite = { 'sec-fetch-site': 'cross-site' };
    const cases: readonly [number, Visit, string[]][] = [
      [404, await visit(app, '/nope'), ['/', '/about']],
      [405, await visit(app, '/about', { method: 'DELETE' }), ['/']],
      [403, await postForm(app, '/language', {}, crossSite), ['/']],
      [403, await postForm(app, '/language', { 'form-token': 'x' }), ['/log-in', '/']],
    ];
    for (const [status, answer, ways] of cases) {
      expect([answer.status, waysOf(answer), flawsOf(answer.html)]).toEqual([status, ways, []]);
    }
  });

  it('offers to try again where that is a visit, and never repeats what was sent', async () => {
    const manage = {
      anonymous: { limit: 1, windowSeconds: 600, burst: 1 },
      account: builtInRateLimits.manage.account,
    };
    const app = createTestApp({ rateLimits: { ...builtInRateLimits, manage } });
    await visit(app, '/receipt/x/burn');
    const limited = await visit(app, '/receipt/x/burn?lang=en');
    expect([limited.status, waysOf(limited)]).toEqual([429, ['/receipt/x/burn', '/']]);
    const sent = await postForm(app, '/receipt/x/burn', { canary: 'canary' });
    expect([sent.status, waysOf(sent), sent.html.includes('canary')]).toEqual([429, ['/'], false]);
  });

  it('for a fault of ours tells its number and nothing else, and leads to the status', async () => {
    const app = createTestApp({
      wrapService: (service) => ({ ...service, findReceipt: () => Promise.reject(new Error('canary')) }),
    });
    const broken = await visit(app, '/receipt/x');
    expect([broken.status, waysOf(broken)]).toEqual([500, ['/receipt/x', '/', '/status']]);
    expect(broken.html).toContain(broken.headers.get('x-request-id') ?? 'no id');
    expect(broken.html).not.toContain('canary');
    expect(app.faults).toHaveLength(1);
  });
});
