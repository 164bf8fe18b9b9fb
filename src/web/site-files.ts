/** Files that browsers, crawlers and other programs request at well-known addresses. */
import type { Settings } from '../config/read.ts';
import type { DomainService } from '../core/share-domains/service.ts';
import type { Clock } from '../core/time.ts';
import { RequestProblem } from '../http/problem.ts';
import type { DownloadName, FindDownload } from './about/downloads.ts';
import { type Assets, fileOf, type SiteFile } from './assets/assets.ts';
import { embedded } from './assets/bundle.ts' with { type: 'macro' };
import type { Brands } from './brand/brand.ts';
import { paletteOf } from './brand/colours.ts';
import { iconSvg } from './brand/default-logo.tsx';
import { dayIcons } from './kit/day.tsx';
import type { Frame } from './kit/layout.tsx';
import {
  movedTo,
  type PageAction,
  type PageReply,
  type PageRequest,
  type PageRoute,
  seeOther,
} from './kit/page.ts';
import type { Href, RouteName } from './kit/routes.ts';

/** Crawlers must not visit addresses that contain keys. */
const closedToRobots = ['/secret/', '/receipt/', '/private/', '/sign-up/', '/reset/', '/account', '/api/'];

interface SiteFilesDeps {
  readonly basePath: string;
  readonly origin: string;
  readonly href: Href;
  readonly settings: Pick<Settings, 'securityContact' | 'defaultLocale'>;
  readonly assets: () => Assets;
  readonly brands: Brands;
  readonly domains: Pick<DomainService, 'findLogo'>;
  readonly findDownload: FindDownload;
  readonly clock: Clock;
}

// Well-known addresses contain no content hash, so responses are cached only briefly.
const forADay = { 'cache-control': 'public, max-age=86400' };
const forAnHour = { 'cache-control': 'public, max-age=3600' };

export function createSiteFiles(deps: SiteFilesDeps): PageRoute[] {
  const { basePath, assets, brands, domains, href } = deps;
  const robots = ['User-agent: *', ...closedToRobots.map((path) => `Disallow: ${basePath}${path}`), ''].join(
    '\n',
  );
  const findLogo = async (name: string) => brands.findLogo(name) ?? (await logoOfDomain(domains, name));
  const icon = { kind: 'file', file: fileOf(iconSvg, 'image/svg+xml; charset=utf-8') } as const;
  return [
    { name: 'asset', isFile: true, get: fileNamed((name) => assets().find(name)) },
    { name: 'sdk', isFile: true, get: sdk },
    { name: 'logo', isFile: true, get: fileNamed(findLogo) },
    { name: 'icon', isFile: true, get: constant(icon, forADay) },
    { name: 'robots', isFile: true, get: constant({ kind: 'text', text: robots, type: plainText }) },
    { name: 'favicon', isFile: true, get: constant({ kind: 'none' }, forADay) },
    { name: 'appIcon', isFile: true, get: fileNamed(findAppIcon, forADay) },
    { name: 'touchIcon', get: { limit: 'none', handle: touchIcon } },
    { name: 'manifest', get: { limit: 'none', handle: manifest } },
    { name: 'securityTxt', isFile: true, get: { limit: 'none', handle: () => securityTxt(deps) } },
    {
      name: 'changePassword',
      onSiteOnly: true,
      get: { limit: 'none', handle: () => seeOther(href('password')) },
    },
    packageAt('commandPackage', 'mayfly.tgz', deps),
    packageAt('clientPackage', 'client.tgz', deps),
    { name: 'bare', isFile: true, get: { limit: 'none', handle: () => movedTo(href('home')) } },
    { name: 'api', isFile: true, get: { limit: 'none', handle: () => movedTo(href('apiDocs')) } },
  ];
}

const plainText = 'text/plain; charset=utf-8';

const sdk = fileNamed(async (name) => (await import('./assets/sdk.ts')).findSdkFile(name), forAnHour);

