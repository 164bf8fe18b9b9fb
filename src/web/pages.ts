/**
 * The pages, put together.
 *
 * Owns: which pages there are and where they are served. Invariant: every address in `routes.ts` is served by exactly
 * one page, below the path of the configured base URL.
 */

import type { AccountService } from '../core/accounts/service.ts';
import type { Links } from '../core/links.ts';
import type { Plans } from '../core/plans.ts';
import type { Regions } from '../core/regions.ts';
import type { SecretService } from '../core/secrets/service.ts';
import type { DomainService } from '../core/share-domains/service.ts';
import type { Clock } from '../core/time.ts';
import type { ApiDeps } from '../http/api.ts';
import { createBodyReader } from '../http/body.ts';
import type { Serve } from '../http/pipeline.ts';
import type { Locale } from '../locale/catalogues.ts';
import { createAboutPages } from './about/about.tsx';
import { createStatusPages } from './about/status.tsx';
import { createAccountPages } from './account/account.tsx';
import { createAssets } from './assets.ts';
import { type Brands, createHostBrands } from './brand/brand.ts';
import { maxLogoBytes } from './brand/logo.ts';
import { createSessionCookie } from './cookies.ts';
import { createDomainPages } from './domains/domains.tsx';
import { createLanguagePages } from './language.ts';
import type { PageRoute } from './page.ts';
import { createPagePipeline, type Site } from './pipeline.ts';
import { basePathOf, createHref } from './routes.ts';
import { createJustCreated, createReceiptPages } from './secrets/receipt.tsx';
import { createSecretPages } from './secrets/secret.tsx';
import { createSharePages } from './secrets/share.tsx';
import { createSignInTokens } from './sign-in-token.ts';
import { createSiteFiles } from './site-files.ts';
import { createStaticPages } from './static-pages.ts';

export interface PageDeps
  extends Pick<ApiDeps, 'limiter' | 'clientAddressOf' | 'bodyCapBytes' | 'onAnswer' | 'onFault'> {
  readonly service: SecretService;
  readonly accounts: AccountService;
  readonly domains: DomainService;
  /** `null` where there are none. */
  readonly regions: Regions | null;
  readonly links: Links;
  readonly plans: Plans;
  readonly anonymousMayCreate: boolean;
  readonly signUpIsOpen: boolean;
  readonly brands: Brands;
  readonly locales: readonly Locale[];
  readonly defaultLocale: Locale;
  /** From package.json. */
  readonly version: string;
  /** Whether the store answers. */
  readonly isReady: () => boolean | Promise<boolean>;
  /** The wall clock (the system's). */
  readonly clock: Clock;
}

/** For what stands in a form around its file. */
const formRoomBytes = 16_384;

/** Every page, and a page for every unknown address. */
export function createPages(deps: PageDeps): Serve {
  const site = siteOf(deps);
  return createPagePipeline(site, pageRoutes(deps, site));
}

function siteOf(deps: PageDeps): Site {
  const { limiter, clientAddressOf, onAnswer, onFault, links, accounts, brands, domains } = deps;
  const { locales, defaultLocale, signUpIsOpen, regions } = deps;
  const basePath = basePathOf(links.baseUrl);
  const isSecure = links.baseUrl.startsWith('https:');
  return {
    limiter,
    clientAddressOf,
    onAnswer,
    onFault,
    accounts,
    faces: createHostBrands({ brands, domains, siteHost: links.siteHost }),
    regions,
    locales,
    defaultLocale,
    signUpIsOpen,
    basePath,
    readBody: createBodyReader({ capBytes: deps.bodyCapBytes }),
    uploadCapBytes: maxLogoBytes + formRoomBytes,
    origin: new URL(links.baseUrl).origin,
    href: createHref(basePath),
    sessionCookie: createSessionCookie(isSecure),
    signInTokenOf: createSignInTokens(isSecure),
    assets: createAssets(),
    staticPages: createStaticPages(),
  };
}

function pageRoutes(deps: PageDeps, site: Site): PageRoute[] {
  const parts = {
    ...site,
    ...deps,
    justCreated: createJustCreated(deps.links.baseUrl.startsWith('https:')),
  };
  return [
    ...createSharePages(parts).map((route): PageRoute => ({ ...route, isSharing: true })),
    ...createReceiptPages(parts),
    ...createSecretPages(parts),
    ...[...createAccountPages(parts), ...createDomainPages(parts)].map(
      (route): PageRoute => ({ ...route, onSiteOnly: true }),
    ),
    ...createAboutPages(),
    ...createStatusPages(parts),
    ...createLanguagePages(parts),
    ...createSiteFiles(parts),
  ];
}
