/**
 * Calls of v1 in tests, each answer checked against the published contract.
 *
 * A test fails, whatever it looks at, when it gets an answer without the headers that every answer has or, in the
 * documented dialect, with a status or body that the contract does not describe.
 */
import { expect } from 'bun:test';
import { v1Operations } from '../../src/api/v1/operations.ts';
import { createTestApp, type TestAccount, type TestApp, type TestAppOptions } from '../support/app.ts';

/** The JSON of an answer, as a client without types sees it. */
// biome-ignore lint/suspicious/noExplicitAny: tests read whatever the server sent.
export type Json = any;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: Json;
}

export interface CallOptions {
  readonly form?: Readonly<Record<string, string>>;
  readonly as?: TestAccount | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer> | FormData;
}

export interface V1Caller {
  readonly app: TestApp;
  /** `path` is below `/api/v1`. */
  send(method: string, path: string, options?: CallOptions): Promise<Answer>;
  post(path: string, form?: Readonly<Record<string, string>>, as?: TestAccount): Promise<Answer>;
  get(path: string, as?: TestAccount): Promise<Answer>;
  /** The record of a new secret; the call must succeed. */
  share(form?: Readonly<Record<string, string>>, as?: TestAccount): Promise<Json>;
}

export function createV1Caller(options: TestAppOptions = {}): V1Caller {
  const app = createTestApp(options);
  const isDocumented = (options.dialect ?? 'documented') === 'documented';
  async function send(method: string, path: string, call: CallOptions = {}): Promise<Answer> {
    const response = await app.fetch(`/api/v1${path}`, requestOf(method, call));
    const answer = await readAnswer(response);
    expectCommonHeaders(answer);
    if (isDocumented) expectDescribed(app, answer);
    return answer;
  }
  const post: V1Caller['post'] = (path, form = {}, as) => send('POST', path, { form, as });
  return {
    app,
    send,
    post,
    get: (path, as) => send('GET', path, { as }),
    async share(form = {}, as) {
      const answer = await post('/share', { secret: 'a value', ...form }, as);
      expect(answer.status).toBe(200);
      return answer.body;
    },
  };
}

function requestOf(method: string, { form, as, headers = {}, body }: CallOptions): RequestInit {
  const sent = new Headers(headers);
  if (as !== undefined) sent.set('authorization', as.authorization);
  if (method === 'GET' || method === 'HEAD') return { method, headers: sent };
  return { method, headers: sent, body: body ?? new URLSearchParams(form) };
}

async function readAnswer(response: Response): Promise<Answer> {
  const text = await response.text();
  const { status, headers } = response;
  return { status, headers, text, body: text === '' ? null : JSON.parse(text) };
}

const alwaysSent: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex, nofollow, noarchive',
};

/** The headers of every answer, whatever its status (P19). */
function expectCommonHeaders({ headers, status, text }: Answer): void {
  for (const [name, value] of Object.entries(alwaysSent)) expect(headers.get(name)).toBe(value);
  expect(headers.get('x-request-id')).toMatch(/^[0-9a-f]{20}$/);
  expect(headers.get('set-cookie')).toBeNull();
  if (text !== '') expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(headers.get('www-authenticate')).toBe(
    status === 401 ? 'Basic realm="Mayfly", charset="UTF-8"' : null,
  );
}

const operations = Object.values(v1Operations);

function expectDescribed(app: TestApp, { status, headers, body }: Answer): void {
  const facts = app.answers.findLast(({ requestId }) => requestId === headers.get('x-request-id'));
  const operation = operations.find(({ name }) => name === facts?.operation);
  if (operation === undefined || body === null) return;
  const described = operation.document.responses[status];
  if (described === undefined)
    throw new Error(`${operation.name} answers ${status}, which its document leaves out`);
  described.schema.parse(body);
}
