import type { Settings } from '../config/read.ts';
import type { AccountService } from '../core/accounts/service.ts';
import type { Links } from '../core/links.ts';
import type { SecretService } from '../core/secrets/service.ts';
import type { DomainService } from '../core/share-domains/service.ts';
import type { Clock } from '../core/time.ts';
import type { ApiDeps } from '../http/api.ts';
import { createBodyReader } from '../http/body.ts';
import type { Serve } from '../http/pipeline.ts';
import { RequestProblem } from '../http/problem.ts';
import { createAboutPages } from './about/about.tsx';
import { createDocumentPages } from './about/docs.tsx';
import { createReferencePages, type ReferenceDeps } from './about/reference.tsx';
import { createStatusPages } from './about/status.tsx';
import { createAccountPages } from './account/account.tsx';
import { type Brands, createHostBrands } from './brand/brand.ts';
import { maxLogoBytes } from './brand/logo.ts';
import { type Assets, createAssets, type SiteFile } from './client/assets.ts';
import { createDomainPages } from './domains/domains.tsx';
import { createLanguagePages } from './kit/language.ts';
import { createStaticPages, type PageAction, type PageReply, type PageRoute } from './kit/page.ts';
import { iconSvg } from './kit/parts.tsx';
import { basePathOf, createHref } from './kit/routes.ts';
import { createSessionCookie, createSignInTokens } from './kit/session.ts';
import { createPagePipeline, type Site } from './pipeline.tsx';
import { createKeepsCookies } from './secrets/look-cookie.ts';
import { createJustCreated, createReceiptPages } from './secrets/receipt.tsx';
import { createSecretPages } from './secrets/secret.tsx';
import { createSharePages } from './secrets/share.tsx';

interface PageDeps
  extends ReferenceDeps,
    Pick<ApiDeps, 'limiter' | 'clientAddressOf' | 'bodyCapBytes' | 'onAnswer' | 'onFault'> {
  readonly settings: Settings;
  readonly service: SecretService;
  readonly accounts: AccountService;
  readonly domains: DomainService;
  readonly links: Links;
  readonly brands: Brands;
  /** From package.json. */
  readonly version: string;
  /** Whether the store answers. */
  readonly isReady: () => boolean | Promise<boolean>;
  /** The wall clock (the system's). */
  readonly clock: Clock;
}

/** For the fields of a form beside its file. */
const formRoomBytes = 16_384;

/** Serves every address of `routes.ts`, below the path of the base URL, and a page for every unknown one. */
export function createPages(deps: PageDeps): Serve {
  const site = siteOf(deps);
  return createPagePipeline(site, pageRoutes(deps, site));
}

function siteOf(deps: PageDeps): Site {
  const { limiter, clientAddressOf, onAnswer, onFault, links, accounts, brands, domains } = deps;
  const basePath = basePathOf(links.baseUrl);
  const isSecure = links.baseUrl.startsWith('https:');
  return {
    settings: deps.settings,
    limiter,
    clientAddressOf,
    onAnswer,
    onFault,
    accounts,
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
  };
}

function pageRoutes(deps: PageDeps, site: Site): PageRoute[] {
  const isSecure = deps.links.baseUrl.startsWith('https:');
  const parts = {
    ...site,
    ...deps,
    justCreated: createJustCreated(isSecure),
    keepsCookies: createKeepsCookies(isSecure),
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
    ...createReferencePages(parts),
    ...createDocumentPages(parts),
    ...createLanguagePages(parts),
    ...createSiteFiles(parts),
  ];
}

/** No robot is invited to an address that holds a key. */
const closedToRobots = ['/secret/', '/receipt/', '/private/', '/sign-up/', '/reset/', '/account', '/api/'];

interface SiteFilesDeps {
  readonly basePath: string;
  readonly assets: Assets;
  readonly brands: Brands;
  readonly domains: Pick<DomainService, 'findLogo'>;
}

/** What browsers and crawlers ask for by themselves. */
function createSiteFiles({ basePath, assets, brands, domains }: SiteFilesDeps): PageRoute[] {
  const robots = ['User-agent: *', ...closedToRobots.map((path) => `Disallow: ${basePath}${path}`), ''].join(
    '\n',
  );
  const findLogo = async (name: string) => brands.findLogo(name) ?? (await logoOfDomain(domains, name));
  const icon = { kind: 'text', text: iconSvg, type: 'image/svg+xml; charset=utf-8' } as const;
  const rules = { kind: 'text', text: robots, type: 'text/plain; charset=utf-8' } as const;
  return [
    { name: 'asset', isFile: true, get: fileNamed(assets.find) },
    { name: 'sdk', isFile: true, get: sdk },
    { name: 'logo', isFile: true, get: fileNamed(findLogo) },
    { name: 'icon', isFile: true, get: constant(icon, forADay) },
    { name: 'robots', isFile: true, get: constant(rules) },
    { name: 'favicon', isFile: true, get: constant({ kind: 'none' }, forADay) },
  ];
}

// Browsers ask for these with every page, and their addresses hold no hash.
const forADay = { 'cache-control': 'public, max-age=86400' };
const forAnHour = { 'cache-control': 'public, max-age=3600' };

/** Their addresses hold no hash, because programs name them. From the sources, the client is bundled when one is first asked for. */
const sdk = fileNamed(async (name) => (await import('./client/sdk.ts')).findSdkFile(name), forAnHour);

function constant(content: PageReply['content'], headers: PageReply['headers'] = {}): PageAction {
  const status = content.kind === 'none' ? 204 : 200;
  return { limit: 'none', handle: () => ({ status, content, headers }) };
}

async function logoOfDomain(domains: SiteFilesDeps['domains'], name: string): Promise<SiteFile | null> {
  const logo = await domains.findLogo(name);
  return logo === null ? null : { bytes: new Uint8Array(logo.bytes), gzipped: null, type: logo.type };
}

function fileNamed(
  find: (name: string) => SiteFile | null | Promise<SiteFile | null>,
  headers: PageReply['headers'] = {},
): PageAction {
  return {
    limit: 'none',
    handle: async ({ key }) => {
      const file = await find(key);
      if (file === null) throw new RequestProblem({ problem: 'not_found' });
      return { status: 200, content: { kind: 'file', file }, headers };
    },
  };
}
