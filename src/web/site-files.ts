/**
 * What browsers and crawlers ask for by themselves: style sheet and scripts, logos, the icon and the rules for robots.
 *
 * Owns: `/assets/…`, `/logo/…`, `/icon.svg`, `/favicon.ico`, `/robots.txt`. Invariant: no robot is invited to an address
 * that holds a key.
 */
import type { DomainService } from '../core/share-domains/service.ts';
import { RequestProblem } from '../http/problem.ts';
import type { Assets, SiteFile } from './assets.ts';
import type { Brands } from './brand/brand.ts';
import { iconSvg } from './kit/parts.tsx';
import type { PageAction, PageReply, PageRoute } from './page.ts';

const closedToRobots = ['/secret/', '/receipt/', '/private/', '/sign-up/', '/reset/', '/account', '/api/'];

export interface SiteFilesDeps {
  readonly basePath: string;
  readonly assets: Assets;
  readonly brands: Brands;
  readonly domains: Pick<DomainService, 'findLogo'>;
}

export function createSiteFiles({ basePath, assets, brands, domains }: SiteFilesDeps): PageRoute[] {
  const robots = ['User-agent: *', ...closedToRobots.map((path) => `Disallow: ${basePath}${path}`), ''].join(
    '\n',
  );
  const findLogo = async (name: string) => brands.findLogo(name) ?? (await logoOfDomain(domains, name));
  const icon = { kind: 'text', text: iconSvg, type: 'image/svg+xml; charset=utf-8' } as const;
  const rules = { kind: 'text', text: robots, type: 'text/plain; charset=utf-8' } as const;
  return [
    { name: 'asset', isFile: true, get: fileNamed(assets.find) },
    { name: 'logo', isFile: true, get: fileNamed(findLogo) },
    { name: 'icon', isFile: true, get: constant(icon, forADay) },
    { name: 'robots', isFile: true, get: constant(rules) },
    { name: 'favicon', isFile: true, get: constant({ kind: 'none' }, forADay) },
  ];
}

// Browsers ask for these with every page, and their addresses hold no hash.
const forADay = { 'cache-control': 'public, max-age=86400' };

function constant(content: PageReply['content'], headers: PageReply['headers'] = {}): PageAction {
  const status = content.kind === 'none' ? 204 : 200;
  return { limit: 'none', handle: () => ({ status, content, headers }) };
}

async function logoOfDomain(domains: SiteFilesDeps['domains'], name: string): Promise<SiteFile | null> {
  const logo = await domains.findLogo(name);
  return logo === null ? null : { bytes: new Uint8Array(logo.bytes), gzipped: null, type: logo.type };
}

function fileNamed(find: (name: string) => SiteFile | null | Promise<SiteFile | null>): PageAction {
  return {
    limit: 'none',
    handle: async ({ key }) => {
      const file = await find(key);
      if (file === null) throw new RequestProblem({ problem: 'not_found' });
      return { status: 200, content: { kind: 'file', file } };
    },
  };
}
