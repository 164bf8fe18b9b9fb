/** The documents in the frame of the site. */
import { describe, expect, it } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readDocuments } from '../../src/web/about/read-documents.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { visit, wordsOf } from './visit.ts';

const root = join(import.meta.dir, '..', '..');
const files: Readonly<Record<string, string>> = {
  command: 'docs/command.md',
  codes: 'docs/codes.md',
  api: 'docs/api.md',
  client: 'sdk/README.md',
  ci: 'docs/ci.md',
  mcp: 'docs/mcp.md',
  'end-to-end': 'docs/end-to-end.md',
  requests: 'docs/requests.md',
};
const keys = Object.keys(files);
const pages = ['/docs', ...keys.map((key) => `/docs/${key}`)];

/** Served by the whole site only, as test/v2/openapi.test.ts shows. */
const openApi = '/api/v2/openapi.json';

/** Every link of a page that leads nowhere. */
async function deadLinks(app: TestApp, path: string): Promise<string[]> {
  const { html } = await visit(app, path);
  const dead: string[] = [];
  for (const [, address = ''] of html.matchAll(/<a\b[^>]* href="([^"]+)"/g)) {
    const { origin, pathname, hash } = new URL(address, new URL(path, app.links.baseUrl));
    if (origin !== new URL(app.links.baseUrl).origin || pathname.endsWith(openApi)) continue;
    const target = pathname === path ? { status: 200, html } : await visit(app, pathname);
    const anchor = hash.slice(1);
    if (target.status !== 200) dead.push(`${address}: ${target.status}`);
    else if (anchor !== '' && !target.html.includes(` id="${anchor}"`)) dead.push(`${address}: no such part`);
  }
  return dead;
}

describe('the documents', () => {
  it('are listed, and each is shown under its own title, in English from left to right', async () => {
    const app = createTestApp();
    const shelf = await visit(app, '/docs', { headers: { 'accept-language': 'ar' } });
    expect(shelf.html).toStartWith('<!doctype html><html lang="ar" dir="rtl">');
    for (const key of keys) {
      expect(shelf.html).toContain(`href="/docs/${key}"`);
      const { status, html, headers } = await visit(app, `/docs/${key}`);
      const [, title = ''] = /^# (.+)$/m.exec(readFileSync(join(root, files[key] ?? ''), 'utf8')) ?? [];
      expect([status, html.includes(`<h1>${title}</h1>`)]).toEqual([200, true]);
      expect(html).toContain('<div class="reference document" lang="en" dir="ltr">');
      expect(headers.get('content-security-policy')).toContain("trusted-types 'none'");
      expect(html).not.toMatch(/ style=| on[a-z]+="|<script(?![^>]* src=)/);
    }
    expect(shelf.html).toContain('href="/api/docs"');
  });

  it('have no link that leads nowhere, also below a path', async () => {
    const site = createTestApp();
    for (const page of pages) expect([page, await deadLinks(site, page)]).toEqual([page, []]);
    const below = createTestApp({ baseUrl: 'https://example.com/drop' });
    for (const page of pages) expect(await deadLinks(below, `/drop${page}`)).toEqual([]);
    const { html } = await visit(below, '/drop/docs/api');
    expect(html).toContain('href="/drop/docs/end-to-end"');
    expect(html).toContain('href="/drop/api/v2/openapi.json"');
    expect(html).not.toMatch(/href="(?:@|[^"]*\.md)/);
  });

  it('self-test: a link to a missing page and one to a missing part are found', async () => {
    const app = createTestApp();
    const gone = (html: string) => ({ ...app, fetch: async () => new Response(html) }) as TestApp;
    expect(await deadLinks(gone('<a href="#gone">x</a>'), '/docs')).toEqual(['#gone: no such part']);
    const missing: TestApp = {
      ...app,
      fetch: async (path) =>
        String(path) === '/docs' ? new Response('<a href="/docs/gone">x</a>') : app.fetch('/docs/gone'),
    };
    expect(await deadLinks(missing, '/docs')).toEqual(['/docs/gone: 404']);
  });

  it('show every line of the Markdown, each piece of code as it is and with a button that copies it', async () => {
    const app = createTestApp({ baseUrl: 'https://secrets.example.org' });
    for (const { key, intro, body } of readDocuments()) {
      const { html } = await visit(app, `/docs/${key}`);
      const text = readFileSync(join(root, files[key] ?? ''), 'utf8');
      const fences = text.match(/^```/gm) ?? [];
      const pieces = [...intro, ...body].filter((block) => block.kind === 'code');
      expect(pieces.length * 2).toBe(fences.length);
      for (const { code } of pieces) expect(text).toContain(code);
      expect(html.match(/data-copy="#(?:intro|code)-\d+"/g) ?? []).toHaveLength(pieces.length);
      const rows = text.match(/^\| (?!---)/gm) ?? [];
      expect(html.match(/<tr\b/g) ?? []).toHaveLength(rows.length);
      const shown = wordsOf(html.replaceAll('&amp;', '&').replaceAll(/&(?:#39|quot);/g, ''));
      for (const [, heading = ''] of text.matchAll(/^#{2,3} ([A-Z][\w ,-]+)$/gm))
        expect([key, heading, shown.includes(heading)]).toEqual([key, heading, true]);
    }
  });

  it('name this installation where they need a server', async () => {
    const app = createTestApp({ baseUrl: 'https://drop.example.com' });
    const { html } = await visit(app, '/docs/api');
    expect(html).toContain('export MAYFLY_SERVER=https://drop.example.com\n');
    for (const page of pages)
      expect((await visit(app, page)).html).not.toMatch(/secrets\.example\.org|localhost:3000/);
  });

  it('are compressed and repeat nothing of a request; an unknown one is not found', async () => {
    const app = createTestApp();
    for (const page of pages) {
      const packed = await app.fetch(page, { headers: { 'accept-encoding': 'gzip' } });
      expect(packed.headers.get('content-encoding')).toBe('gzip');
      const again = await app.fetch(page, { headers: { 'accept-encoding': 'gzip' } });
      expect(await again.bytes()).toEqual(await packed.bytes());
      const { html } = await visit(app, `${page}?canary=canary`);
      expect(html).not.toContain('canary');
      expect((await app.fetch(page, { method: 'HEAD' })).status).toBe(200);
    }
    for (const path of ['/docs/nope', '/docs/%61pi/x', '/docs/operating'])
      expect((await visit(app, path)).status).toBe(404);
  });
});
