/**
 * What a body says of itself, and what it must not lose, at every endpoint that takes one: its encoding, a type that came twice, and a
 * part of a form without `=`.
 */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import { gzipSync } from 'node:zlib';
import { contentTypeOf } from '../../src/http/content-type.ts';
import { type RunningServer, startServer } from '../../src/http/server.ts';
import { createTestApp } from '../support/app.ts';
import { sendOnce } from '../support/raw-client.ts';
import { type BodyEndpoint, bodyEndpoints } from './body-endpoints.ts';

const typeOf = {
  json: 'application/json',
  form: 'application/x-www-form-urlencoded',
  multipart: 'multipart/form-data; boundary="a,b"',
  svg: 'image/svg+xml',
} as const;

/** What no reader of the form can read, so that nothing changes, and each says so in its own words. */
const unreadable = {
  json: '{',
  form: '%',
  multipart: '--a,b\r\n\r\n',
  svg: '<svg',
} as const;

const endpoints: BodyEndpoint[] = [];
for (const dialect of ['documented', 'upstream'] as const)
  endpoints.push(...(await bodyEndpoints(dialect)).filter(({ form }) => form !== 'query'));

/** Which status a page has, or which words a version of the API. */
async function answerOf(response: Response): Promise<unknown> {
  const text = await response.text();
  return response.headers.get('content-type')?.includes('json') ? [response.status, text] : response.status;
}

describe('the endpoints', () => {
  it('are those of both versions and of the pages, in every form', () => {
    expect(endpoints.length).toBeGreaterThan(80);
    expect(new Set(endpoints.map(({ form }) => form))).toEqual(new Set(['json', 'form', 'multipart', 'svg']));
  });
});

for (const { label, form, before, send } of endpoints) {
  if (form === 'query') continue;
  const contentType = typeOf[form];
  const bytes = Buffer.from(unreadable[form]);
  const zipped = { contentType, bytes: gzipSync(bytes) };

  describe(label, () => {
    it('refuses a body with a Content-Encoding with 415, and asks for none', async () => {
      for (const coding of ['gzip', 'br', 'GZip', 'identity, deflate', 'identityidentity', 'x']) {
        const answer = await send(zipped, { 'content-encoding': coding });
        expect([coding, answer.status, answer.headers.get('accept-encoding')]).toEqual([
          coding,
          415,
          'identity',
        ]);
        expect(await answer.text()).not.toContain('UTF-8');
      }
    });

    it('reads a body whose encoding is identity as one without', async () => {
      const plain = await answerOf(await send({ contentType, bytes }));
      for (const coding of ['identity', ' Identity ', 'identity,identity', ''])
        expect(await answerOf(await send({ contentType, bytes }, { 'content-encoding': coding }))).toEqual(
          plain,
        );
    });

    it('reads the last Content-Type that it knows, and the charset of that one alone', async () => {
      const plain = await answerOf(await send({ contentType, bytes }));
      for (const twice of [
        `text/html; charset=utf-16, ${contentType}`,
        `text/html; charset="a, b/c", ${contentType}`,
        `${contentType}, text/plain;charset=utf-16`,
        `${contentType},${contentType}`,
      ])
        expect([twice, await answerOf(await send({ contentType: twice, bytes }))]).toEqual([twice, plain]);
    });

    if (form === 'form')
      it('refuses a part without "=", wherever it is, and repeats nothing of it', async () => {
        for (const body of ['a=P&ssw0rd', 'ssw0rd&a=b', 'ssw0rd', 'a=b&%73sw0rd&c=']) {
          const answer = await send({ contentType, bytes: Buffer.from(before + body) });
          const text = await answer.text();
          expect([body, answer.status, text.includes('ssw0rd')]).toEqual([body, 400, false]);
          if (/^v[12]\./.test(label))
            expect(text).toContain('has no \\"=\\": write an & inside a value as %26');
        }
      });
  });
}

const app = createTestApp({ dialect: 'upstream', v2Dialect: 'upstream' });
let server: RunningServer;
beforeAll(async () => {
  server = await startServer({ fetch: app.handler, hostname: '127.0.0.1', port: 0, onFault: () => {} });
});
afterAll(() => server.stop(0));

async function posted(path: string, body: string, ...headers: string[]) {
  const lines = [
    `POST ${path} HTTP/1.1`,
    'Host: localhost',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...headers,
  ];
  const {
    status,
    body: text,
    headers: told,
  } = await sendOnce(server.port, Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`));
  return { status, text, told };
}

describe('over a socket, in the upstream dialects', () => {
  it('a form under two Content-Type headers is read, whichever came first', async () => {
    const [html, form] = ['Content-Type: text/html; charset=latin1', `Content-Type: ${typeOf.form}`];
    for (const headers of [
      [html, form],
      [form, html],
    ]) {
      for (const [path, body] of [
        ['/api/v1/share', 'secret=%C3%A9'],
        ['/api/v2/secret/conceal', 'secret[secret]=%C3%A9'],
      ] as const)
        expect([path, (await posted(path, body, ...headers)).status]).toEqual([path, 200]);
    }
  });

  it('the type of a parameter in quotes is none', () => {
    for (const [given, found] of [
      [
        'multipart/form-data; boundary="x, application/json"',
        'multipart/form-data; boundary="x, application/json"',
      ],
      ['multipart/form-data; boundary=a,b', 'multipart/form-data; boundary=a,b'],
      ['application/json; a="x', 'application/json; a="x'],
      ['text/plain, text/html', 'text/html'],
      ['', ''],
    ]) {
      const headers = new Headers({ 'content-type': given ?? '' });
      expect(contentTypeOf(headers, /^application\/json/)).toBe(found ?? '');
    }
  });

  it('an empty body has no encoding to refuse', async () => {
    const { status } = await posted('/api/v1/generate', '', 'Content-Encoding: gzip');
    expect(status).toBe(200);
  });

  for (const type of [typeOf.form, 'text/plain', 'application/octet-stream'])
    it(`v1 refuses a part without "=" in a body of the type ${type}, and keeps taking one in a query`, async () => {
      const refused = await posted('/api/v1/share', 'secret=P&ssw0rd', `Content-Type: ${type}`);
      expect([refused.status, refused.told.get('mayfly-ignored')]).toEqual([404, undefined]);
      expect(refused.text).toContain('curl: --data-urlencode');
      const taken = await posted('/api/v1/share?1732712000', 'secret=P%26ssw0rd', `Content-Type: ${type}`);
      const { secret_key } = JSON.parse(taken.text);
      const read = await posted(`/api/v1/secret/${secret_key}?_`, '');
      expect(JSON.parse(read.text).value).toBe('P&ssw0rd');
    });
});
