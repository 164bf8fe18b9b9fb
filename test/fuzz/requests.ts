/**
 * Requests for the fuzzer, made from the OpenAPI document: valid, nearly valid and hostile.
 *
 * Keys are chosen by number here and filled in when the request is sent, because they only exist then.
 */
import fc from 'fast-check';
import type { JsonSchema, Method, OpenApiDocument, OperationObject, Parameter } from '../v2/openapi-types.ts';
import { methods } from '../v2/openapi-types.ts';
import { hostileTexts, hostileValues, nearlyValid, validValues } from './values.ts';

/** The value of a placeholder in a path: a key, or the name of a domain. */
export type KeyChoice =
  | { readonly kind: 'live'; readonly number: number }
  /** A control secret's key: used only with methods that must not consume. */
  | { readonly kind: 'control'; readonly number: number }
  | { readonly kind: 'text'; readonly segment: string };

export type Credentials = 'none' | 'right' | 'wrong' | 'broken';

export interface WantedRequest {
  readonly method: string;
  /** With placeholders in braces. */
  readonly path: string;
  readonly key: KeyChoice;
  readonly query: string;
  readonly credentials: Credentials;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array<ArrayBuffer> | null;
  /** How far the clock moves before the request. */
  readonly pauseSeconds: number;
}

export function requestsFor(document: OpenApiDocument): fc.Arbitrary<WantedRequest> {
  const endpoints = Object.entries(document.paths).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const operation = item[method];
      return operation === undefined ? [] : [{ method, path, operation }];
    }),
  );
  const each = endpoints.map((endpoint) => ({
    weight: weightOf(endpoint),
    arbitrary: requestFor(endpoint, document),
  }));
  return fc.oneof(...each, { weight: 8, arbitrary: strayRequest(Object.keys(document.paths)) });
}

/** Aliases (whose id has a number) and HEAD come seldom; requests that change something come often. */
function weightOf({ method, operation }: EndpointOf): number {
  if (/\.\d+$/.test(operation.operationId)) return 1;
  return mayChange(method) ? 12 : 4;
}

const mayChange = (method: Method): boolean => method === 'post' || method === 'patch';

interface EndpointOf {
  readonly method: Method;
  readonly path: string;
  readonly operation: OperationObject;
}

function requestFor(
  { method, path, operation }: EndpointOf,
  document: OpenApiDocument,
): fc.Arbitrary<WantedRequest> {
  const safe = !mayChange(method);
  return fc
    .record({
      method: fc.constant(method.toUpperCase()),
      path: fc.constant(path),
      key: keys(safe),
      query: queries(operation.parameters ?? [], document),
      credentials: credentialsFor(operation),
      headers: headersFor(operation),
      body: fc.constant(null),
      pauseSeconds: fc.nat(1_000).map((chance) => (chance < 950 ? 0 : 1)),
    })
    .chain((request) => (safe ? fc.constant(request) : withBody(request, operation, document)));
}

function keys(safe: boolean): fc.Arbitrary<KeyChoice> {
  // Smaller numbers come more often, so that one secret gets several calls.
  const number = fc.oneof(fc.nat(3), fc.nat(63));
  const live = number.map((chosen): KeyChoice => ({ kind: 'live', number: chosen }));
  const control = fc.nat(1).map((chosen): KeyChoice => ({ kind: 'control', number: chosen }));
  const text = hostileSegments.map((segment): KeyChoice => ({ kind: 'text', segment }));
  const others = safe ? [{ weight: 2, arbitrary: control }] : [];
  return fc.oneof({ weight: 6, arbitrary: live }, { weight: 2, arbitrary: text }, ...others);
}

const hostileSegments: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    '%',
    '%zz',
    '%00',
    '%2e%2e',
    '%2f',
    '%ED%A0%80',
    '%C0%80',
    '%ff',
    '..',
    '.',
    'recent',
    'conceal',
    ';a=b',
    '~',
  ),
  fc.constantFrom(
    '0'.repeat(31),
    'A'.repeat(31),
    'a'.repeat(30),
    'a'.repeat(5_000),
    '+',
    '%20',
    ' ',
    '\\',
    ':key',
    '*',
  ),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }).map(encodeURIComponent),
);

function credentialsFor(operation: OperationObject): fc.Arbitrary<Credentials> {
  const needed = operation.security.length > 0 && operation.security.every((way) => 'basic' in way);
  const rest = needed ? 'right' : 'none';
  return fc.oneof(
    { weight: 8, arbitrary: fc.constant<Credentials>('right') },
    { weight: 6, arbitrary: fc.constant<Credentials>(rest) },
    { weight: 2, arbitrary: fc.constantFrom<Credentials>('none', 'wrong', 'broken') },
  );
}

