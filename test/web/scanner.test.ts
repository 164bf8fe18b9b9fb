/** Scanners that send forms: a form that no person ticked opens nothing and counts as no try (P4). */
import { describe, expect, it } from 'bun:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createScanner } from './scanner.ts';
import { postForm, textIn, tickedBox, visit } from './visit.ts';
import { makeWaiting, type WaitingOptions } from './waiting.ts';
import { saying, words } from './words.ts';

const secrets = 1_000;

/** Scans links, half of them with a passphrase; returns how many forms were sent and the links that no longer open. */
async function scanLinks(app: TestApp, count: number, typed: string | null) {
  const scanner = createScanner(app, typed);
  const consumed: string[] = [];
  for (let at = 0; at < count; at += 1) {
    const guard: WaitingOptions = at % 2 === 0 ? {} : { passphrase: 'right' };
    const { secretPath } = await makeWaiting(app, { value: `value ${at}`, ...guard });
    await scanner.scan(secretPath);
    const { html } = await postForm(app, secretPath, { passphrase: 'right' });
    if (textIn(html, 'value') !== `value ${at}`) consumed.push(secretPath);
  }
  return { sent: scanner.sent(), consumed };
}

describe('a scanner that follows every link and sends every form as it finds it', () => {
  it(`consumes none of ${secrets} secrets (P4)`, async () => {
    const { sent, consumed } = await scanLinks(createTestApp(), secrets, null);
    expect(consumed).toEqual([]);
    // The form of the languages, the link's own, and the one that burns it unread.
    expect(sent).toBeGreaterThanOrEqual(3 * secrets);
  });

  it('uses up no try, though it types something into every field for a passphrase (P14)', async () => {
    const app = createTestApp();
    const { secretPath } = await makeWaiting(app, { passphrase: 'right' });
    const scanner = createScanner(app, 'a guess');
    for (let scan = 0; scan < 20; scan += 1) {
      await scanner.scan(secretPath);
      await scanner.scan(`${secretPath}/burn`);
    }
    expect(scanner.sent()).toBeGreaterThanOrEqual(40);
    expect((await postForm(app, secretPath, { passphrase: 'wrong' })).html).toMatch(
      saying('secret.passphraseWrong', { count: 4 }),
    );
  });

  it('self-test: with its box ticked, the same form opens, so the scanner does send it', async () => {
    const app = createTestApp();
    const ticked: Pick<TestApp, 'fetch'> = {
      fetch: (path, init = {}) => {
        const body = `${init.body}&${new URLSearchParams(tickedBox)}`;
        return app.fetch(path, typeof init.body === 'string' ? { ...init, body } : init);
      },
    };
    const { secretPath } = await makeWaiting(app);
    await createScanner(ticked, null).scan(secretPath);
    expect((await visit(app, secretPath)).status).toBe(404);
  });
});

describe('a form without its tick', () => {
  it('is answered with 422 beside the box; ticked, it opens', async () => {
    const app = createTestApp();
    const { secretPath } = await makeWaiting(app);
    for (const open of ['', 'yes']) {
      const refused = await postForm(app, secretPath, { open });
      expect(refused.status).toBe(422);
      expect(/id="open-wrong">([^<]*)/.exec(refused.html)?.[1]).toBe(words('secret.sureMissing'));
      expect(/<input id="open"[^>]*>/.exec(refused.html)?.[0]).toContain('aria-invalid="true"');
    }
    expect((await visit(app, secretPath, { method: 'POST' })).status).toBe(422);
    expect(textIn((await postForm(app, secretPath)).html, 'value')).toBe('canary');
  });

  it('to a link that is gone gets the answer of every link that is gone (P17)', async () => {
    const app = createTestApp();
    const { secretPath } = await makeWaiting(app);
    await postForm(app, secretPath);
    const answers = [await postForm(app, secretPath, { open: '' }), await visit(app, secretPath)];
    expect(answers.map(({ status }) => status)).toEqual([404, 404]);
  });

  it('shows a box that must be ticked and is not', async () => {
    const app = createTestApp();
    const { html } = await visit(app, (await makeWaiting(app)).secretPath);
    const box = /<input id="open"[^>]*>/.exec(html)?.[0] ?? '';
    expect([box.includes('required'), box.includes('checked')]).toEqual([true, false]);
    expect(html).toContain(words('secret.sure'));
  });
});
