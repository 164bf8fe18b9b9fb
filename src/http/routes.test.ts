import { describe, expect, it } from 'bun:test';
import { paramsOf, waysTo } from './api.ts';
import type { Operation } from './operation.ts';
import { RequestProblem } from './problem.ts';
import { createRouteTable, decodeLeniently } from './routes.ts';

function operation(
  name: string,
  method: Operation['method'],
  path: string,
  aliases: Operation['aliases'] = [],
): Operation {
  return {
    name,
    method,
    path,
    aliases,
    access: 'open',
    limit: 'none',
    document: { summary: '', tag: '', responses: {} },
    decode: () => null,
    handle: () => ({ status: 200, body: null }),
  };
}

const operations = [
  operation('create', 'POST', '/share', [{ method: 'POST', path: '/create' }]),
  operation('recent', 'GET', '/private/recent'),
  operation('find', 'GET', '/private/:key', [{ method: 'GET', path: '/receipt/:key' }]),
  operation('view', 'POST', '/private/:metadata_key'),
  operation('burn', 'POST', '/private/:key/burn'),
  operation('change', 'PATCH', '/receipt/:id'),
];
const exact = { trailingSlash: false, encodedLetters: false };
const table = createRouteTable('/api/v1', operations.flatMap(waysTo), {
  trailingSlash: true,
  encodedLetters: false,
});

function served(
  path: string,
): { get?: string; post?: string; patch?: string; allow: string; values: readonly string[] } | null {
  const match = table.match(path);
  if (match === null) return null;
  const { get, post, patch, allow } = match.route;
  const names = {
    ...(get && { get: get.target.name }),
    ...(post && { post: post.target.name }),
    ...(patch && { patch: patch.target.name }),
  };
  return { ...names, allow, values: match.values };
}

describe('createRouteTable', () => {
  it('finds a path without parameters, its alias, and both with a slash at the end', () => {
    const found = { post: 'create', allow: 'POST, OPTIONS', values: [] };
    for (const path of ['/share', '/share/', '/create', '/create/'])
      expect(served(`/api/v1${path}`)).toEqual(found);
  });

  it('lets a literal go before a parameter', () => {
    expect(served('/api/v1/private/recent')).toEqual({
      get: 'recent',
      allow: 'GET, HEAD, OPTIONS',
      values: [],
    });
    expect(served('/api/v1/private/recent/burn')).toMatchObject({ post: 'burn', values: ['recent'] });
  });

  it('joins the methods of one path, each with its own parameter names', () => {
    const both = { get: 'find', post: 'view', allow: 'GET, HEAD, POST, OPTIONS', values: ['abc'] };
    expect(served('/api/v1/private/abc')).toEqual(both);
    const route = table.match('/api/v1/private/abc')?.route;
    expect([route?.get?.paramNames, route?.post?.paramNames]).toEqual([['key'], ['metadata_key']]);
  });

  it('joins PATCH to what its path answers', () => {
    const both = { get: 'find', patch: 'change', allow: 'GET, HEAD, PATCH, OPTIONS', values: ['abc'] };
    expect(served('/api/v1/receipt/abc')).toEqual(both);
    expect(table.match('/api/v1/receipt/abc')?.route.patch?.paramNames).toEqual(['id']);
  });

  it.each([
    '/api/v1',
    '/api/v1/',
    '/api/v1/shar',
    '/api/v1/share//',
    '/api/v1//share',
    '/api/v1/private',
    '/api/v1/private/',
    '/api/v1/private//burn',
    '/api/v1/private/abc/',
    '/api/v1/private/abc/burn/',
    '/api/v1/private/abc/burn/x',
    '/api/v1/s%68are',
    '/api/v10/share',
    '/share',
    '/',
    '',
  ])('knows no %j', (path) => {
    expect(table.match(path)).toBeNull();
  });

  it('never divides a segment at an encoded slash', () => {
    expect(served('/api/v1/private/abc%2Fburn')).toMatchObject({ get: 'find', values: ['abc%2Fburn'] });
  });

  it('accepts no slash at the end where the API does not', () => {
    const strict = createRouteTable('/api/v2', operations.flatMap(waysTo), exact);
    expect(strict.match('/api/v2/share')).not.toBeNull();
    expect(strict.match('/api/v2/share/')).toBeNull();
  });

  it('refuses to be built with two operations in one place', () => {
    const twice = [operation('a', 'GET', '/x/:a'), operation('b', 'GET', '/x/:b')];
    expect(() => createRouteTable('', twice.flatMap(waysTo), exact)).toThrow('GET /x/:b is served twice');
  });
});

describe('paramsOf', () => {
  const endpoint = { target: operation('find', 'GET', '/private/:key'), paramNames: ['key'] };

  it('percent-decodes each parameter once', () => {
    expect(paramsOf(endpoint, ['abc'])).toEqual({ key: 'abc' });
    expect(paramsOf(endpoint, ['a%2Fb%252F%C3%A9'])).toEqual({ key: 'a/b%2Fé' });
  });

  it.each(['%', '%zz', '%C3', '%ff', 'abc%2'])('calls %j malformed', (segment) => {
    expect(() => paramsOf(endpoint, [segment])).toThrow(RequestProblem);
  });
});

describe('letters that are percent-encoded', () => {
  const lenient = createRouteTable('', operations.flatMap(waysTo), {
    trailingSlash: false,
    encodedLetters: true,
  });

  it('are another spelling of the same path where a table says so', () => {
    expect(lenient.match('/%73hare')?.route.post?.target.name).toBe('create');
    expect(lenient.match('/priv%61te/abc')?.values).toEqual(['abc']);
    expect(lenient.match('/private%2Fabc')).toBeNull();
  });

  it.each([
    ['abc', 'abc'],
    ['%61bc', 'abc'],
    ['a%2Fb', 'a/b'],
    ['%2561', '%61'],
    ['%C3%A9', 'é'],
    ['%', '%'],
    ['%zz%41', '%zzA'],
    ['%2%65', '%2e'],
    ['%ff%41', '%ff%41'],
  ])('in a segment, %j, are decoded once, and what does not decode stays', (segment, decoded) => {
    expect(decodeLeniently(lenient.match(`/private/${segment}`)?.values[0] ?? '')).toBe(decoded);
  });
});
