/** An operation is one endpoint as a value: its schemas validate, type and document the endpoint. */
import type { ZodObject, ZodType } from 'zod';
import type { Caller, TokenScope } from '../core/account.ts';
import type { IsAbandoned } from '../core/ports/claims.ts';
import type { Problem } from './problem.ts';
import type { LimitRefusal } from './rate-limit.ts';

export const operationMethods = ['GET', 'POST', 'PATCH'] as const;
/** GET also serves HEAD, and changes nothing (P4). */
export type OperationMethod = (typeof operationMethods)[number];

export function mayChange(method: string): boolean {
  return method === 'POST' || method === 'PATCH';
}

export type LimitClass = 'create' | 'manage' | 'none';

/**
 * - `anyone`: anonymous callers allowed; credentials, if sent, must be valid.
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
  /** `203.0.113.0/24` or `2001:db8:0:100::/56`; forwarded addresses count only from trusted proxies (P22). */
  readonly clientPrefix: string;
  readonly isAbandoned: IsAbandoned;
  /** Reads the body once, bounded in bytes and time. Throws `RequestProblem('body_too_large')` over the cap. */
  body(): Promise<Uint8Array>;
  /** Counts one more call against the operation's limit, for a request that does several things. Returns `null` if allowed. */
  countAnother(): LimitRefusal | null;
  reportFault(error: unknown): void;
  /** Sets a header of any response, even a refusal. Printable ASCII only. */
  setAnswerHeader(name: string, value: string): void;
}

/** `body` is serialised as JSON unless it is `null` (no content) or a `SharedText`, which is already JSON. */
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
  /** For the OpenAPI document: headers that any response may carry. */
  readonly answerHeaders?: readonly string[];
  readonly body?: {
    readonly schema: ZodType;
    readonly required: boolean;
    readonly contentTypes: readonly string[];
  };
  readonly responses: Readonly<Record<number, Answer>>;
}

/**
 * `decode` and `handle` are methods, which TypeScript compares bivariantly, so that operations with different inputs fit in one list. This
 * is sound: the pipeline passes `handle` only the result of the same operation's `decode`.
 */
export interface Operation<Input = unknown> {
  /** Unique, such as `v2.conceal`: the OpenAPI operationId and the metric's label. */
  readonly name: string;
  readonly method: OperationMethod;
  /** Relative to the API's base, with `:name` for a parameter. */
  readonly path: string;
  readonly aliases?: readonly { readonly method: OperationMethod; readonly path: string }[];
  readonly access: Access;
  /** The scope that an account's token must have; absent: any token will do. Anonymous callers need none. */
  readonly scope?: TokenScope;
  readonly limit: LimitClass;
  /** The largest body accepted, if not the API's default. */
  readonly bodyCapBytes?: number | ((caller: Caller, params: Exchange['params']) => number | Promise<number>);
  readonly document: OperationDocument;
  /** Runs after admission, and is the first to read the body. Throws `RequestProblem`. */
  decode(exchange: Exchange): Input | Promise<Input>;
  handle(input: Input, caller: Caller, exchange: Exchange): Promise<Reply> | Reply;
}

export type Exposure = Pick<Operation, 'method' | 'aliases' | 'scope' | 'limit'> & {
  readonly access: Access | 'manager';
  readonly document: Omit<OperationDocument, 'responses'>;
};

export const takesGuess = ({ document }: Pick<Exposure, 'document'>): boolean =>
  document.query?.shape.passphrase !== undefined;

/** @param readsBody also true for operations that document no body, such as every POST of v1 */
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
    // Wrong credentials always count against a limit.
    ['rate_limited', limit !== 'none' || access !== 'open'],
    ['internal', true],
    ['unavailable', true],
    ['storage_full', limit === 'create'],
  ];
  return applies.filter(([, isPossible]) => isPossible).map(([problem]) => problem);
}
