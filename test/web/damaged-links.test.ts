/** A link that was damaged on its way: the pages, the command and the client read it alike, and nothing is lost by it. */
import { describe, expect, it } from 'bun:test';
import { createClient, MayflyError, parseLink } from '../../sdk/mayfly.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { runCli } from '../support/cli-world.ts';
import { damagedLinks, type LinkParts, wholeLink } from '../support/damaged-links.ts';
import { makeSealed } from './sealed-link.ts';
import { postForm, visit } from './visit.ts';
import { makeWaiting } from './waiting.ts';
import { words } from './words.ts';

const server = 'https://secrets.example.org/vault';

interface Scene {
  readonly app: TestApp;
  readonly parts: LinkParts;
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly metadataKey: string;
}

async function openScene(kind: 'plain' | 'sealed'): Promise<Scene> {
  const app = createTestApp({ baseUrl: server });
  // The API of this app is at the root.
  const fetch = async (url: string, init: RequestInit) =>
    app.handler(new Request(url.replace('/vault/api/', '/api/'), init));
  if (kind === 'plain') {
    const { secretKey: key, metadataKey } = await makeWaiting(app);
    return { app, fetch, metadataKey, parts: { server, key, end: '' } };
  }
  const { path, fragment: end, metadataKey } = await makeSealed(app, 'canary');
  return { app, fetch, metadataKey, parts: { server, key: path.slice('/secret/'.length), end } };
}

/** As a browser goes there: it sends no end, and takes it along to where it is sent. */
async function go({ app }: Scene, address: string) {
  const url = new URL(address);
  const sent = await visit(app, url.pathname + url.search);
  const location = sent.headers.get('location');
  if (sent.status !== 308 || location === null) return { ...sent, url: url.href };
  expect(location).not.toContain('#');
  const next = new URL(location + url.hash, url);
  return { ...(await visit(app, next.pathname)), url: next.href };
}

/** Nothing was opened or burned, no guess was counted, and the whole link still opens. */
async function expectUntouched({ app, fetch, metadataKey, parts }: Scene): Promise<void> {
  const caller = { kind: 'anonymous' } as const;
  const found = await app.service.findReceipt({ metadataKey, authority: 'creator' }, caller);
  expect(found).toMatchObject({ outcome: 'found', receipt: { state: 'new', locked: null } });
  const opened = await createClient({ server, fetch }).reveal(wholeLink(parts));
  expect(opened.value).toBe('canary');
}

describe.each(['plain', 'sealed'] as const)('the damaged link of a secret, %s', (kind) => {
  it('is opened by its page where it can only be that link, and is called damaged where not, never opened', async () => {
    const scene = await openScene(kind);
    for (const { what, text, outcome, isText } of damagedLinks(scene.parts)) {
      if (isText === true) continue;
      const { status, html, url } = await go(scene, text);
      expect([what, html.includes(words('gone.title')), html.includes(words('gone.lead'))]).toEqual([
        what,
        false,
        false,
      ]);
      const isDamaged = html.includes(`<h1>${words('damaged.title')}</h1>`);
      const isInPath = /%(25)*23/.test(new URL(text).pathname);
      if (outcome === 'refused' || (outcome === 'whole' && isInPath)) {
        expect([what, status, isDamaged]).toEqual([what, 404, true]);
        expect(html).toMatch(/<script type="module" src="[^"]+\/gone-/);
        expect([scene.parts.key, scene.parts.end || 'none'].filter((part) => html.includes(part))).toEqual(
          [],
        );
      } else {
        expect([what, status, html.includes(words('secret.title'))]).toEqual([what, 200, true]);
        expect([what, new URL(url).pathname]).toEqual([what, new URL(wholeLink(scene.parts)).pathname]);
        expect([what, new URL(url).hash]).toEqual([what, new URL(text).hash]);
      }
    }
    await expectUntouched(scene);
  });

  it('is parsed the same whatever its end begins and ends with', () => {
    const key = 'abcdefghijklmnopqrstuvwxyz01234';
    const ends = ['-', '_', 'A', '9'].flatMap((edge) => [
      `${edge}${'x'.repeat(20)}A`,
      `${'x'.repeat(20)}${edge}g`,
    ]);
    for (const end of kind === 'plain' ? [''] : ends)
      for (const { what, text, outcome } of damagedLinks({ server, key, end })) {
        const parsed = parseLink(text);
        if (outcome === 'refused') expect([what, parsed]).toEqual([what, null]);
        else expect([what, parsed]).toMatchObject([what, { kind: 'secret', key, server }]);
        if (outcome === 'whole') expect([what, parsed?.fragment ?? '']).toEqual([what, end]);
        if (outcome === 'incomplete') expect(parsed?.fragment).not.toBe(end);
      }
  });

  it('is read by the client, which sends nothing else', async () => {
    const scene = await openScene(kind);
    const { key } = scene.parts;
    for (const { what, text, outcome } of damagedLinks(scene.parts)) {
      const urls: string[] = [];
      const client = createClient({
        server,
        fetch: (url, init) => scene.fetch(urls[urls.push(url) - 1] ?? '', init),
      });
      const asked = await client.status(text).catch((error: unknown) => error);
      if (outcome === 'refused') {
        expect([what, asked instanceof MayflyError && asked.code, urls]).toEqual([what, 'invalid_key', []]);
      } else expect([what, urls]).toEqual([what, [`${server}/api/v2/secret/${key}/status`]]);
    }
    await expectUntouched(scene);
  });

  it('is read by the command, which says what is wrong with it', async () => {
    const scene = await openScene(kind);
    for (const { what, text, outcome } of damagedLinks(scene.parts)) {
      const { code, out, err } = await runCli(['status', '--json', '-'], { fetch: scene.fetch }, text);
      if (outcome === 'refused') expect([what, code, out]).toEqual([what, 1, '{"error":"invalid_key"}\n']);
      else expect([what, code, JSON.parse(out).waiting]).toEqual([what, 0, true]);
      expect(err).not.toMatch(/gone|read, burned|expired/);
      if (outcome === 'whole') continue;
      const refused = await runCli(['reveal', '--json', text], { fetch: scene.fetch });
      const error = outcome === 'refused' ? 'invalid_key' : 'incomplete_link';
      expect([what, refused.code, refused.out]).toEqual([what, 1, `{"error":"${error}"}\n`]);
    }
    await expectUntouched(scene);
  });
});