function queries(parameters: readonly Parameter[], document: OpenApiDocument): fc.Arbitrary<string> {
  const named = parameters.filter((parameter) => parameter.in === 'query');
  const model = Object.fromEntries(
    named.map(({ name, schema }) => [name, validValues(schema, document.components.schemas)]),
  );
  const valid = fc.record(model, { requiredKeys: [] }).map((values) => formText(values));
  const spoiled = fc
    .tuple(
      fc.constantFrom(
        'passphrase',
        'limit',
        'cursor',
        'secret',
        'ttl',
        'x',
        ...named.map(({ name }) => name),
      ),
      hostileTexts,
    )
    .map(([name, text]) => formText({ [name]: text }));
  const raw = fc.constantFrom(
    '%',
    'limit=%zz',
    'passphrase=%',
    '&&&',
    '=',
    'a&a',
    'limit=1&limit=2',
    'passphrase[]=x',
    '?',
    '%00=%00',
  );
  return fc.oneof(
    { weight: 6, arbitrary: valid },
    { weight: 2, arbitrary: spoiled },
    { weight: 1, arbitrary: raw },
  );
}

function headersFor(operation: OperationObject): fc.Arbitrary<Record<string, string>> {
  const hasPassphrase = operation.parameters?.some((parameter) => parameter.in === 'header') ?? false;
  const passphrase = fc.constantFrom(
    'hello',
    'p%C3%A4ssword',
    '%',
    '%zz',
    '%ff',
    '',
    ' ',
    '\u00e4',
    'a'.repeat(5_000),
  );
  const unusual = fc.constantFrom<Record<string, string>>(
    { 'sec-fetch-site': 'cross-site' },
    { origin: 'https://evil.example' },
    { 'x-forwarded-for': "1.2.3.4, ' OR 1" },
    { accept: 'text/html' },
    { 'idempotency-key': 'x' },
    { 'content-encoding': 'gzip' },
    { 'x-http-method-override': 'DELETE' },
  );
  const stray = fc.oneof({ weight: 6, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: unusual });
  if (!hasPassphrase) return stray;
  return fc
    .tuple(stray, fc.option(passphrase))
    .map(([headers, text]) => (text === null ? headers : { ...headers, 'secret-passphrase': text }));
}

const jsonType = 'application/json';
const formType = 'application/x-www-form-urlencoded';
const multipartType = 'multipart/form-data';

function withBody(
  request: WantedRequest,
  operation: OperationObject,
  document: OpenApiDocument,
): fc.Arbitrary<WantedRequest> {
  const content = Object.entries(operation.requestBody?.content ?? {});
  const none = fc.constant(request);
  const hostile = fc
    .tuple(contentTypes, hostileBodies)
    .map(([type, body]) => ({ ...request, body, headers: typed(request, type) }));
  const told = content.map(([type, { schema }]) => {
    if (type.startsWith('image/'))
      return pictures.map((body) => ({ ...request, body, headers: typed(request, type) }));
    const { schemas } = document.components;
    const valid = validValues(schema, schemas);
    const spoiled = nearlyValid(valid, fieldNames(schema, schemas));
    const values = fc.oneof(
      { weight: 3, arbitrary: valid },
      { weight: 3, arbitrary: spoiled },
      hostileValues,
    );
    return fc.tuple(values, fc.nat(40)).map(([value, slip]) => serialised(request, type, value, slip));
  });
  return fc.oneof(
    ...told.map((arbitrary) => ({ weight: 6, arbitrary })),
    { weight: 2, arbitrary: hostile },
    { weight: 1, arbitrary: none },
  );
}

function fieldNames(schema: JsonSchema, schemas: Readonly<Record<string, JsonSchema>>): readonly string[] {
  if (typeof schema.$ref === 'string')
    return fieldNames(schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}, schemas);
  if (Array.isArray(schema.anyOf))
    return schema.anyOf.flatMap((member: JsonSchema) => fieldNames(member, schemas));
  return Object.keys((schema.properties ?? {}) as object);
}

function typed(request: WantedRequest, type: string | null): Record<string, string> {
  return type === null ? { ...request.headers } : { ...request.headers, 'content-type': type };
}

