/** The router and the regions agree on which fields of a request decide something. */
import { describe, expect, it } from 'bun:test';
import { decisiveFields, fieldsForRegion } from '../../src/router/request.ts';
import { isTest, readSources } from './source-files.ts';

/** What the router writes itself for the next connection, or never hands on: nothing of it is for a client to remove. */
const ofTheRouter = ['connection', 'host', 'content-length', 'expect', 'x-forwarded-for', 'forwarded'];

describe('the fields that a region decides by', () => {
  it('are all kept from disappearing on the way through the router', () => {
    const sources = readSources(['src/http', 'src/api']).filter((file) => !isTest(file));
    const read = sources.flatMap(({ text }) =>
      [...text.matchAll(/\bheaders\.(?:get|has)\('([^']+)'\)/g)].map(([, name = '']) => name),
    );
    expect(read).toContain('authorization');
    expect(read).toContain('secret-passphrase');
    const missing = read.filter((name) => !ofTheRouter.includes(name) && !decisiveFields.has(name));
    expect(missing).toEqual([]);
  });

  it('self-test: a field of no meaning may be named, and disappears', () => {
    const headers = new Headers({ connection: 'x-hop', 'x-hop': '1', accept: '*/*' });
    const names = fieldsForRegion(headers, '203.0.113.9', 'm')?.map(([name]) => name);
    expect(names).toEqual(['accept', 'x-forwarded-for', 'via']);
  });
});
