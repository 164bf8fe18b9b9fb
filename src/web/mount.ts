/**
 * The pages, put together.
 *
 * Owns: which pages there are and where they are served. Invariant: every address in `routes.ts` is served by exactly
 * one page, below the path of the configured base URL.
 */
import type { Context, Hono } from 'hono';
import type { Links } from '../domain/links.ts';
import type { SecretService } from '../domain/outcomes.ts';
import type { Plans } from '../domain/plans.ts';
import { type Clock, systemClock } from '../domain/time.ts';
import { createBodyReader } from '../http/body.ts';
import type { MountDeps } from '../http/mount.ts';
import { createJustCreated } from './just-created.ts';
import type { PageRoute } from './page-route.ts';
import { createReceiptPages } from './receipt.tsx';
import { basePathOf, createHref, routes } from './routes.ts';
import { createSecretPages } from './secret.tsx';
import { type Site, servePage } from './serve.ts';
import { createSharePages } from './share.tsx';
import { createSiteFiles } from './site-files.ts';

export interface PageDeps
  extends Pick<MountDeps, 'limiter' | 'clientAddressOf' | 'bodyCapBytes' | 'onAnswer' | 'onFault'> {
  readonly service: SecretService;
  readonly links: Links;
  readonly plans: Plans;
  readonly anonymousMayCreate: boolean;
  /** For the time at which a locked passphrase may be tried again (the system's). */
  readonly clock?: Clock;
}

/** Answers one request for an address that is no page. Never rejects. */
export type PagesHandler = (context: Context) => Promise<Response>;

/** @returns the handler for unknown addresses, for `app.notFound`. */
export function mountPages(app: Hono, deps: PageDeps): PagesHandler {
  const { limiter, clientAddressOf, onAnswer, onFault, links } = deps;
  const basePath = basePathOf(links.baseUrl);
  const readBody = createBodyReader({ capBytes: deps.bodyCapBytes });
  const origin = new URL(links.baseUrl).origin;
  const site: Site = {
    limiter,
    clientAddressOf,
    onAnswer,
    onFault,
    readBody,
    origin,
    href: createHref(basePath),
  };
  for (const route of pageRoutes(deps, basePath)) {
    app.all(basePath + routes[route.name], (context) => servePage(site, context, route));
  }
  return (context) => servePage(site, context, null);
}

function pageRoutes(deps: PageDeps, basePath: string): PageRoute[] {
  const { service, links, anonymousMayCreate } = deps;
  const justCreated = createJustCreated(links.baseUrl.startsWith('https:'));
  return [
    ...createSharePages({ service, plan: deps.plans.anonymous, anonymousMayCreate, justCreated }),
    ...createReceiptPages({ service, links, justCreated }),
    ...createSecretPages({ service, clock: deps.clock ?? systemClock }),
    ...createSiteFiles(basePath),
  ];
}