/** @param slip 0: the text is cut off; 1: it gets a prototype; otherwise it is complete */
function serialised(request: WantedRequest, type: string, value: unknown, slip: number): WantedRequest {
  if (type === jsonType) {
    const text = JSON.stringify(value);
    const body =
      slip === 0 ? text.slice(0, -1) : slip === 1 ? text.replace(/^\{(?=")/, '{"__proto__":{"x":1},') : text;
    return { ...request, body, headers: typed(request, type) };
  }
  if (type === formType) {
    const body = formText(value);
    return { ...request, body, headers: typed(request, slip === 0 ? null : type) };
  }
  const boundary = 'fuzz-boundary';
  const text = multipartText(value, boundary);
  const body = slip === 0 ? text.slice(0, -10) : text;
  return { ...request, body, headers: typed(request, `${multipartType}; boundary=${boundary}`) };
}

function formText(value: unknown): string {
  return fieldsOf(value)
    .map(([name, text]) => `${encodeURIComponent(name)}=${encodeURIComponent(text)}`)
    .join('&');
}

function multipartText(value: unknown, boundary: string): string {
  const parts = fieldsOf(value).map(
    ([name, text]) =>
      `--${boundary}\r\nContent-Disposition: form-data; name="${name.replace(/[\r\n"]/g, '_')}"\r\n\r\n${text}\r\n`,
  );
  return `${parts.join('')}--${boundary}--\r\n`;
}

function fieldsOf(value: unknown): readonly (readonly [string, string])[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, field]) =>
    Array.isArray(field)
      ? field.map((item) => [`${name}[]`.toWellFormed(), textOf(item)] as const)
      : [[name.toWellFormed(), textOf(field)] as const],
  );
}

function textOf(value: unknown): string {
  return (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).toWellFormed();
}

const contentTypes: fc.Arbitrary<string | null> = fc.constantFrom(
  jsonType,
  'application/json; charset=utf-8',
  'application/json; charset=utf-16',
  formType,
  multipartType,
  `${multipartType}; boundary=x`,
  `${multipartType}; boundary=`,
  'text/plain',
  'application/xml',
  'application/json, text/html',
  '/',
  'a'.repeat(2_000),
  null,
);

const drawing = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><path d="M0 0h1v1z"/></svg>';

/** Mostly a valid picture; otherwise something that only looks like one, or does not. */
const pictures: fc.Arbitrary<string | Uint8Array<ArrayBuffer>> = fc.oneof(
  { weight: 2, arbitrary: fc.constant(drawing) },
  fc.constantFrom(
    drawing.replace('<path', '<script/><path'),
    drawing.slice(0, -3),
    '\u0089PNG\r\n',
    'GIF89a',
    '',
    'a'.repeat(300_000),
  ),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Uint8Array.from(bytes)),
);

const hostileBodies: fc.Arbitrary<string | Uint8Array<ArrayBuffer>> = fc.oneof(
  fc.constantFrom(
    '',
    '{',
    '[',
    '{}{}',
    '{"secret":',
    'null',
    '"x"',
    '5',
    '{"secret":"x",}',
    '\ufeff{"secret":"bom"}',
    '// x',
  ),
  fc.constantFrom(
    'secret=%',
    'secret=%ff',
    'secret=a&secret=b',
    'secret[]=a',
    'secret[x]=a',
    '&&==&',
    '=x',
    '--x\r\n\r\n--x--',
    '--x',
  ),
  fc.constantFrom(
    '['.repeat(20_000),
    '{"a":'.repeat(10_000),
    `{"secret":"${'a'.repeat(200_000)}"}`,
    'a=b&'.repeat(15_000),
  ),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Uint8Array.from(bytes)),
  fc.string({ unit: 'binary', maxLength: 100 }).map((text) => text.toWellFormed()),
);

/** Paths and methods that the document does not have. */
function strayRequest(paths: readonly string[]): fc.Arbitrary<WantedRequest> {
  const stray = fc.oneof(
    fc.constantFrom(
      '/api',
      '/api/',
      '/api/v1',
      '/api/v2/',
      '/api/v3/status',
      '//api/v2/status',
      '/api/v2//status',
      '/api/v2/secret/',
      '/api/v2/status/',
      '/api/v1/status/',
      '/API/v2/status',
      '/api/v2/secret/{key}/nothing',
      '/api/v2/%2e%2e/v1/status',
    ),
    fc.constantFrom(...paths),
    fc.constantFrom(...paths).map((path) => `${path}/`),
    fc.constantFrom(...paths).map((path) => `${path}/x`),
  );
  return fc.record({
    method: fc.constantFrom('PUT', 'DELETE', 'PATCH', 'OPTIONS', 'GET', 'HEAD', 'PROPFIND', 'get'),
    path: stray,
    key: keys(true),
    query: fc.constantFrom('', 'x=1', '%'),
    credentials: fc.constantFrom<Credentials>('none', 'right', 'wrong'),
    headers: fc.constantFrom<Record<string, string>>(
      {},
      { origin: 'null', 'access-control-request-method': 'POST' },
    ),
    body: fc.constant(null),
    pauseSeconds: fc.constant(0),
  });
}