const icons: Readonly<Record<string, string>> = embedded([
  'icons/app-180.png',
  'icons/app-512.png',
  'icons/card.png',
]);

function findAppIcon(name: string): SiteFile | null {
  const day = dayIcons.get(name);
  if (day !== undefined) return fileOf(day, 'image/svg+xml; charset=utf-8');
  const text = icons[`icons/${name}`];
  if (text === undefined) return null;
  return { bytes: new Uint8Array(Buffer.from(text, 'base64')), gzipped: null, type: 'image/png' };
}

/** Responds with "not found" for a custom logo: phones then use a screenshot of the page. */
function touchIcon({ frame }: PageRequest): PageReply {
  const file = frame.brand.logo === null ? findAppIcon('app-180.png') : null;
  if (file === null) throw new RequestProblem({ problem: 'not_found' });
  return { status: 200, content: { kind: 'file', file }, headers: forADay };
}

/** Returns the W3C Web Application Manifest. The app opens in the browser, because people recognise a link by its address. */
function manifest({ frame }: PageRequest): PageReply {
  const { brand, href, domain, messages } = frame;
  if (domain !== null) throw new RequestProblem({ problem: 'not_found' });
  const value = {
    name: brand.name,
    short_name: brand.name,
    lang: messages.locale,
    dir: messages.direction,
    id: href('home'),
    start_url: href('home'),
    scope: href('home'),
    display: 'browser',
    theme_color: brand.colours.light ?? paper,
    background_color: paper,
    icons: iconsOf(frame),
  };
  const text = JSON.stringify(value);
  return { status: 200, content: { kind: 'text', text, type: 'application/manifest+json; charset=utf-8' } };
}

const { paper } = paletteOf('light');

function iconsOf({ brand: { logo }, href }: Frame) {
  if (logo !== null) return [{ src: href('logo', logo.name), type: logo.type, sizes: 'any' }];
  const png = { src: href('appIcon', 'app-512.png'), type: 'image/png', sizes: '512x512' };
  return [
    { src: href('icon'), type: 'image/svg+xml', sizes: 'any' },
    { ...png, purpose: 'any' },
    { ...png, purpose: 'maskable' },
  ];
}

/** Less than a year, as RFC 9116 §2.5.5 recommends. Counted from today, so that a running installation's file never expires. */
const validDays = 180;
const daySeconds = 86_400;

function securityTxt({ settings, origin, href, clock }: SiteFilesDeps): PageReply {
  const { securityContact, defaultLocale } = settings;
  if (securityContact === null) throw new RequestProblem({ problem: 'not_found' });
  const expires = (Math.floor(clock() / daySeconds) + validDays) * daySeconds;
  const lines = [
    `Contact: ${securityContact}`,
    `Expires: ${new Date(expires * 1000).toISOString()}`,
    `Preferred-Languages: ${[...new Set(['en', defaultLocale])].join(', ')}`,
    `Canonical: ${origin}${href('securityTxt')}`,
    `Policy: ${origin}${href('security')}`,
    '',
  ];
  const content = { kind: 'text', text: lines.join('\n'), type: plainText } as const;
  return { status: 200, content, headers: forADay };
}

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

/** Serves a program from the installation's own host only. */
function packageAt(name: RouteName, download: DownloadName, { findDownload }: SiteFilesDeps): PageRoute {
  const handle = async (): Promise<PageReply> => {
    const found = await findDownload(download);
    if (found === null) throw new RequestProblem({ problem: 'not_found' });
    const { bytes, sha256 } = found;
    const file = { bytes, gzipped: null, type: 'application/gzip' };
    // Every version has the same address, so npm must check for changes.
    const headers = {
      'cache-control': 'public, no-cache',
      'content-length': `${bytes.length}`,
      etag: `"${sha256}"`,
    };
    return { status: 200, content: { kind: 'file', file }, headers };
  };
  return { name, onSiteOnly: true, needsNoSession: true, get: { limit: 'none', handle } };
}
