/**
 * The OpenAPI document: valid, complete, up to date, and served.
 */
import { describe, expect, it } from 'bun:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { generateOpenApi, openApiFile } from '../../scripts/generate-openapi.ts';
import { publishDocument, renderOpenApiJson } from '../../src/api/openapi/document.ts';
import { createApi } from '../../src/http/api.ts';
import { createFetch } from '../../src/http/pipeline.ts';
import { createRateLimiter } from '../../src/http/rate-limit.ts';
import { createTestApp } from '../support/app.ts';
import { surfacesOf } from './documented-app.ts';
import { asSent, type MediaType, methods, type OperationObject } from './openapi-types.ts';

const generated = await generateOpenApi();
const document = asSent(generated);

function operations(): readonly (readonly [string, OperationObject])[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const operation = item[method];
      return operation === undefined ? [] : [[`${method} ${path}`, operation] as const];
    }),
  );
}

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1', async () => {
    const validator = new Validator();
    const result = await validator.validate(JSON.parse(renderOpenApiJson(generated)));
    expect(result.errors ?? []).toEqual([]);
    expect(result.valid).toBe(true);
    expect(validator.version).toBe('3.1');
  });

  it('is refused by the same validator when an operation has no answers', async () => {
    const broken = JSON.parse(renderOpenApiJson(generated));
    broken.paths['/api/v2/status'].get.responses = {};
    broken.paths['/api/v2/status'].get.operationId = 5;
    expect((await new Validator().validate(broken)).valid).toBe(false);
  });

  it('is the one in docs/openapi/mayfly.json: run `npm run docs` when this fails', async () => {
    expect(await Bun.file(openApiFile).text()).toBe(renderOpenApiJson(generated));
  });

  it('names every path and alias of both versions', () => {
    const told = operations().map(([name]) => name);
    const served = surfacesOf(createTestApp()).flatMap(({ base, operations: all }) =>
      all.flatMap(({ method, path, aliases = [] }) =>
        [{ method, path }, ...aliases].map(
          (way) => `${way.method.toLowerCase()} ${base}${way.path.replace(/:(\w+)/g, '{$1}')}`,
        ),
      ),
    );
    const withoutHead = told.filter((name) => !name.startsWith('head '));
    expect(withoutHead.sort()).toEqual([...served, 'get /api/v2/openapi.json'].sort());
  });

  it('names every operation of version 2 that the contract has', () => {
    const told = operations().map(([name]) => name);
    for (const name of [
      'post /api/v2/secret/conceal',
      'post /api/v2/secret/generate',
      'get /api/v2/secret/{key}',
      'get /api/v2/secret/{key}/status',
      'post /api/v2/secret/{key}/reveal',
      'get /api/v2/private/recent',
      'get /api/v2/private/{key}',
      'patch /api/v2/private/{key}',
      'post /api/v2/private/{key}/burn',
      'get /api/v2/receipt/recent',
      'get /api/v2/receipt/{key}',
      'patch /api/v2/receipt/{key}',
      'post /api/v2/receipt/{key}/burn',
      'get /api/v2/supported-locales',
      'get /api/v2/version',
      'get /api/v2/status',
      'head /api/v2/status',
      'get /api/v2/authcheck',
    ]) {
      expect(told).toContain(name);
    }
  });

  it('gives each operation its own id, a summary, a tag, and the answers that any may give', () => {
    const ids = operations().map(([, operation]) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [name, operation] of operations()) {
      const expected = ['200', '405', '500', '503'];
      if (operation.security.length > 0) expected.push('401');
      if (/^(post|patch)/.test(name)) expected.push('403', '429');
      if (operation.requestBody !== undefined) expected.push('400', '413');
      if (operation.requestBody !== undefined && /^(post|patch) .api.v2/.test(name))
        expected.push('415', '422');
      expect([name, expected.filter((status) => !(status in operation.responses))]).toEqual([name, []]);
      expect(operation.summary).not.toBe('');
      expect(operation.tags).toHaveLength(1);
    }
  });

  it('tells the headers that come with a status', () => {
    const told = (status: string) =>
      operations().flatMap(([, { responses }]) => {
        const name = responses[status]?.$ref.split('/').at(-1) ?? '';
        const headers = document.components.responses[name]?.headers;
        return headers === undefined ? [] : [Object.keys(headers)];
      });
    for (const headers of told('401')) expect(headers).toContain('WWW-Authenticate');
    for (const headers of told('405')) expect(headers).toContain('Allow');
    for (const headers of told('503')) expect(headers).toContain('Retry-After');
    for (const [name, { responses }] of operations()) {
      for (const { $ref } of Object.values(responses)) {
        const headers = document.components.responses[$ref.split('/').at(-1) ?? '']?.headers ?? {};
        expect([name, 'Mayfly-Ignored' in headers]).toEqual([name, name.includes(' /api/v1/')]);
      }
    }
  });

  it('shows only examples that are valid against their own schema', () => {
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    ajv.addSchema({ $id: 'https://mayfly.example/document', ...document });
    const bodies = operations().flatMap(([, { requestBody }]) => Object.values(requestBody?.content ?? {}));
    const answers = Object.values(document.components.responses).flatMap(({ content }) =>
      Object.values(content ?? {}),
    );
    const shown: readonly MediaType[] = [...bodies, ...answers];
    expect(shown.length).toBeGreaterThan(50);
    for (const { schema, example } of shown) {
      const valid = ajv.validate(rooted(schema), example);
      expect([valid, ajv.errorsText()]).toEqual([true, 'No errors']);
    }
  });

  function rooted(schema: object): object {
    return JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"https://mayfly.example/document#/'));
  }
});

