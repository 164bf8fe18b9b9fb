/** Combines the whole site into one `fetch`. Each part answers requests for unknown addresses under its own path. */
import { sayElsewhere } from './api/elsewhere.ts';
import { publishDocument } from './api/openapi/document.ts';
import { createReference } from './api/reference/page.tsx';
import { createV1 } from './api/v1/operations.ts';
import { createV2 } from './api/v2/service.ts';
import type { MailLocaleOf } from './core/mailer.ts';
import { type ApiDeps, type ApiSurface, createApi } from './http/api.ts';
import { bodyCapBytesFor } from './http/body.ts';
import { type HealthDeps, healthAnswers } from './http/health.ts';
import { type AnswerAlone, createFetch, type Fetch } from './http/pipeline.ts';
import type { FindDownload } from './web/about/downloads.ts';
import { basePathOf, createHref } from './web/kit/routes.ts';
import { createPages, type PageDeps } from './web/pages.ts';

export interface SiteDeps
  extends Omit<ApiDeps, 'authenticate' | 'allowedOrigins' | 'bodyCapBytes' | 'ownOrigin'>,
    HealthDeps,
    Omit<PageDeps, 'bodyCapBytes' | 'apiReference' | 'findDownload'> {
  readonly mailLocaleOf: MailLocaleOf;
}

/** Creates both API versions, the OpenAPI document of both (part of v2), and their reference. */
function createVersions(deps: SiteDeps) {
  const { settings, service, links, version } = deps;
  const { plans, locales, defaultLocale, region } = settings;
  const v1 = createV1({ service, links, dialect: settings.v1Dialect, defaultLocale });
  const ofV2 = { plans, locales, defaultLocale, region, dialect: settings.v2Dialect };
  const v2 = createV2({ ...deps, ...ofV2 });
  const info = {
    version,
    baseUrl: links.baseUrl,
    sharingNeedsAccount: !settings.anonymousMayCreate,
    revealNeedsContinue: settings.v2Dialect === 'upstream',
  };
  const { surface } = publishDocument(v2, [v1], info);
  return { v1, v2: surface, apiReference: createReference([v1, surface], info) };
}

export function createSite(deps: SiteDeps): Fetch {
  const { settings } = deps;
  const basePath = basePathOf(deps.links.baseUrl);
  const { allowedOrigins, plans } = settings;
  const bodyCapBytes = bodyCapBytesFor(plans);
  const { authenticate } = deps.service;
  const ownOrigin = new URL(deps.links.baseUrl).origin;
  const apiDeps: ApiDeps = { ...deps, authenticate, allowedOrigins, bodyCapBytes, ownOrigin };
  const serve = (surface: ApiSurface) => {
    const operations = sayElsewhere(surface.operations, settings);
    return createApi({ ...surface, operations, base: basePath + surface.base }, apiDeps);
  };
  const versions = createVersions(deps);
  const [v1, v2] = [serve(versions.v1), serve(versions.v2)];
  const alone = new Map<string, AnswerAlone>([
    // Also served at the root, because health checks do not know the base path.
    ...healthAnswers(deps),
    ...healthAnswers(deps, basePath),
  ]);
  const findDownload: FindDownload = async (name) =>
    settings.offersDownloads ? (await import('./web/about/downloads.ts')).findDownload(name) : null;
  const { apiReference } = versions;
  const pages = createPages({ ...deps, bodyCapBytes, apiReference, findDownload });
  // HTML pages served at API addresses.
  const reference = { base: createHref(basePath)('apiDocs'), serve: pages };
  const root = { base: createHref(basePath)('api'), isAlone: true, serve: pages } as const;
  return createFetch([reference, root, v1, v2, { ...v2, base: `${basePath}/api` }], pages, alone);
}
