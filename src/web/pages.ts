import type { Settings } from '../config/read.ts';
import type { AccountService } from '../core/accounts/service.ts';
import type { Links } from '../core/links.ts';
import type { RequestService } from '../core/requests/service.ts';
import type { SecretService } from '../core/secrets/service.ts';
import type { DomainService } from '../core/share-domains/service.ts';
import type { Clock } from '../core/time.ts';
import type { ApiDeps } from '../http/api.ts';
import { createBodyReader } from '../http/body.ts';
import type { HealthDeps } from '../http/health.ts';
import type { Serve } from '../http/pipeline.ts';
import { createAboutPages } from './about/about.tsx';
import { createDocumentPages, type DocumentDeps } from './about/docs.tsx';
import { createStatusPages } from './about/status.tsx';
import { createAccountPages } from './account/account.tsx';
import { createAssets } from './assets/assets.ts';
import { type Brands, createHostBrands } from './brand/brand.ts';
import { maxLogoBytes } from './brand/logo.ts';
import { createDomainPages } from './domains/domains.tsx';
import { createSignInTokens } from './kit/form-token.ts';
import { createLanguagePages } from './kit/language-page.tsx';
import { createStaticPages, type PageRoute } from './kit/page.ts';
import { basePathOf, createHref } from './kit/routes.ts';
import { createSessionCookie } from './kit/session.ts';
import { createPagePipeline } from './pipeline.tsx';
import { createRequestPages } from './requests/requests.tsx';
import { createHereCookie, createJustCreated } from './secrets/cookies.ts';
import { createKeepsCookies } from './secrets/look-cookie.ts';
import { createReceiptPages } from './secrets/receipt.tsx';
import { createSecretPages } from './secrets/secret.tsx';
import { createSeveralPages } from './secrets/several.tsx';
import { createSharePages } from './secrets/share.tsx';
import { createSiteFiles } from './site-files.ts';

export interface PageDeps
  extends Pick<DocumentDeps, 'apiReference' | 'findDownload'>,
    Pick<ApiDeps, 'limiter' | 'clientAddressOf' | 'bodyCapBytes' | 'onAnswer' | 'onFault'>,
    Pick<HealthDeps, 'isReady' | 'storeRisks'> {
  readonly settings: Settings;
  readonly service: SecretService;
  readonly requests: RequestService;
  readonly accounts: AccountService;
  readonly domains: DomainService;
  readonly links: Links;
  readonly brands: Brands;
  readonly version: string;
  readonly clock: Clock;
}

const formRoomBytes = 16_384;

/** Serves every address in `routes.ts` under the base URL's path, and an error page for any other. */
export function createPages(deps: PageDeps): Serve {
  const parts = partsOf(deps);
  return createPagePipeline(parts, pageRoutes(parts));
}

function partsOf(deps: PageDeps) {
  const { links, brands, domains } = deps;
  const basePath = basePathOf(links.baseUrl);
  const isSecure = links.baseUrl.startsWith('https:');
  return {
    ...deps,
    hostBrands: createHostBrands({ brands, domains, siteHost: links.siteHost }),
    basePath,
    readBody: createBodyReader({ capBytes: deps.bodyCapBytes }),
    uploadCapBytes: maxLogoBytes + formRoomBytes,
    origin: new URL(links.baseUrl).origin,
    href: createHref(basePath),
    sessionCookie: createSessionCookie(isSecure),
    signInTokenOf: createSignInTokens(isSecure),
    assets: createAssets(),
    staticPages: createStaticPages(),
    justCreated: createJustCreated(isSecure),
    here: createHereCookie(isSecure),
    keepsCookies: createKeepsCookies(isSecure),
  };
}

function pageRoutes(parts: ReturnType<typeof partsOf>): PageRoute[] {
  return [
    ...createSharePages(parts).map((route): PageRoute => ({ ...route, isSharing: true })),
    ...createReceiptPages(parts),
    ...createSeveralPages(parts),
    ...createSecretPages(parts),
    ...createRequestPages(parts),
    ...[...createAccountPages(parts), ...createDomainPages(parts)].map(
      (route): PageRoute => ({ ...route, onSiteOnly: true }),
    ),
    ...createAboutPages(),
    ...createStatusPages(parts),
    ...createDocumentPages(parts),
    ...createLanguagePages(parts),
    ...createSiteFiles(parts),
  ];
}