describe('GET /api/v2/openapi.json', () => {
  const app = createTestApp();
  const [v1, v2] = surfacesOf(app);
  if (v1 === undefined || v2 === undefined) throw new Error('both versions are needed');
  const info = { version: '0.1.0', baseUrl: 'https://mayfly.example' };
  const published = publishDocument(v2, [v1], info);
  const api = createApi(published.surface, {
    authenticate: app.service.authenticate,
    limiter: createRateLimiter({ table: 'off', nowMs: () => 0 }),
    clientAddressOf: () => '192.0.2.1',
    bodyCapBytes: 65_536,
    ownOrigin: 'https://mayfly.example',
    allowedOrigins: new Set(),
    onAnswer: () => undefined,
    onFault: (error) => {
      throw error;
    },
  });
  const fetch = createFetch([], api.serve);

  it('serves the document to anyone, always the same', async () => {
    const first = await fetch(new Request('http://localhost/api/v2/openapi.json'));
    expect(first.status).toBe(200);
    expect(first.headers.get('content-type')).toBe('application/json; charset=utf-8');
    const text = await first.text();
    expect(JSON.parse(text)).toEqual(JSON.parse(renderOpenApiJson(generated)));
    const second = await fetch(new Request('http://localhost/api/v2/openapi.json'));
    expect(await second.text()).toBe(text);
    expect(await published.document()).toBe(await published.document());
  });

  it('is compressed for who accepts that, to less than 40 kB, and tells HEAD the same length', async () => {
    const url = 'http://localhost/api/v2/openapi.json';
    const headers = { 'accept-encoding': 'gzip' };
    const packed = await fetch(new Request(url, { headers }));
    const bytes = await packed.bytes();
    expect(packed.headers.get('content-encoding')).toBe('gzip');
    expect(packed.headers.get('vary')).toContain('Accept-Encoding');
    expect(bytes.length).toBeLessThan(40_000);
    expect(JSON.parse(new TextDecoder().decode(Bun.gunzipSync(bytes)))).toEqual(await published.document());
    const head = await fetch(new Request(url, { method: 'HEAD', headers }));
    expect(head.headers.get('content-length')).toBe(String(bytes.length));
  });
});
