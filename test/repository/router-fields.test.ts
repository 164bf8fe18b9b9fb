/** The router and the regions agree on which header fields of a request matter. */
import { describe, expect, it } from 'bun:test';
import { decisiveFields, fieldsForRegion } from '../../src/router/request.ts';
import { isTest, readSources } from './source-files.ts';

/** Fields that the router sets itself or never forwards, so a client cannot remove them. */
const ofTheRouter = ['connection', 'host', 'content-length', 'expect', 'x-forwarded-for', 'forwarded'];

describe('the fields that a region decides by', () => {
  it('all survive the way through the router', () => {
    const sources = readSources(['src/http', 'src/api']).filter((file) => !isTest(file));
    const read = sources.flatMap(({ text }) =>
      [...text.matchAll(/\bheaders\.(?:get|has)\('([^']+)'\)/g)].map(([, name = '']) => name),
    );
    expect(read).toContain('authorization');
    expect(read).toContain('secret-passphrase');
    const missing = read.filter((name) => !ofTheRouter.includes(name) && !decisiveFields.has(name));
    expect(missing).toEqual([]);
  });

  it('self-test: a field that decides nothing may be named in Connection, and is dropped', () => {
    const headers = new Headers({ connection: 'x-hop', 'x-hop': '1', accept: '*/*' });
    const names = fieldsForRegion(headers, '203.0.113.9', 'm')?.map(([name]) => name);
    expect(names).toEqual(['accept', 'x-forwarded-for', 'via']);
  });
});
