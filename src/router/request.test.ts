import { describe, expect, it } from 'bun:test';
import { seededRandom } from '../../test/support/seeded-random.ts';
import { generateMetadataKey, parseRegionLabel } from '../core/keys.ts';
import { destinationOf, type Fields, fieldsForRegion, labelIn } from './request.ts';

const eu = parseRegionLabel('eu');
const key = generateMetadataKey(seededRandom('destination'), eu);

describe('a path of the API', () => {
  it.each([
    [`/api/v1/secret/${key}`, 'v1'],
    [`/api/v1/private/${key}`, 'v1'],
    [`/api/v1/metadata/${key}`, 'v1'],
    [`/api/v1/receipt/${key}`, 'v1'],
    [`/api/v1/private/${key}/burn`, 'v1'],
    [`/api/v1/private/${key}/`, 'v1'],
    [`/api/v2/secret/${key}`, 'v2'],
    [`/api/v2/secret/${key}/status`, 'v2'],
    [`/api/v2/secret/${key}/reveal`, 'v2'],
    [`/api/v2/secret/${key}/reveal/done`, 'v2'],
    [`/api/v2/secret/${key}/burn`, 'v2'],
    [`/api/v2/secret/${key}/code`, 'v2'],
    [`/api/v2/private/${key}`, 'v2'],
    [`/api/v2/private/${key}/burn`, 'v2'],
    [`/api/v2/receipt/${key}/deliver`, 'v2'],
    [`/api/v2/request/${key}/look`, 'v2'],
    [`/api/v2/request/${key}/answer`, 'v2'],
    [`/api/v2/guest/secret/${key}`, 'v2'],
    [`/api/v2/guest/secret/${key}/reveal`, 'v2'],
    [`/api/v2/guest/secret/${key}/reveal/done`, 'v2'],
    [`/api/v2/guest/secret/${key}/burn`, 'v2'],
  ] as const)('%s names its key', (path, version) => {
    expect(destinationOf(path)).toEqual({ kind: 'api', version, key });
    expect(labelIn(key)).toBe(eu);
  });

  it.each([
    ['/api/v1/share', 'v1'],
    ['/api/v1/private/recent', 'v1'],
    ['/api/v1/receipt/recent/', 'v1'],
    ['/api/v1/secret/', 'v1'],
    ['/api/v1/secret', 'v1'],
    [`/api/v1//secret/${key}`, 'v1'],
    [`/api/v1/SECRET/${key}`, 'v1'],
    [`/api/v1/%73ecret/${key}`, 'v1'],
    ['/api/v2/secret/conceal', 'v2'],
    ['/api/v2/secret/generate', 'v2'],
    ['/api/v2/secret/batch', 'v2'],
    ['/api/v2/private/recent', 'v2'],
    ['/api/v2/secret/status', 'v2'],
    ['/api/v2/guest/secret/conceal', 'v2'],
    ['/api/v2/guest/secret/generate', 'v2'],
    [`/api/v2/guest/guest/secret/${key}`, 'v2'],
    [`/api/v2/guest/${key}`, 'v2'],
    [`/api/v1/guest/secret/${key}`, 'v1'],
    [`/api/v2/metadata/${key}`, 'v2'],
    ['/api/v2/request', 'v2'],
    [`/api/v1/request/${key}`, 'v1'],
    ['/api/v2/domains/example.com', 'v2'],
    ['/api', 'v2'],
    [`/api/v3/secret/${key}`, 'v2'],
  ] as const)('%s names none', (path, version) => {
    expect(destinationOf(path)).toEqual({ kind: 'api', version, key: null });
  });
});

describe('a path of a page', () => {
  it('names its key, or none', () => {
    for (const segment of ['secret', 'receipt', 'private', 'ask', 'answers'])
      expect(destinationOf(`/${segment}/${key}`)).toEqual({ kind: 'page', key });
    expect(destinationOf(`/receipt/${key}/burn`)).toEqual({ kind: 'page', key });
    for (const path of [
      ...['/', '/recent', '/secret', '/secret/', '/api/docs'],
      ...[`//secret/${key}`, `/apis/v1/secret/${key}`],
    ])
      expect(destinationOf(path)).toEqual({ kind: 'page', key: null });
  });
});

describe('a key in a path', () => {
  const encoded = [...key].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join('');

  it('counts in any percent-encoding, as a region decodes it once', () => {
    expect(labelIn(encoded)).toBe(eu);
    expect(labelIn(encoded.toUpperCase())).toBe(eu);
    expect(labelIn(`%${key.charCodeAt(0).toString(16)}${key.slice(1)}`)).toBe(eu);
  });

  it.each([
    ['encoded twice', encoded.replaceAll('%', '%25')],
    ['in upper case', key.toUpperCase()],
    ['with a dot behind it', `${key}%2e`],
    ['with a blank behind it', `${key}%20`],
    ['cut', key.slice(1)],
    ['cut-off encoding', `${key.slice(1)}%`],
    ['broken UTF-8', `${key}%ff`],
    ['with an encoded slash', `x%2f${key}`],
  ])('is none %s', (_what, segment) => expect(labelIn(segment)).toBeNull());
});

