/**
 * Owns: the proof that a region hears one client address, the router's own finding, and nothing else that a client says of
 * addresses, hosts or the connection (RFC 9110 §7.6).
 */
import { describe, expect, it } from 'bun:test';
import { type Fields, fieldsForRegion } from './fields.ts';

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
