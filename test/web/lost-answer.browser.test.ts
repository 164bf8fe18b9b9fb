/**
 * The first answer to a reveal is lost, and then the secret is gone: the lost answer may have had it. So no door says that the secret was
 * gone before, as it would if the first answer had said so.
 */
import { describe, expect, it } from 'bun:test';
import type { Page, Route } from 'playwright-core';
import { createClient, type Fetch, type MayflyErrorCode } from '../../sdk/mayfly.ts';
import { failure } from '../sdk/observed.ts';
import { runCli } from '../support/cli-world.ts';
import { withBrowser } from './in-browser.ts';
import { makeSealed } from './sealed-link.ts';
import { words } from './words.ts';

const { itInBrowser } = withBrowser();

const server = 'http://localhost:3000';
const key = 'abcdefghijklmnopqrstuvwxyz01234';
const waiting = { key, has_passphrase: false, secret_ttl: 60, created: 1_790_000_000 };

type First = 'gone' | 'a broken connection' | 'a fault of the server' | 'the error page of a proxy';

function problem(error: string, status: number): Response {
  return Response.json({ success: false, error, message: error }, { status });
}

/** What the API answers. @param first the answer to the first reveal */
function answering(first: First): Fetch {
  let reveals = 0;
  return async (url) => {
    if (!url.endsWith('/reveal')) return Response.json({ success: true, record: waiting });
    reveals += 1;
    if (first === 'gone' || reveals > 1) return problem('unknown_secret', 404);
    if (first === 'a fault of the server') return problem('internal', 500);
    if (first === 'the error page of a proxy') return new Response('<html>', { status: 502 });
    throw new TypeError('the connection was closed');
  };
}

async function sayOnPage(page: Page, address: string, first: First): Promise<string> {
  let reveals = 0;
  const answerOpen = (route: Route) => {
    reveals += 1;
    if (first === 'gone' || reveals > 1) return route.fulfill({ status: 404, json: { at: 'gone', say: '' } });
    if (first === 'a fault of the server')
      return route.fulfill({ status: 500, json: { at: 'page', say: '' } });
    if (first === 'the error page of a proxy') return route.fulfill({ status: 502, body: '<html>' });
    return route.abort('connectionreset');
  };
  await page.route('**/open', answerOpen);
  await page.goto(address);
  // What the server's own page would say, were the script to leave to it.
  await page.route(address.replace(/#.*/, ''), (route) =>
    route.fulfill({ contentType: 'text/html', body: '<p id="notice">gone</p>' }),
  );
  await page.click('#open');
  await page.waitForSelector('#notice:visible');
  return (await page.textContent('#notice')) ?? '';
}

const rows: readonly (readonly [First, MayflyErrorCode])[] = [
  ['gone', 'unknown_secret'],
  ['a broken connection', 'unreachable'],
  ['a fault of the server', 'internal'],
  ['the error page of a proxy', 'unexpected_answer'],
];

describe('a secret that is gone', () => {
  for (const [first, code] of rows) {
    const said = first === 'gone' ? 'is called gone' : 'is not called gone after a lost answer';
    const after = first === 'gone' ? '' : `, after ${first}`;

    it(`${said}: by the SDK${after}`, async () => {
      const client = createClient({ server, fetch: answering(first) });
      expect((await failure(client.reveal(key))).code).toBe(code);
    });

    it(`${said}: by the command${after}`, async () => {
      const { code: ended, out } = await runCli(['reveal', key, '--json'], { fetch: answering(first) });
      expect([ended, JSON.parse(out)]).toEqual([1, { error: code }]);
    });

    itInBrowser(`${said}: by the page${after}`, { scripts: true }, async ({ site, page }) => {
      const { link } = await makeSealed(site.app, 'x');
      const notice = await sayOnPage(page, site.baseUrl + link, first);
      expect(notice).toBe(first === 'gone' ? 'gone' : words('secret.noAnswer'));
    });
  }
});
