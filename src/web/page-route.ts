/**
 * A page as a value.
 *
 * Owns: the shape that `mount` serves. Invariant: a handler gets a request whose form is bounded and its own, and whose
 * client is known, and answers with a page, a text or a redirect; no handler builds a response or its headers' rules.
 */

import type { Caller, SignedIn } from '../core/accounts/accounts.ts';
import type { IsAbandoned } from '../core/ports.ts';
import type { LimitClass } from '../http/operation.ts';
import type { SiteFile } from './assets.ts';
import type { Form } from './kit/form.ts';
import type { Frame } from './kit/layout.tsx';
import type { PageProblem } from './page-problem.ts';
import type { RouteName } from './routes.ts';

export interface PageRequest {
  readonly frame: Frame;
  /** The key in the path as given; `''` when the path has none. */
  readonly key: string;
  readonly query: URLSearchParams;
  /** The raw `Host` header, which only ever chooses among what is configured (P20); `''` when there is none. */
  readonly host: string;
  readonly clientPrefix: string;
  /** The raw `Cookie` header; `''` when there is none. */
  readonly cookies: string;
  /** The raw `User-Agent` header; `''` when there is none. */
  readonly userAgent: string;
  /** `null` when nobody is logged in. */
  readonly signedIn: SignedIn | null;
  /** The account that is logged in, or anonymous. */
  readonly caller: Caller;
  /** Whether the browser has closed the connection by now. */
  readonly isAbandoned: IsAbandoned;
  /** Read once, bounded. Rejects with `RequestProblem`. */
  form(): Promise<Form>;
}

export interface PageReply {
  readonly status: number;
  readonly content:
    | { readonly kind: 'page'; readonly markup: string; readonly gzipped?: Uint8Array<ArrayBuffer> }
    | { readonly kind: 'text'; readonly text: string; readonly type: string }
    | { readonly kind: 'json'; readonly value: unknown }
    | { readonly kind: 'file'; readonly file: SiteFile }
    | { readonly kind: 'none' };
  readonly headers?: Readonly<Record<string, string>>;
  /** Any number of `Set-Cookie` values. */
  readonly cookies?: readonly string[];
}

export type PageHandler = (request: PageRequest) => PageReply | Promise<PageReply>;

export interface PageAction {
  readonly handle: PageHandler;
  /** Which limit its calls count against. */
  readonly limit: LimitClass;
  /** What its body may hold, where that is not the usual cap. */
  readonly bodyCapBytes?: number;
  /** Takes a file beside the fields of its form, as `multipart/form-data`, and so a larger body. */
  readonly takesFile?: true;
  /** The same for every visitor without a session and a query, but for language and brand: made once and kept. */
  readonly isStill?: true;
  /** Answers in the page's own way what was refused around the handler; absent: with the common small page. */
  readonly refuse?: (request: PageRequest, problem: PageProblem) => Promise<PageReply>;
}

export interface PageRoute {
  readonly name: RouteName;
  /** Also answers HEAD. Changes nothing (P4). */
  readonly get?: PageAction;
  readonly post?: PageAction;
  /** A file, the same for everybody: nobody's session is looked up for it. */
  readonly isFile?: true;
  /**
   * Belongs to accounts, so it is never shown on a share domain, which is somebody else's: a person must not type a
   * password there.
   */
  readonly onSiteOnly?: true;
  /** A way into an account: while nobody is logged in, its form is bound to the browser that it was shown to. */
  readonly isSignIn?: true;
  /** Part of sharing, which the owner of a share domain may keep to itself. */
  readonly isSharing?: true;
  /** Shown as to a stranger when nobody's session can be looked up just now. */
  readonly needsNoSession?: true;
}

export function pageReply(status: number, markup: string, headers: PageReply['headers'] = {}): PageReply {
  return { status, content: { kind: 'page', markup }, headers };
}

/** 303: the browser goes on with GET, so that a reload repeats nothing (RFC 9110 §15.4.4). */
export function seeOther(location: string, cookies: readonly string[] = []): PageReply {
  return { status: 303, content: { kind: 'none' }, headers: { location }, cookies };
}

/**
 * 201: as `seeOther`, for a script, which cannot keep a browser from following a redirect (RFC 9110 §15.3.2). An empty page,
 * because of nothing at all a browser makes a document that says so, in a style that the policy blocks.
 */
export function createdAt(location: string, cookies: readonly string[]): PageReply {
  return { ...pageReply(201, '', { location }), cookies };
}

/** 308: the address has another spelling now (RFC 9110 §15.4.9). */
export function movedTo(location: string): PageReply {
  return { status: 308, content: { kind: 'none' }, headers: { location } };
}
