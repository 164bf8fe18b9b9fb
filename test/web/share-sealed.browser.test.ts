/** Sharing with end-to-end encryption: what the browser sends, and what happens when it cannot encrypt. */
import { describe, expect } from 'bun:test';
import type { Page, Request } from 'playwright-core';
import { prove, open as unseal } from '../../sdk/sealing.ts';
import { stretch } from '../../sdk/stretch.ts';
import type { TestApp } from '../support/app.ts';
import { headingOf, noticedBy } from './creator.ts';
import { withBrowser } from './in-browser.ts';
import { words } from './words.ts';

const { itInBrowser } = withBrowser();

const canaries = {
  value: 'canary-of-a-value',
  passphrase: 'canary-of-a-passphrase',
  name: 'canary-of-a-name.txt',
  content: 'canary-of-the-bytes-of-a-file',
};

/** Everything that the page sends: addresses, headers and bodies. */
function recordOf(page: Page): () => Promise<string> {
  const requests: Request[] = [];
  page.context().on('request', (request) => requests.push(request));
  return async () => {
    const texts = await Promise.all(
      requests.map(async (request) => {
        const headers = JSON.stringify(await request.allHeaders().catch(() => request.headers()));
        return `${request.method()} ${request.url()}\n${headers}\n${request.postData() ?? ''}`;
      }),
    );
    return texts.join('\n');
  };
}

/** As it is, as a form encodes it, and as base64 at any offset. */
function formsOf(text: string): string[] {
  const base64 = [0, 1, 2].map((offset) =>
    Buffer.from(`${'.'.repeat(offset)}${text}`)
      .toString('base64url')
      .slice(4, 20),
  );
  return [text, encodeURIComponent(text), Buffer.from(text).toString('hex'), ...base64];
}

function leaksIn(sent: string, texts: readonly string[]): string[] {
  return texts.filter((text) => formsOf(text).some((form) => sent.includes(form)));
}

/** As a recipient's client does. */
async function openLink(app: TestApp, link: string, passphrase: string | null) {
  const { pathname, hash } = new URL(link);
  const { linkProof, proof, key } = await prove(hash.slice(1), passphrase, stretch);
  const answer = await app.fetch(`/api/v2${pathname}/reveal`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ link_proof: linkProof, proof, continue: true }),
  });
  const { record } = (await answer.json()) as { record: { sealed: { ciphertext: string } } };
  return unseal(record.sealed.ciphertext, key);
}

describe('with end-to-end encryption', () => {
  itInBrowser(
    'a text and its passphrase leave the browser only sealed, and the link that is shown once opens them',
    { scripts: true },
    async ({ site, visitor, page }) => {
      const sent = recordOf(page);
      await page.goto(`${site.baseUrl}/`);
      await page.fill('#secret', canaries.value);
      await page.fill('#passphrase', canaries.passphrase);
      await page.click('#create');
      await page.waitForSelector('#whole-link:not([hidden])');
      expect(await headingOf(page)).toBe(words('receipt.readyTitle'));
      const link = await page.inputValue('#link');
      expect(link).toMatch(/\/secret\/\w+#[\w-]{22}$/);
      const fragment = link.slice(link.indexOf('#') + 1);
      expect(page.url()).not.toContain('#');
      expect(leaksIn(await sent(), [canaries.value, canaries.passphrase, fragment])).toEqual([]);
      expect(await openLink(site.app, link, canaries.passphrase)).toEqual({
        kind: 'text',
        text: canaries.value,
      });
      expect(noticedBy(visitor)).toEqual([]);
    },
  );
});
