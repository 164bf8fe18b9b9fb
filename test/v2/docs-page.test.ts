/** What the API reference says. `test/web/reference.test.ts` has the page around it. */
import { describe, expect, it } from 'bun:test';
import { z } from 'zod';
import { describedApi } from '../../scripts/generate-openapi.ts';
import { curlExamples } from '../../src/api/openapi/calls.ts';
import { refusalRows } from '../../src/api/reference/errors.tsx';
import { createReference, sectionsOf } from '../../src/api/reference/page.tsx';
import { createTestApp } from '../support/app.ts';

const { surfaces, info } = describedApi();
const markup = createReference(surfaces, info)();
const entries = sectionsOf(surfaces).flatMap((section) => section.entries);

function count(text: string, part: string): number {
  return text.split(part).length - 1;
}

describe('the API reference', () => {
  it('has no script, no inline style and loads nothing (P19)', () => {
    expect(markup).not.toMatch(/<script|<iframe|<img|<link| src=| style=| on[a-z]+=|@import|url\(/);
  });

  it('tells every operation once, with its path, and links that lead somewhere', () => {
    expect(new Set(entries.map((entry) => entry.operation.name)).size).toBe(entries.length);
    for (const entry of entries) expect(markup).toContain(`</span> ${entry.path}</code>`);
    const anchors = Array.from(markup.matchAll(/href="#([^"]+)"/g), ([, anchor]) => anchor);
    expect(anchors.length).toBeGreaterThan(entries.length);
    for (const anchor of anchors) expect(markup).toContain(` id="${anchor}"`);
    const ids = Array.from(markup.matchAll(/ id="([^"]+)"/g), ([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('tells errors once, in one table, and fields that repeat where they first occur', () => {
    const errors = markup.slice(markup.indexOf('id="errors"'), markup.indexOf('id="records"'));
    const longest = (text: string) => text.split(/[`'"]/).sort((a, b) => b.length - a.length)[0] ?? '';
    for (const { code, when } of refusalRows) {
      expect(count(errors, `id="error-${code.replaceAll('_', '-')}"`)).toBe(1);
      expect([code, count(markup, longest(when))]).toEqual([code, 1]);
    }
    expect(count(markup, 'Needed to read the secret; also part of its encryption key.')).toBe(1);
    expect(count(markup, 'Consumes the secret and answers its value')).toBe(2);
  });

  it('escapes what the document says (P26)', () => {
    const script = '<script>alert(1)</script>';
    const hostile = surfaces.map((surface) => ({
      ...surface,
      operations: surface.operations.map((operation) => ({
        ...operation,
        path: `${operation.path}/${script}`,
        document: { ...operation.document, summary: script, description: script },
      })),
    }));
    const told = createReference(hostile, { version: script, baseUrl: 'https://mayfly.example' })();
    expect(told).toContain('&lt;script&gt;alert(1)');
    expect(told).not.toContain('<script>');
  });

  it('builds its examples from the configured address', () => {
    expect(markup).toContain('https://mayfly.example/api/v2/secret/conceal');
  });
});

describe('the statuses of version 1', () => {
  const statusOf = (wanted: string) => refusalRows.find(({ code }) => code === wanted)?.v1Status;

  it('are those of the table, where a caller can bring them about', async () => {
    const app = createTestApp();
    const { authorization } = await app.account();
    const post = async (path: string, fields: string, headers: Record<string, string> = {}) => {
      const type = { 'content-type': 'application/x-www-form-urlencoded' };
      const init = { method: 'POST', body: fields, headers: { ...type, ...headers } };
      const { status } = await app.fetch(`/api/v1${path}`, init);
      return status;
    };
    const share = async (fields: string) => {
      const made = await app.fetch(`/api/v1/share?${fields}`, { method: 'POST', headers: { authorization } });
      return made.json();
    };
    const locked = await share('secret=x&passphrase=right');
    const burned = await share('secret=x');
    await post(`/private/${burned.metadata_key}/burn`, '', { authorization });
    const met = {
      malformed: await post('/share', 'secret=%ff'),
      not_authorized: await post('/share', 'secret=x', { authorization: 'Basic eDp5' }),
      account_required: await post('/share', 'secret=x&recipient=a@example.com'),
      cross_site: await post('/share', 'secret=x', { 'sec-fetch-site': 'cross-site' }),
      not_found: await post('/nothing', ''),
      unknown_secret: await post(`/secret/${'a'.repeat(31)}`, ''),
      method_not_allowed: (await app.fetch('/api/v1/share')).status,
      already_gone: await post(`/private/${burned.metadata_key}/burn`, '', { authorization }),
      too_large: await post('/share', `secret=${'x'.repeat(10_001)}`),
      incorrect_passphrase: await post(`/secret/${locked.secret_key}`, 'passphrase=wrong'),
      invalid_field: await post('/share', 'secret=x&ttl=abc'),
    };
    expect(met).toEqual(
      Object.fromEntries(Object.keys(met).map((code) => [code, statusOf(code)])) as typeof met,
    );
    for (const key of Array.from({ length: 6 }, () => locked.secret_key))
      await post(`/secret/${key}`, 'passphrase=wrong');
    expect(await post(`/secret/${locked.secret_key}`, 'passphrase=wrong')).toBe(
      Number(statusOf('too_many_attempts')),
    );
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