describe('a damaged address', () => {
  const noKeys = ['', 'x', '%23', '%23%23', '%', 'a'.repeat(400), `${'a'.repeat(31)}/elsewhere`];

  it('of no key at all is a page that says so, and leads nowhere (P17)', async () => {
    const { app } = await openScene('plain');
    for (const at of noKeys)
      for (const page of ['secret', 'receipt', 'private']) {
        const { status, html } = await visit(app, `/vault/${page}/${at}`).then((shown) =>
          shown.status === 308 ? visit(app, shown.headers.get('location') ?? '') : shown,
        );
        expect([at, status, html.includes(words('gone.title'))]).toEqual([at, 404, false]);
      }
  });

  it('of a receipt leads to the receipt', async () => {
    const { app, metadataKey } = await openScene('plain');
    for (const [address, to] of [
      [`/receipt/${metadataKey}.`, 'receipt'],
      [`/receipt/${metadataKey}%20`, 'receipt'],
      [`/receipt/${metadataKey}/`, 'receipt'],
      [`//receipt/${metadataKey}`, 'receipt'],
      [`/private/${metadataKey}/`, 'receipt'],
      [`/secret/${metadataKey}.`, 'secret'],
    ]) {
      const { status, headers } = await visit(app, `/vault${address}`);
      expect([address, status, headers.get('location')]).toEqual([
        address,
        308,
        `/vault/${to}/${metadataKey}`,
      ]);
    }
  });

  it('of a mailed link that chooses a password leads to that link', async () => {
    const { app } = await openScene('plain');
    await app.accounts.requestSignUp({ email: 'jo@example.org', locale: 'en' });
    await app.accounts.settled();
    const mail = app.accountMails.at(-1);
    const path = mail !== undefined && 'link' in mail ? new URL(mail.link.expose()).pathname : '';
    for (const tail of ['.', ')', '%20', '%E2%80%8B', '_,']) {
      const { status, headers } = await visit(app, path + tail);
      expect([tail, status, headers.get('location')]).toEqual([tail, 308, path]);
    }
    expect((await visit(app, path)).status).toBe(200);
    for (const tail of ['a', '0', '-a']) expect((await visit(app, path + tail)).status).toBe(404);
    const reset = `/vault/reset/${'0'.repeat(64)}`;
    expect((await visit(app, `${reset}.`)).headers.get('location')).toBe(reset);
  });

  it('is mended for a GET alone, below the site and nowhere else, and opens nothing (P4)', async () => {
    const { app, parts } = await openScene('plain');
    const path = `/vault/secret/${parts.key}`;
    const posted = await postForm(app, `${path}.`, { open: 'now' });
    expect([posted.status, posted.html.includes(words('damaged.title'))]).toEqual([404, true]);
    for (const elsewhere of [
      `/secret/${parts.key}.`,
      `/vault/elsewhere/secret/${parts.key}.`,
      `/vault/about/${parts.key}.`,
    ])
      expect((await visit(app, elsewhere)).status).toBe(404);
    expect((await visit(app, `${path}.`, { method: 'HEAD' })).status).toBe(308);
    expect((await visit(app, path)).status).toBe(200);
  });

  it('is another, unknown key to the API', async () => {
    const { app, parts } = await openScene('plain');
    for (const tail of ['.', '%20', '%E2%80%8B', '%23AAAAAAAAAAAAAAAAAAAAAA']) {
      const status = await visit(app, `/api/v2/secret/${parts.key}${tail}/status`);
      const revealed = await visit(app, `/api/v1/secret/${parts.key}${tail}`, { method: 'POST' });
      expect([tail, status.status, revealed.status]).toEqual([tail, 404, 404]);
    }
  });
});
