/**
 * A page as a value.
 *
 * Owns: the shape that `mount` serves. Invariant: a handler gets a request whose form is bounded and whose client is
 * known, and answers with a page, a text or a redirect; no handler builds a response or its headers' rules.
 */
import type { LimitClass } from '../http/operation.ts';
import type { Problem } from '../http/problem.ts';
import type { Form } from './form.ts';
import type { Frame } from './layout.tsx';
import type { RouteName } from './routes.ts';

export interface PageRequest {
  readonly frame: Frame;
  /** The key in the path as given; `''` when the path has none. */
  readonly key: string;
  readonly clientPrefix: string;
  /** The raw `Cookie` header; `''` when there is none. */
  readonly cookies: string;
  /** Read once, bounded. Rejects with `RequestProblem`. */
  form(): Promise<Form>;
}

export interface PageReply {
  readonly status: number;
  readonly content:
    | { readonly kind: 'page'; readonly markup: string }
    | { readonly kind: 'text'; readonly text: string; readonly type: string }
    | { readonly kind: 'none' };
  readonly headers?: Readonly<Record<string, string>>;
}

export type PageHandler = (request: PageRequest) => PageReply | Promise<PageReply>;

export interface PageAction {
  readonly handle: PageHandler;
  /** Which limit its calls count against. */
  readonly limit: LimitClass;
  /** Answers in the page's own way what was refused around the handler; absent: with the common small page. */
  readonly refuse?: (request: PageRequest, problem: Problem) => Promise<PageReply>;
}

export interface PageRoute {
  readonly name: RouteName;
  /** Also answers HEAD. Changes nothing (P4). */
  readonly get?: PageAction;
  readonly post?: PageAction;
}

export function pageReply(status: number, markup: string, headers: PageReply['headers'] = {}): PageReply {
  return { status, content: { kind: 'page', markup }, headers };
}

/** 303: the browser goes on with GET, so that a reload repeats nothing (RFC 9110 §15.4.4). */
export function seeOther(location: string, headers: PageReply['headers'] = {}): PageReply {
  return { status: 303, content: { kind: 'none' }, headers: { ...headers, location } };
}

/** 308: the address has another spelling now (RFC 9110 §15.4.9). */
export function movedTo(location: string): PageReply {
  return { status: 308, content: { kind: 'none' }, headers: { location } };
}
