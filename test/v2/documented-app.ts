/**
 * The test app, whose every answer is checked against its own OpenAPI document.
 *
 * An answer is a finding when it has an undocumented status, a body that breaks its schema or has a field that no
 * schema names, or lacks the headers of every answer. The document's schemas are closed here, so that no field is added
 * unnoticed.
 */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { buildDocument } from '../../src/api/openapi/document.ts';
import { createV1 } from '../../src/api/v1/operations.ts';
import { createV2 } from '../../src/api/v2/service.ts';
import { builtInPlans } from '../../src/core/plans.ts';
import { systemClock } from '../../src/core/time.ts';
import type { ApiSurface } from '../../src/http/api.ts';
import { createTestApp, type TestApp, type TestAppOptions } from '../support/app.ts';
import { asSent, type Method, type OpenApiDocument } from './openapi-types.ts';

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

/** The parts that the surfaces are built from. */
type DocumentedParts = Pick<TestApp, 'service' | 'requests' | 'domains' | 'links'>;

/** What is wrong with an answer; empty when nothing is. */
export type Judge = (method: string, path: string, answer: Answer) => readonly string[];

export function surfacesOf(app: DocumentedParts): readonly ApiSurface[] {
  const { service, requests, domains, links } = app;
  return [
    createV1({ service, links, dialect: 'documented', defaultLocale: 'en' }),
    createV2({
      service,
      requests,
      domains,
      links,
      plans: builtInPlans,
      dialect: 'documented',
      version: '0.1.0',
      locales: ['en'],
      defaultLocale: 'en',
      mailLocaleOf: () => 'en',
      region: null,
      clock: systemClock,
    }),
  ];
}

export async function documentOf(app: DocumentedParts): Promise<OpenApiDocument> {
  const info = { version: '0.1.0', baseUrl: app.links.baseUrl };
  return asSent(await buildDocument(surfacesOf(app), info, true));
}

const documentId = 'https://mayfly.example/openapi.json';

export function createJudge(document: OpenApiDocument): Judge {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  ajv.addSchema({ $id: documentId, ...document });
  const templates = Object.keys(document.paths).map((path) => ({ path, form: formOf(path) }));
  const validators = new Map<string, ValidateFunction>();

  function validatorFor(reference: string): ValidateFunction {
    const known = validators.get(reference);
    if (known !== undefined) return known;
    const $ref = `${documentId}${reference}/content/application~1json/schema`;
    const validate = ajv.compile({ $ref });
    validators.set(reference, validate);
    return validate;
  }

  /** The most literal template wins, as it does in the router. */
  function itemFor(path: string) {
    const found = templates.filter(({ form }) => form.test(path));
    found.sort((a, b) => placeholders(a.path) - placeholders(b.path));
    const [best] = found;
    return best === undefined ? undefined : document.paths[best.path];
  }

  return (method, path, answer) => {
    const findings = [...commonFindings(answer)];
    if (method === 'OPTIONS') return findings;
    const item = itemFor(path.split('?')[0] ?? '');
    if (item === undefined) return answer.status === 404 ? findings : [...findings, 'unknown path, not 404'];
    const operation = item[method.toLowerCase() as Method];
    if (operation === undefined) {
      // A wrong method is not an operation, so the other methods of its path decide the answer.
      return answer.status === 405 && answer.headers.has('allow')
        ? findings
        : [...findings, 'wrong method, not 405'];
    }
    const reference = operation.responses[String(answer.status)]?.$ref;
    if (reference === undefined) return [...findings, `status ${answer.status} is not documented`];
    for (const name of Object.keys(headersAt(document, reference))) {
      if (!answer.headers.has(name) && !onlySometimes.has(name))
        findings.push(`the header ${name} is missing`);
    }
    if (method === 'HEAD') return answer.text === '' ? findings : [...findings, 'HEAD has a body'];
    const validate = validatorFor(reference);
    if (!validate(JSON.parse(answer.text))) findings.push(ajv.errorsText(validate.errors));
    return findings;
  };
}

/**
 * A refusal for too many passphrase attempts has neither of the first two; the last is only there when something was
 * ignored.
 */
const onlySometimes = new Set(['RateLimit', 'RateLimit-Policy', 'Mayfly-Ignored']);

function headersAt(document: OpenApiDocument, reference: string) {
  return document.components.responses[reference.split('/').at(-1) ?? '']?.headers ?? {};
}

function formOf(path: string): RegExp {
  const literal = path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+');
  // Version 1 takes a slash at the end of a path without a key.
  return new RegExp(`^${literal}${path.startsWith('/api/v1/') && !path.includes('{') ? '/?' : ''}$`);
}

function placeholders(path: string): number {
  return path.split('{').length - 1;
}

const alwaysSent: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex, nofollow, noarchive',
};

function* commonFindings({ status, text, headers }: Answer): Generator<string> {
  for (const [name, value] of Object.entries(alwaysSent)) {
    if (headers.get(name) !== value) yield `${name} is ${headers.get(name)}`;
  }
  if (!headers.has('x-request-id')) yield 'no request id';
  if (status >= 500) yield `status ${status}`;
  if (text !== '' && headers.get('content-type') !== 'application/json; charset=utf-8') yield 'not JSON';
}

export interface Call {
  readonly method?: string;
  /** Sent as JSON unless it is bytes or `contentType` says otherwise. */
  readonly json?: unknown;
  readonly raw?: string | Uint8Array<ArrayBuffer>;
  readonly contentType?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Set when the case expects a 5xx. */
  readonly faultExpected?: boolean;
}

export interface Told {
  readonly status: number;
  /** Checked by its schema, and freely accessible to the tests. */
  readonly body: ReturnType<typeof JSON.parse>;
  readonly headers: Headers;
}

export interface DocumentedApp extends TestApp {
  /** Calls a path below `/api/v2`; throws when the answer is not as documented. */
  call(path: string, call?: Call): Promise<Told>;
}

/** Shared, because the document is the same whatever the options, and compiling its schemas takes a tenth of a second. */
let sharedJudge: Promise<Judge> | null = null;

export function createDocumentedApp(options: TestAppOptions = {}): DocumentedApp {
  const app = createTestApp(options);
  sharedJudge ??= documentOf(app).then(createJudge);
  const judging = sharedJudge;
  return {
    ...app,
    async call(path, call = {}) {
      const url = `/api/v2${path}`;
      const method = call.method ?? (call.json === undefined && call.raw === undefined ? 'GET' : 'POST');
      const response = await app.fetch(url, { method, headers: headersFor(call), ...bodyFor(call) });
      const text = await response.text();
      const { status, headers } = response;
      const judge = await judging;
      const findings = judge(method, url, { status, text, headers });
      const unexpected = findings.filter(
        (finding) => !(call.faultExpected && finding === `status ${status}`),
      );
      if (unexpected.length > 0)
        throw new Error(`${method} ${url} answered ${status}: ${unexpected.join('; ')}\n${text}`);
      return { status, body: text === '' ? null : JSON.parse(text), headers };
    },
  };
}

function headersFor({ json, raw, contentType, headers = {} }: Call): Record<string, string> {
  if (contentType === null || (json === undefined && raw === undefined)) return { ...headers };
  return { 'content-type': contentType ?? 'application/json', ...headers };
}

function bodyFor({ json, raw, contentType }: Call): RequestInit {
  if (json !== undefined) return { body: JSON.stringify(json) };
  if (raw === undefined) return {};
  // A string would get a default content type.
  return { body: typeof raw === 'string' && contentType === null ? new TextEncoder().encode(raw) : raw };
}
