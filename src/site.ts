/** Everything that is served, as one `fetch`. Unknown addresses too are answered in the words of the part they belong to. */
import { createDocsPage, docsPath } from './api/docs/docs-page.ts';
import { publishDocument } from './api/openapi-operation.ts';
import { createV1, type V1Deps } from './api/v1/operations.ts';
import { createV2, type V2Deps } from './api/v2/service.ts';
import type { AccountService } from './core/accounts/service.ts';
import type { Regions } from './core/keys.ts';
import type { Links } from './core/links.ts';
import type { MailLocaleOf } from './core/mail/mailer.ts';
import type { Plans } from './core/plans.ts';
import type { SecretService } from './core/secrets/service.ts';
import type { DomainService } from './core/share-domains/service.ts';
import type { Clock } from './core/time.ts';
import { type ApiDeps, type ApiSurface, createApi } from './http/api.ts';
import { bodyCapBytesFor } from './http/body.ts';
import { type HealthDeps, healthAnswers } from './http/health.ts';
import { type AnswerAlone, createFetch, type Fetch } from './http/pipeline.ts';
import type { Locale } from './locale/catalogues.ts';
import type { Brands } from './web/brand/brand.ts';
import { createPages } from './web/pages.ts';
import { basePathOf } from './web/routes.ts';

export interface SiteDeps extends Omit<ApiDeps, 'authenticate' | 'bodyCapBytes' | 'ownOrigin'>, HealthDeps {
  readonly service: SecretService;
  readonly accounts: AccountService;
  readonly domains: DomainService;
  /** `null` where there are none. */
  readonly regions: Regions | null;
  readonly links: Links;
  readonly plans: Plans;
  readonly anonymousMayCreate: boolean;
  readonly dialect: V1Deps['dialect'];
  readonly v2Dialect: V2Deps['dialect'];
  /** From package.json. */
  readonly version: string;
  readonly locales: readonly Locale[];
  readonly defaultLocale: Locale;
  readonly mailLocaleOf: MailLocaleOf;
  readonly signUpIsOpen: boolean;
  readonly brands: Brands;
  /** Store time. */
  readonly clock: Clock;
}

/** The surfaces of both versions, v2 with the document of both, and the document's page. */
function createVersions({ service, domains, links, dialect, version, regions, ...rest }: SiteDeps) {
  const { plans, locales, defaultLocale, mailLocaleOf, clock, v2Dialect } = rest;
  const v1 = createV1({ service, links, dialect, defaultLocale });
  const v2 = createV2({
    service,
    domains,
    links,
    plans,
    dialect: v2Dialect,
    version,
    locales,
    defaultLocale,
    mailLocaleOf,
    region: regions?.own ?? null,
    clock,
  });
  const { surface, document } = publishDocument(v2, [v1], { version, baseUrl: links.baseUrl });
  return { v1, v2: surface, answerDocs: createDocsPage(document) };
}

/** Other methods are answered as by an unknown address of the API. */
function read(answer: () => Response): AnswerAlone {
  return ({ method }) => {
    if (method === 'HEAD') return new Response(null, answer());
    return method === 'GET' ? answer() : null;
  };
}

export function createSite(deps: SiteDeps): Fetch {
  const basePath = basePathOf(deps.links.baseUrl);
  const bodyCapBytes = bodyCapBytesFor(deps.plans);
  const { authenticate } = deps.service;
  const ownOrigin = new URL(deps.links.baseUrl).origin;
  const apiDeps: ApiDeps = { ...deps, authenticate, bodyCapBytes, ownOrigin };
  const serve = (surface: ApiSurface) => createApi({ ...surface, base: basePath + surface.base }, apiDeps);
  const versions = createVersions(deps);
  const [v1, v2] = [serve(versions.v1), serve(versions.v2)];
  const alone = new Map<string, AnswerAlone>([
    // At the root too, because whatever watches the process does not know where it serves.
    ...healthAnswers(deps),
    ...healthAnswers(deps, basePath),
    [basePath + docsPath, read(versions.answerDocs)],
  ]);
  return createFetch(
    [v1, v2, { ...v2, base: `${basePath}/api` }],
    createPages({ ...deps, bodyCapBytes }),
    alone,
  );
}