const claims: Readonly<Record<string, string>> = {
  'X-Forwarded-For': '192.0.2.66',
  'X-Forwarded-Host': 'evil.example',
  'X-Forwarded-Proto': 'http',
  'X-Forwarded-Port': '1',
  'X-Forwarded-Prefix': '/evil',
  'X-Forwarded': 'for=192.0.2.66',
  Forwarded: 'for=192.0.2.66',
  'X-Real-IP': '192.0.2.66',
  'X-Client-IP': '192.0.2.66',
  'X-Cluster-Client-IP': '192.0.2.66',
  'True-Client-IP': '192.0.2.66',
  'CF-Connecting-IP': '192.0.2.66',
  'Fastly-Client-IP': '192.0.2.66',
  'X-Host': 'evil.example',
  'X-Original-Host': 'evil.example',
  'X-Original-URL': '/evil',
  'X-Rewrite-URL': '/evil',
  Host: 'evil.example',
  Via: '1.0 evil',
};
const ofTheConnection: Readonly<Record<string, string>> = {
  Connection: 'keep-alive, X-Hop',
  'Keep-Alive': 'timeout=1',
  'Proxy-Connection': 'keep-alive',
  'Proxy-Authorization': 'Basic eDp5',
  TE: 'trailers',
  Trailer: 'X-A',
  'Transfer-Encoding': 'chunked',
  Upgrade: 'h2c',
  'HTTP2-Settings': 'x',
  Expect: '100-continue',
  'Content-Length': '5',
  'X-Hop': 'evil',
};
const forTheRegion: Readonly<Record<string, string>> = {
  Authorization: 'Basic eDp5',
  'Content-Type': 'application/json',
  'Accept-Encoding': 'gzip',
  'Accept-Language': 'de',
  'Secret-Passphrase': 'p%20q',
  'Sec-Fetch-Site': 'cross-site',
  Origin: 'https://app.example',
  'User-Agent': 'a client',
};

const passed = (headers: Readonly<Record<string, string>>) =>
  fieldsForRegion(new Headers(headers), '203.0.113.9', 'mayfly-1') ?? [];
const names = (fields: Fields) => fields.map(([name]) => name);

describe('what a region hears', () => {
  it('is every end-to-end field as it was sent', () => {
    const fields = Object.fromEntries(passed(forTheRegion));
    for (const [name, value] of Object.entries(forTheRegion)) expect(fields[name.toLowerCase()]).toBe(value);
  });

  it('is one client address, whatever the client says of addresses and hosts', () => {
    const fields = passed(claims);
    expect(fields).toEqual([
      ['x-forwarded-for', '203.0.113.9'],
      ['via', '1.0 evil, 1.1 mayfly-1'],
    ]);
  });

  it('is nothing of the connection, named or known', () => {
    expect(names(passed(ofTheConnection))).toEqual(['x-forwarded-for', 'via']);
  });

  it('self-test: a list that lacks any one of these names would be found', () => {
    for (const name of [...Object.keys(claims), ...Object.keys(ofTheConnection)]) {
      const value = { ...claims, ...ofTheConnection }[name] ?? '';
      const forgetful: Fields = [...passed({ [name]: value }), [name.toLowerCase(), value]];
      expect(names(forgetful)).not.toEqual(['x-forwarded-for', 'via']);
    }
  });

  it('still has the client address where Connection names it', () => {
    const fields = passed({ Connection: 'x-forwarded-for, via, close', 'X-Forwarded-For': '192.0.2.66' });
    expect(Object.fromEntries(fields)).toEqual({ 'x-forwarded-for': '203.0.113.9', via: '1.1 mayfly-1' });
  });

  it('is nothing at all where Connection would make a field disappear that the region decides by', () => {
    const fields = [
      'content-type',
      'sec-fetch-site',
      'origin',
      'secret-passphrase',
      'Idempotency-Key',
      'Cookie',
    ];
    for (const name of fields)
      expect([
        name,
        fieldsForRegion(new Headers({ Connection: `close, ${name}` }), '203.0.113.9', 'm'),
      ]).toEqual([name, null]);
  });

  it('is nothing at all where Connection would make credentials disappear', () => {
    for (const options of ['authorization', 'close, Authorization', 'x ,\tAUTHORIZATION'])
      expect(fieldsForRegion(new Headers({ Connection: options }), '203.0.113.9', 'm')).toBeNull();
  });
});
