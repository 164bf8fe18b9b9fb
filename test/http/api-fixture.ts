/**
 * A small API for tests of the HTTP kit: four operations, one account, and limits and a clock that tests control.
 *
 * Everything between the request and the handler is the real kit.
 */

import { builtInRateLimits, type RateLimitTable } from '../../src/config/json-files.ts';
import { type AccountCaller, type AccountId, tokenScopes } from '../../src/core/account.ts';
import { Sensitive } from '../../src/core/sensitive.ts';
import { type ApiDeps, type ApiSurface, createApi } from '../../src/http/api.ts';
import { createClientAddressOf } from '../../src/http/client-address.ts';
import type { Exchange, Operation } from '../../src/http/operation.ts';
import { type AnswerFacts, createFetch } from '../../src/http/pipeline.ts';
import { createRateLimiter } from '../../src/http/rate-limit.ts';
import { proxiesOf } from '../support/settings.ts';

export const token = '0123456789abcdef'.repeat(4);
export const username = 'owner@mayfly.example';
export const key = 'a1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p';
export const basic = (name: string, secret: string) =>
  `Basic ${Buffer.from(`${name}:${secret}`).toString('base64')}`;
export const rightHeader = basic(username, token);

export const owner: AccountCaller = {
  kind: 'account',
  account: {
    id: 7 as AccountId,
    username,
    plan: 'basic',
    locale: null,
    createdAt: 0,
    lockedAt: null,
    notify: [],
    senderName: null,
  },
  dataKey: new Sensitive(new Uint8Array(32)),
  scopes: tokenScopes,
  apiToken: null,
};

const document: Operation['document'] = { summary: '', tag: '', responses: {} };
const echo: Pick<Operation, 'decode' | 'handle' | 'document'> = {
  document,
  decode: () => null,
  handle: (_input, caller, exchange) => ({
    status: 200,
    body: { caller: caller.kind, params: exchange.params, prefix: exchange.clientPrefix },
  }),
};

export function operations(handle: Operation['handle'] = echo.handle): Operation[] {
  return [
    { ...echo, handle, name: 't.status', method: 'GET', path: '/status', access: 'open', limit: 'none' },
    {
      ...echo,
      handle,
      name: 't.create',
      method: 'POST',
      path: '/create',
      access: 'anyone',
      limit: 'create',
      decode: readText,
    },
    {
      ...echo,
      handle,
      name: 't.inspect',
      method: 'GET',
      path: '/secret/:key',
      access: 'anyone',
      limit: 'manage',
    },
    {
      ...echo,
      handle,
      name: 't.change',
      method: 'PATCH',
      path: '/note/:key',
      access: 'anyone',
      limit: 'manage',
      decode: readText,
    },
    { ...echo, handle, name: 't.look', method: 'GET', path: '/note/:key', access: 'anyone', limit: 'manage' },
    { ...echo, handle, name: 't.recent', method: 'GET', path: '/recent', access: 'account', limit: 'manage' },
  ];
}

async function readText(exchange: Exchange): Promise<string> {
  return new TextDecoder().decode(await exchange.body());
}

export interface SetUpOptions extends Partial<ApiDeps> {
  readonly handle?: Operation['handle'];
  readonly surface?: Partial<ApiSurface>;
  readonly limits?: RateLimitTable | 'off';
  readonly origins?: readonly string[];
}

export function setUp({ handle, surface, limits = 'off', origins = [], ...given }: SetUpOptions = {}) {
  const answers: AnswerFacts[] = [];
  const faults: unknown[] = [];
  const lookUps: string[] = [];
  const clock = { nowMs: 0 };
  const trusted = proxiesOf(['127.0.0.1']);
  const deps: ApiDeps = {
    async authenticate(name, secret) {
      lookUps.push(name);
      return name === username && secret === token ? owner : null;
    },
    limiter: createRateLimiter({ table: limits, nowMs: () => clock.nowMs }),
    clientAddressOf: createClientAddressOf(trusted),
    bodyCapBytes: 1_000,
    ownOrigin: 'https://mayfly.example',
    allowedOrigins: new Set(origins),
    onAnswer: (answer) => answers.push(answer),
    onFault: (error) => faults.push(error),
    ...given,
  };
  const whole: ApiSurface = {
    base: '/api/t',
    operations: operations(handle),
    encodeProblem: (problem) => ({ status: statusOf[problem.problem] ?? 500, body: problem }),
    acceptsTrailingSlash: false,
    ...surface,
  };
  const fetch = createFetch([], createApi(whole, deps).serve);
  const ask = async (path: string, init?: RequestInit) => fetch(new Request(`http://localhost${path}`, init));
  return { ask, fetch, answers, faults, lookUps, clock, whole, deps };
}

const statusOf: Record<string, number> = {
  malformed: 400,
  body_too_large: 413,
  not_found: 404,
  method_not_allowed: 405,
  not_authorized: 401,
  cross_site: 403,
  scope_missing: 403,
  rate_limited: 429,
  unavailable: 503,
  storage_full: 507,
  internal: 500,
};

export const post = (body: BodyInit = 'x', headers: Record<string, string> = {}): RequestInit => ({
  method: 'POST',
  body,
  headers,
});
export const withHeader = (authorization: string): RequestInit => ({ headers: { authorization } });

/**
 * An hour allows one anonymous creation and three by an account; `failures` wrong credentials (2), then two per ten
 * minutes.
 */
export function strictLimits(failures = 2): RateLimitTable {
  const one = { limit: 1, windowSeconds: 3_600, burst: 1 };
  return {
    ...builtInRateLimits,
    create: { anonymous: one, account: { ...one, burst: 3 } },
    logIn: {
      ...builtInRateLimits.logIn,
      anonymous: { limit: 2, windowSeconds: 600, burst: Math.max(1, failures) },
    },
  };
}
