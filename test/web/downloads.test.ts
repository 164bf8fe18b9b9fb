/** The packages that the site serves to npm: as files, and on the pages that say so. */
import { describe, expect, it } from 'bun:test';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DownloadName } from '../../src/web/about/downloads.ts';
import { createTestApp, type TestAppOptions } from '../support/app.ts';
import { giveDomain } from '../support/own-domain.ts';
import { visit } from './visit.ts';

const bytesOf: Readonly<Record<DownloadName, Uint8Array<ArrayBuffer>>> = {
  'mayfly.tgz': new Uint8Array(70_000).fill(7),
  'client.tgz': new Uint8Array(3_000).fill(8),
};
const names = Object.keys(bytesOf) as DownloadName[];
const sha256Of = (name: DownloadName) => createHash('sha256').update(bytesOf[name]).digest('hex');

/** With a count of what was looked up. */
function appWith(options: TestAppOptions = {}) {
  const asked: DownloadName[] = [];
  const app = createTestApp({
    findDownload: async (name) => {
      asked.push(name);
      return { bytes: bytesOf[name], sha256: sha256Of(name) };
    },
    ...options,
  });
  return { app, asked };
}

const none = async () => null;

describe('a package', () => {
  for (const base of ['', '/drop'])
    for (const name of names)
      it(`is served at ${base}/${name}, by GET whole and by HEAD with its length`, async () => {
        const { app } = appWith({ baseUrl: `https://example.com${base}` });
        const got = await app.fetch(`${base}/${name}`, { headers: { 'accept-encoding': 'gzip' } });
        const head = await app.fetch(`${base}/${name}`, { method: 'HEAD' });
        expect(await got.bytes()).toEqual(bytesOf[name]);
        expect(await head.text()).toBe('');
        for (const { status, headers } of [got, head]) {
          expect([status, headers.get('content-type')]).toEqual([200, 'application/gzip']);
          expect(headers.get('content-length')).toBe(`${bytesOf[name].length}`);
          expect(headers.get('etag')).toBe(`"${sha256Of(name)}"`);
          expect(headers.get('content-encoding')).toBeNull();
          expect(headers.get('cache-control')).toBe('public, no-cache');
          expect(headers.get('x-content-type-options')).toBe('nosniff');
          expect(headers.get('referrer-policy')).toBe('no-referrer');
          expect(headers.get('x-robots-tag')).toBe('noindex, nofollow, noarchive');
          expect(headers.get('x-request-id')).toMatch(/^[0-9a-f]{20}$/);
          expect(headers.get('content-security-policy')).toContain("default-src 'none'");
        }
        expect((await app.fetch(`${base}/${name}`, { method: 'POST' })).status).toBe(405);
      });

  it('is not sent again to a client that has it, and is to one that has another', async () => {
    const { app } = appWith();
    for (const name of names) {
      const tag = `"${sha256Of(name)}"`;
      for (const known of [tag, `W/${tag}`, `"other", ${tag}`]) {
        const answer = await app.fetch(`/${name}`, { headers: { 'if-none-match': known } });
        expect([answer.status, await answer.text(), answer.headers.get('etag')]).toEqual([304, '', tag]);
        expect([answer.headers.get('content-length'), answer.headers.get('content-type')]).toEqual([
          null,
          null,
        ]);
        expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f]{20}$/);
      }
      const other = await app.fetch(`/${name}`, { headers: { 'if-none-match': '"other"' } });
      expect([other.status, (await other.bytes()).length]).toEqual([200, bytesOf[name].length]);
    }
  });

  it('is not found where the installation serves none', async () => {
    const { app } = appWith({ findDownload: none });
    for (const name of names) expect((await visit(app, `/${name}`)).status).toBe(404);
  });

  it('comes from the host of the installation alone: a share domain sends there', async () => {
    const { app, asked } = appWith({ baseUrl: 'https://example.com/drop' });
    const { id } = await app.account('owner@example.com', 'identity');
    await giveDomain(app.store, id, 'secrets.example.net');
    for (const name of names)
      for (const method of ['GET', 'HEAD']) {
        const path = `/drop/${name}?2`;
        const answer = await app.fetch(path, { method, headers: { host: 'secrets.example.net' } });
        expect([answer.status, answer.headers.get('location')]).toEqual([303, `https://example.com${path}`]);
      }
    expect(asked).toEqual([]);
  });
});

describe('nothing of a package is read', () => {
  it('before it is asked for, by itself or by a page that names it', async () => {
    const { app, asked } = appWith();
    for (const path of ['/', '/about', '/docs', '/docs/api', '/docs/end-to-end', '/robots.txt'])
      expect((await visit(app, path)).status).toBe(200);
    expect(asked).toEqual([]);
    await visit(app, '/docs/command');
    await visit(app, '/docs/client');
    expect(asked).toEqual(['mayfly.tgz', 'client.tgz']);
  });

  it('with the start: its module is imported by a call alone', () => {
    const source = join(import.meta.dir, '..', '..', 'src');
    const importers = readdirSync(source, { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.tsx?$/.test(path) && !path.endsWith('about/downloads.ts'))
      .flatMap((path) => {
        const text = readFileSync(join(source, path), 'utf8');
        return [...text.matchAll(/^import (?!type ).*\/downloads\.ts'/gm)].map(() => path);
      });
    expect(importers).toEqual([]);
    expect(readFileSync(join(source, 'site.ts'), 'utf8')).toContain("import('./web/about/downloads.ts')");
  });
});

describe('the documents', () => {
  it('begin with the line that fetches the package from this very installation, and give its checksum', async () => {
    const { app } = appWith({ baseUrl: 'https://drop.example.com/base' });
    for (const [key, line, name] of [
      ['command', 'npx https://drop.example.com/base/mayfly.tgz share report.pdf', 'mayfly.tgz'],
      ['client', 'npm install https://drop.example.com/base/client.tgz', 'client.tgz'],
      ['ci', 'curl -fsSO https://drop.example.com/base/mayfly.tgz', 'mayfly.tgz'],
    ] as const) {
      const { html } = await visit(app, `/base/docs/${key}`);
      const [first = ''] = /<pre>.*?<\/pre>/s.exec(html) ?? [];
      expect([key, first.includes(line)]).toEqual([key, true]);
      expect(html).toContain(`<code>${sha256Of(name)}</code>`);
    }
  });

  it('say plainly that this installation does not serve it, and show no line that would fail', async () => {
    const { app } = appWith({ findDownload: none });
    for (const [key, name] of [
      ['command', 'mayfly.tgz'],
      ['client', 'client.tgz'],
      ['ci', 'mayfly.tgz'],
    ] as const) {
      const { html } = await visit(app, `/docs/${key}`);
      expect([key, html.includes(`This installation does not serve <code>${name}</code>`)]).toEqual([
        key,
        true,
      ]);
      const pieces = [...html.matchAll(/<pre>.*?<\/pre>/gs)].join('');
      expect([key, pieces.includes(name)]).toEqual([key, false]);
    }
  });
});
