/** An operation is one endpoint as a value: its schemas validate, type and document it. */
import type { ZodObject, ZodType } from 'zod';
import type { Caller, TokenScope } from '../core/account.ts';
import type { IsAbandoned } from '../core/ports/claims.ts';
import type { Problem } from './problem.ts';
import type { LimitRefusal } from './rate-limit.ts';

export const operationMethods = ['GET', 'POST', 'PATCH'] as const;
/** GET answers HEAD too, and changes nothing (P4). */
export type OperationMethod = (typeof operationMethods)[number];

export function mayChange(method: string): boolean {
  return method === 'POST' || method === 'PATCH';
}

export type LimitClass = 'create' | 'manage' | 'none';

/**
 * - `anyone`: anonymous allowed; credentials, if sent, must be right.
 * - `account`: credentials required.
 * - `open`: credentials ignored.
 */
export type Access = 'anyone' | 'account' | 'open';

export interface Exchange {
  readonly request: Request;
  /** Without the query; percent-encoded as received. */
  readonly path: string;
  readonly rawQuery: string;
  readonly params: Readonly<Record<string, string>>;
  readonly requestId: string;
  /** `203.0.113.0/24` or `2001:db8:0:100::/56`; forwarded addresses count from trusted proxies only (P22). */
  readonly clientPrefix: string;
  readonly isAbandoned: IsAbandoned;
  /** Read once, bounded in bytes and time. Throws `RequestProblem('body_too_large')` over the cap. */
  body(): Promise<Uint8Array>;
  /** Counts another call against the operation's limit, for an answer that does several things. `null`: allowed. */
  countAnother(): LimitRefusal | null;
  reportFault(error: unknown): void;
  /** Of the answer, even a refusal. Printable ASCII. */
  setAnswerHeader(name: string, value: string): void;
}

/** `body` is serialised as JSON unless it is `null` (no content) or a `SharedText`, which is JSON already. */
export interface Reply {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly description: string;
  readonly schema: ZodType;
  /** Default: generated from the schema. */
  readonly example?: unknown;
}

export interface OperationDocument {
  readonly summary: string;
  readonly description?: string;
  readonly tag: string;
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: ZodObject;
  readonly headers?: ZodObject;
  /** For the OpenAPI document: headers that any answer may carry. */
  readonly answerHeaders?: readonly string[];
  readonly body?: {
    readonly schema: ZodType;
    readonly required: boolean;
    readonly contentTypes: readonly string[];
  };
  readonly responses: Readonly<Record<number, Answer>>;
}

/**
 * `decode` and `handle` are methods, which TypeScript compares bivariantly, so that operations of different inputs fit one list. This is
 * sound: the pipeline passes `handle` only the result of the same operation's `decode`.
 */
export interface Operation<Input = unknown> {
  /** Unique, `v2.conceal`: the OpenAPI operationId and the metric's label. */
  readonly name: string;
  readonly method: OperationMethod;
  /** Below the API's base, with `:name` for a segment. */
  readonly path: string;
  readonly aliases?: readonly { readonly method: OperationMethod; readonly path: string }[];
  readonly access: Access;
  /** What an account's token must allow; absent: any token. Anonymous callers need none. */
  readonly scope?: TokenScope;
  readonly limit: LimitClass;
  /** The largest body, if it is not the API's default. */
  readonly bodyCapBytes?: number | ((caller: Caller) => number);
  readonly document: OperationDocument;
  /** Throws `RequestProblem`. Runs after admission, and is the first to touch the body. */
  decode(exchange: Exchange): Input | Promise<Input>;
  handle(input: Input, caller: Caller, exchange: Exchange): Promise<Reply> | Reply;
}

export type Exposure = Pick<Operation, 'method' | 'aliases' | 'scope' | 'limit'> & {
  readonly access: Access | 'manager';
  readonly document: Omit<OperationDocument, 'responses'>;
};

export const takesGuess = ({ document }: Pick<Exposure, 'document'>): boolean =>
  document.query?.shape.passphrase !== undefined;

/** @param readsBody true also for operations that document no body, such as every POST of v1 */
export function problemsOf(
  { method, aliases = [], access, scope, limit, document }: Exposure,
  readsBody = document.body !== undefined,
): readonly Problem['problem'][] {
  const { query, headers, params } = document;
  const hasInput = [query, headers, params].some((part) => part !== undefined) || readsBody;
  const changes = [method, ...aliases.map((alias) => alias.method)].some(mayChange);
  const applies: readonly (readonly [Problem['problem'], boolean])[] = [
    ['malformed', hasInput],
    ['not_authorized', access !== 'open'],
    ['scope_missing', scope !== undefined],
    ['cross_site', changes || takesGuess({ document })],
    ['method_not_allowed', true],
    ['body_too_large', readsBody],
    ['unsupported_media_type', readsBody],
    ['invalid_fields', readsBody],
    // Wrong credentials always count.
    ['rate_limited', limit !== 'none' || access !== 'open'],
    ['internal', true],
    ['unavailable', true],
    ['storage_full', limit === 'create'],
  ];
  return applies.filter(([, isPossible]) => isPossible).map(([problem]) => problem);
}
