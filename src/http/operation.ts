/**
 * An operation is one endpoint as a value: its schemas validate, type and document it, so that nothing about an endpoint
 * is written twice.
 */
import type { ZodObject, ZodType } from 'zod';
import type { Caller, TokenScope } from '../core/account.ts';
import type { IsAbandoned } from '../core/ports/claims.ts';
import type { Problem } from './problem.ts';
import type { LimitRefusal } from './rate-limit.ts';

export const operationMethods = ['GET', 'POST', 'PATCH'] as const;
/** GET answers HEAD too, and changes nothing (P4). */
export type OperationMethod = (typeof operationMethods)[number];

/** Whether a request by this method may change something. */
export function mayChange(method: string): boolean {
  return method === 'POST' || method === 'PATCH';
}

/** Which limit of `http/rate-limit.ts` a call counts against. */
export type LimitClass = 'create' | 'manage' | 'none';

/**
 * - `anyone`: anonymous allowed; credentials that are sent must be right.
 * - `account`: credentials needed.
 * - `open`: credentials are not looked at.
 */
export type Access = 'anyone' | 'account' | 'open';

/** One request as a handler may see it. The body is read once, bounded in bytes and time. */
export interface Exchange {
  readonly request: Request;
  /** The path without the query, percent-encoded as received. */
  readonly path: string;
  /** The raw query, without `?`; `''` when there is none. */
  readonly rawQuery: string;
  /** Path parameters, percent-decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly requestId: string;
  /** The client's prefix, `203.0.113.0/24` or `2001:db8:0:100::/56`, from trusted proxies only (P22). */
  readonly clientPrefix: string;
  /** Whether the client has closed the connection by now. */
  readonly isAbandoned: IsAbandoned;
  /** The whole body. Throws `RequestProblem('body_too_large')` over the cap. */
  body(): Promise<Uint8Array>;
  /** Counts one more call against the operation's limit: an answer that does several things counts each. `null`: it may be done. */
  countAnother(): LimitRefusal | null;
  /** Reports a fault that is a part of the answer. */
  reportFault(error: unknown): void;
  /** Sets a header of the answer, whichever it will be, a refusal too. The value must be printable ASCII. */
  setAnswerHeader(name: string, value: string): void;
}

/** What a handler answers. `body` is serialised as JSON unless it is `null` (no content) or a `SharedText`, which is JSON already. */
export interface Reply {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The body that goes with a status. */
export interface Answer {
  readonly description: string;
  readonly schema: ZodType;
  /** Made of the schema when absent. */
  readonly example?: unknown;
}

export interface OperationDocument {
  readonly summary: string;
  readonly description?: string;
  readonly tag: string;
  /** Names in `path` and what they are. */
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: ZodObject;
  readonly headers?: ZodObject;
  /** Names of headers that any answer of the operation may carry, as the document lists them. */
  readonly answerHeaders?: readonly string[];
  /** Absent: the operation takes no body. */
  readonly body?: {
    readonly schema: ZodType;
    readonly required: boolean;
    readonly contentTypes: readonly string[];
  };
  /** By status, every one that this operation answers. */
  readonly responses: Readonly<Record<number, Answer>>;
}

/**
 * `decode` and `handle` are methods, which TypeScript compares both ways, so that operations of different inputs fit one
 * list. That is sound: the pipeline hands `handle` only what the same operation's `decode` returned.
 */
export interface Operation<Input = unknown> {
  /** Unique, `v2.conceal`: the OpenAPI operationId, the metric's label. */
  readonly name: string;
  readonly method: OperationMethod;
  /** Below the API's base, with `:name` for a segment. */
  readonly path: string;
  /** Other paths (and methods) that answer the same. */
  readonly aliases?: readonly { readonly method: OperationMethod; readonly path: string }[];
  readonly access: Access;
  /** What an account's token must be allowed to do; absent: any token will do. Anonymous callers have none and need none. */
  readonly scope?: TokenScope;
  readonly limit: LimitClass;
  /** The largest body it takes, of this caller where it depends on that; that of its API when absent. */
  readonly bodyCapBytes?: number | ((caller: Caller) => number);
  readonly document: OperationDocument;
  /** Unknown to Input; throws `RequestProblem`. Runs once the caller is admitted, and is the first to touch the body. */
  decode(exchange: Exchange): Input | Promise<Input>;
  handle(input: Input, caller: Caller, exchange: Exchange): Promise<Reply> | Reply;
}

/** What decides which problems an operation meets. */
export type Exposure = Pick<Operation, 'method' | 'aliases' | 'scope' | 'limit'> & {
  readonly access: Access | 'manager';
  readonly document: Omit<OperationDocument, 'responses'>;
};

/** Whether a GET of it tries a passphrase. */
export const takesGuess = ({ document }: Pick<Exposure, 'document'>): boolean =>
  document.query?.shape.passphrase !== undefined;

/**
 * The problems that may be answered in an operation's place.
 * @param readsBody also where the operation documents none, as v1 does for every POST
 */
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
    // Wrong credentials are counted whatever the operation's own limit.
    ['rate_limited', limit !== 'none' || access !== 'open'],
    ['internal', true],
    ['unavailable', true],
    ['storage_full', limit === 'create'],
  ];
  return applies.filter(([, isPossible]) => isPossible).map(([problem]) => problem);
}
