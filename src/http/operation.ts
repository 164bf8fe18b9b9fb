/**
 * An operation: one endpoint as a value.
 *
 * Owns: the shape that `mount` serves and `api/openapi.ts` documents. Invariant: an operation's schemas validate, type
 * and document it; nothing about an endpoint is said twice.
 */
import type { ZodType } from 'zod';
import type { Caller, TokenScope } from '../core/accounts/accounts.ts';
import type { IsAbandoned } from '../core/ports.ts';

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
  /** Sets a header of the answer, whichever it will be, a refusal too. The value must be printable ASCII. */
  setAnswerHeader(name: string, value: string): void;
}

/** What a handler answers. `body` is serialised as JSON unless it is `null` (no content). */
export interface Reply {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface OperationDocument {
  readonly summary: string;
  readonly description?: string;
  readonly tag: string;
  /** Names in `path` and what they are. */
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: ZodType;
  readonly headers?: ZodType;
  /** Names of headers that any answer of the operation may carry, as the document lists them. */
  readonly answerHeaders?: readonly string[];
  /** Absent: the operation takes no body. */
  readonly body?: {
    readonly schema: ZodType;
    readonly required: boolean;
    readonly contentTypes: readonly string[];
  };
  /** Every status this operation answers, with the body's schema. */
  readonly responses: Readonly<Record<number, { readonly description: string; readonly schema: ZodType }>>;
}

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
  /** The largest body it takes; that of its API when absent. */
  readonly bodyCapBytes?: number;
  readonly document: OperationDocument;
  /** Unknown to Input; throws `RequestProblem`. Runs once the caller is admitted, and is the first to touch the body. */
  readonly decode: (exchange: Exchange) => Input | Promise<Input>;
  readonly handle: (input: Input, caller: Caller, exchange: Exchange) => Promise<Reply> | Reply;
}
