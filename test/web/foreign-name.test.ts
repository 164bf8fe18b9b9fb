/** A browser that comes to an installation being tried out by a name which is not its own: every page says so, and at once. */
import { describe, expect, it } from 'bun:test';
import { refuseForeignHosts } from '../../src/http/cross-site.ts';
import { type RouteName, routes } from '../../src/web/kit/routes.ts';
import { createTestApp } from '../support/app.ts';
import { surfacesOf } from '../v2/documented-app.ts';
import { makeWaiting } from './waiting.ts';
import { words } from './words.ts';

const foreign = 'secrets.corp.test:3000';
const asBrowser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8', host: foreign };

function openTrial(baseUrl = 'http://localhost:3000') {
  const app = createTestApp({ baseUrl });
  const fetch = refuseForeignHosts(app.handler, {
    baseUrl,
    isShareDomain: async (name) => name === 'links.example.com',
  });
  async function ask(path: string, method: string, headers: Readonly<Record<string, string>>) {
    const sent =
      method === 'POST' ? { body: 'secret=x&open=now', origin: `http://${foreign}` } : { body: null };
    const { body, ...more } = sent;
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    const request = new Request(baseUrl + path, { method, body, headers: { ...type, ...more, ...headers } });
    const answer = await fetch(request, {});
    return {
      status: answer.status,
      type: answer.headers.get('content-type') ?? '',
      text: await answer.text(),
    };
  }
  return { app, ask };
}

const pathOf = (name: RouteName, key: string) => routes[name].replace(':key', key);

describe('a browser by a foreign name', () => {
  for (const baseUrl of ['http://localhost:3000', 'http://localhost:3000/mayfly']) {
    it(`gets one page, whatever it opens or sends, and nothing happens: ${baseUrl}`, async () => {
      const { app, ask } = openTrial(baseUrl);
      const { secretKey } = await makeWaiting(app);
      const before = app.events.length;
      for (const name of Object.keys(routes) as RouteName[]) {
        for (const method of ['GET', 'POST']) {
          const { status, type, text } = await ask(pathOf(name, secretKey), method, asBrowser);
          expect([name, method, status, type]).toEqual([name, method, 421, 'text/html; charset=utf-8']);
          expect(text).toContain(words('error.misdirected', { address: baseUrl }));
          expect(text).not.toContain('corp.test');
          expect(text).not.toContain('<form');
        }
      }
      expect(app.events.length).toBe(before);
    });
  }

  it('reads it in its own language, and is led to the right address', async () => {
    const { ask } = openTrial();
    const { text } = await ask('/', 'GET', { ...asBrowser, 'accept-language': 'de' });
    expect(text).toContain('<html lang="de"');
    expect(text).toContain('<a class="button" href="http://localhost:3000">');
  });

  it('still gets JSON of the API, and the files of that page', async () => {
    const { app, ask } = openTrial();
    for (const { base, operations } of surfacesOf(app)) {
      for (const { method, path, name } of operations) {
        if (method === 'GET') continue;
        const { status, type } = await ask(base + path.replaceAll(/:\w+/g, 'x'), 'POST', asBrowser);
        expect([name, status, type]).toEqual([name, 421, 'application/json; charset=utf-8']);
      }
    }
    const { text } = await ask('/', 'GET', asBrowser);
    const [, style = ''] = /<link rel="stylesheet" href="([^"]+)"/.exec(text) ?? [];
    expect((await ask(style, 'GET', { accept: 'text/css,*/*;q=0.1', host: foreign })).status).toBe(200);
  });

  it('is served by every name of the installation, and so is every program', async () => {
    const { ask } = openTrial();
    for (const host of [
      'localhost:3000',
      '127.0.0.1:3000',
      'mayfly:3000',
      '192.168.0.7:3000',
      'links.example.com',
    ])
      expect([host, (await ask('/', 'GET', { ...asBrowser, host })).status]).toEqual([host, 200]);
    for (const accept of ['*/*', 'application/json', ''])
      expect([accept, (await ask('/', 'GET', { accept, host: foreign })).status]).toEqual([accept, 200]);
  });
});
