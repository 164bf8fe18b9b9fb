/**
 * The API page at `/api/docs`.
 */
import { describe, expect, it } from 'bun:test';
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { describedApi } from '../../scripts/generate-openapi.ts';
import { curlExamples } from '../../src/api/openapi/calls.ts';
import { createDocsPage, sectionsOf } from '../../src/api/openapi/page.tsx';

const { surfaces, info } = describedApi();
const docs = createDocsPage(surfaces, info);
const answer = (headers: Record<string, string> = {}, method = 'GET') =>
  docs(new Request('http://localhost/api/docs', { method, headers }));

async function page() {
  const response = answer();
  return { response, markup: await response.text() };
}

describe('GET /api/docs', () => {
  it('is a page of its own, with the headers of every page (P19)', async () => {
    const { response, markup } = await page();
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('referrer-policy')).toBe('no-referrer');
    expect(markup).toStartWith('<!doctype html><html lang="en">');
  });

  it('is compressed for who accepts that, to less than 40 kB, and says that answers differ', async () => {
    const plain = answer();
    const packed = answer({ 'accept-encoding': 'gzip, br' });
    const bytes = await packed.bytes();
    expect(plain.headers.get('content-encoding')).toBeNull();
    expect(packed.headers.get('content-encoding')).toBe('gzip');
    expect(bytes.length).toBeLessThan(40_000);
    expect(new TextDecoder().decode(Bun.gunzipSync(bytes))).toBe(await plain.text());
    for (const { headers } of [plain, packed]) expect(headers.get('vary')).toBe('Accept-Encoding');
    const head = answer({ 'accept-encoding': 'gzip' }, 'HEAD');
    expect(head.headers.get('content-length')).toBe(String(bytes.length));
  });

  it('allows nothing but its own style sheet, which is named by its hash (P19)', async () => {
    const { response, markup } = await page();
    const policy = response.headers.get('content-security-policy') ?? '';
    const style = /<style>(.*?)<\/style>/s.exec(markup)?.[1] ?? '';
    const hash = createHash('sha256').update(style).digest('base64');
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain(`style-src 'sha256-${hash}'`);
    expect(policy).not.toContain('unsafe');
    expect(policy).not.toContain('http');
  });

  it('has no script, no inline style and loads nothing', async () => {
    const { markup } = await page();
    expect(markup).not.toMatch(/<script|<iframe|<img| src=| style=| on[a-z]+=|@import|url\(/);
  });

  it('tells every operation once, with its path, and links that lead somewhere', async () => {
    const { markup } = await page();
    const entries = sectionsOf(surfaces).flatMap((section) => section.entries);
    expect(new Set(entries.map((entry) => entry.operation.name)).size).toBe(entries.length);
    for (const entry of entries) expect(markup).toContain(`</span> ${entry.path}`);
    const anchors = Array.from(markup.matchAll(/href="#([^"]+)"/g), ([, anchor]) => anchor);
    expect(anchors.length).toBeGreaterThan(entries.length);
    for (const anchor of anchors) expect(markup).toContain(` id="${anchor}"`);
    const ids = Array.from(markup.matchAll(/ id="([^"]+)"/g), ([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('escapes what the document says (P26)', async () => {
    const script = '<script>alert(1)</script>';
    const hostile = surfaces.map((surface) => ({
      ...surface,
      operations: surface.operations.map((operation) => ({
        ...operation,
        path: `${operation.path}/${script}`,
        document: { ...operation.document, summary: script, description: script },
      })),
    }));
    const response = createDocsPage(hostile, { version: script, baseUrl: script })(
      new Request('http://localhost/api/docs'),
    );
    const markup = await response.text();
    expect(markup).toContain('&lt;script&gt;alert(1)');
    expect(markup).not.toContain('<script>');
  });

  it('builds its examples from the configured address', async () => {
    const { markup } = await page();
    expect(markup).toContain('https://mayfly.example/api/v2/secret/conceal');
  });
});

describe('an example call', () => {
  const example = { secret: "it's; $(id)" };
  const operation = {
    method: 'POST',
    access: 'account',
    document: {
      summary: 'x',
      tag: 'x',
      body: {
        schema: z.object({ secret: z.string() }).meta({ examples: [example] }),
        required: true,
        contentTypes: ['application/json'],
      },
      responses: {},
    },
  } as const;
  const address = 'https://mayfly.example/a';

  it('is what a shell reads back unchanged', async () => {
    const [command = ''] = curlExamples(operation, address);
    const script = `curl() { printf '%s\\n' "$@"; }\n${command}`;
    const { stdout } = Bun.spawnSync(['sh', '-c', script]);
    expect(stdout.toString().split('\n')).toEqual([
      'https://mayfly.example/a',
      '--user',
      '<username>:<api token>',
      '--header',
      'Content-Type: application/json',
      '--data',
      '{"secret":"it\'s; $(id)"}',
      '',
    ]);
  });

  it('names a method that its body does not say', () => {
    const call = (method: 'POST' | 'PATCH') => curlExamples({ ...operation, method }, address)[0];
    expect(call('POST')).not.toContain('--request');
    expect(call('PATCH')).toStartWith("curl 'https://mayfly.example/a' --request PATCH ");
  });
});
