/**
 * The API page at `/api/docs`.
 */
import { describe, expect, it } from 'bun:test';
import { createHash } from 'node:crypto';
import { generateOpenApi } from '../../scripts/generate-openapi.ts';
import { curlExamples } from '../../src/api/docs/curl.ts';
import { createDocsPage } from '../../src/api/docs/docs-page.ts';
import { sectionsOf } from '../../src/api/docs/entries.ts';
import type { OperationObject } from '../../src/api/openapi-types.ts';

const document = generateOpenApi();
const answer = createDocsPage(() => document);

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
    const entries = sectionsOf(document).flatMap((section) => section.entries);
    expect(new Set(entries.map((entry) => entry.id)).size).toBe(entries.length);
    for (const entry of entries) expect(markup).toContain(`</span> ${entry.path}`);
    const anchors = Array.from(markup.matchAll(/href="#([^"]+)"/g), ([, anchor]) => anchor);
    expect(anchors.length).toBeGreaterThan(entries.length);
    for (const anchor of anchors) expect(markup).toContain(` id="${anchor}"`);
    const ids = Array.from(markup.matchAll(/ id="([^"]+)"/g), ([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('escapes what the document says (P26)', async () => {
    const hostile = { ...document, info: { ...document.info, title: '<script>alert(1)</script>' } };
    const response = createDocsPage(() => hostile)();
    expect(await response.text()).not.toContain('<script>');
  });

  it('builds its examples from the configured address', async () => {
    const { markup } = await page();
    expect(markup).toContain('https://mayfly.example/api/v2/secret/conceal');
  });
});

describe('an example call', () => {
  const example = { secret: "it's; $(id)" };
  const operation: OperationObject = {
    operationId: 'x',
    summary: 'x',
    tags: ['x'],
    security: [{ basic: [] }],
    requestBody: {
      required: true,
      content: { 'application/json': { schema: { examples: [example] }, example } },
    },
    responses: {},
  };

  it('is what a shell reads back unchanged', async () => {
    const [command = ''] = curlExamples(document, '/a', 'post', operation);
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
    const call = (method: 'post' | 'patch') => curlExamples(document, '/a', method, operation)[0];
    expect(call('post')).not.toContain('--request');
    expect(call('patch')).toStartWith("curl 'https://mayfly.example/a' --request PATCH ");
  });
});
