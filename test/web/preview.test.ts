/** What a chat shows of an address, and what its crawler changes: nothing (P4, P17). */
import { describe, expect, it } from 'bun:test';
import { plainBrand } from '../../src/core/share-domain.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { giveDomain } from '../support/own-domain.ts';
import { png } from './pictures.ts';
import { makeSealed } from './sealed-link.ts';
import { postForm, textIn, visit } from './visit.ts';
import { makeWaiting } from './waiting.ts';
import { words } from './words.ts';

const crawlers = [
  'WhatsApp/2.23.20.0',
  'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)',
  'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
  'TelegramBot (like TwitterBot)',
  'Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)',
];

async function cardAt(app: TestApp, path: string, headers: Record<string, string> = {}) {
  const { html } = await visit(app, path, { headers });
  const found = html.matchAll(/<meta property="og:(\w+)" content="([^"]*)"/g);
  return Object.fromEntries([...found].map(([, name, content]) => [name, content]));
}

const picture = 'https://mayfly.example/icons/card.png';
const cardOfSecret = { title: words('card.title'), description: words('card.lead'), image: picture };

describe('the preview of a link', () => {
  it('is the same for every secret, existing or not, in its language, and opens nothing', async () => {
    const app = createTestApp();
    const { secretPath } = await makeWaiting(app, { passphrase: 'right', value: 'canary' });
    const paths = [secretPath, (await makeSealed(app, 'x')).path, `/secret/${'0'.repeat(31)}`, '/secret/x'];
    for (const path of paths)
      for (const agent of crawlers)
        expect(await cardAt(app, path, { 'user-agent': agent })).toEqual(cardOfSecret);
    expect((await cardAt(app, secretPath, { 'accept-language': 'de' })).title).not.toBe(cardOfSecret.title);
    const { html } = await postForm(app, secretPath, { passphrase: 'right' });
    expect(textIn(html, 'value')).toBe('canary');
  });

  it('has a picture that is served, as a PNG of at most 20 kB', async () => {
    const answer = await createTestApp().fetch(new URL(picture).pathname);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/png']);
    expect((await answer.arrayBuffer()).byteLength).toBeLessThan(20_000);
  });

  it('names the brand of its share domain alone, with its logo', async () => {
    const app = createTestApp();
    const { id } = await app.account('owner@example.com', 'identity');
    const host = 'secrets.example.com';
    await giveDomain(app.store, id, host);
    await app.store.setDomainBrand(id, host, { ...plainBrand, name: 'Example' });
    const { secretPath } = await makeWaiting(app);
    const image = `https://${host}/icons/card.png`;
    for (const path of [secretPath, '/secret/x'])
      expect(await cardAt(app, path, { host })).toEqual({ ...cardOfSecret, image });
    expect(await cardAt(app, '/about', { host })).toMatchObject({ title: 'Example', image });
    await app.store.setDomainLogo(id, host, { name: 'logo-x.png', type: 'image/png', bytes: png });
    expect((await cardAt(app, secretPath, { host })).image).toBe(`https://${host}/logo/logo-x.png`);
  });
});

describe('the preview of any other page', () => {
  it('is the site’s name and one line, whatever its address holds', async () => {
    const app = createTestApp();
    const { metadataKey } = await makeWaiting(app);
    for (const path of ['/', '/about', `/receipt/${metadataKey}`, '/nope', '/log-in'])
      expect(await cardAt(app, path)).toEqual({
        title: 'Mayfly',
        description: words('card.site'),
        image: picture,
      });
  });
});
