/**
 * The brand of pages and emails: name, logo, colours and footer links, for the site and each share domain. A request's host only selects a
 * brand and is never repeated (P20). Equal brands are the same object, because policies and static pages are cached by that object.
 */
import { ServiceError } from '../../core/errors.ts';
import type { MailBrandOf } from '../../core/mailer.ts';
import { type BrandRules, hostNameOf } from '../../core/share-domain.ts';
import type { BrandedDomain, DomainService } from '../../core/share-domains/service.ts';
import type { SiteFile } from '../assets/assets.ts';
import { type Colours, contrast, nearestReadable, readable, styleOf } from './colours.ts';
import { logoTypeOf, maxLogoBytes, parseLogo } from './logo.ts';

export interface FooterLink {
  readonly label: string;
  /** An absolute https, http or mailto URL. */
  readonly url: string;
}

export interface Brand {
  readonly name: string;
  /** `null` for the default logo. `name` is the file name under `/logo/`. */
  readonly logo: { readonly name: string; readonly type: string } | null;
  readonly colours: Colours;
  /** CSS that overrides the style sheet's colours; `''` for none. */
  readonly styleText: string;
  readonly links: readonly FooterLink[];
  readonly termsUrl: string | null;
  readonly imprintUrl: string | null;
}

export interface Brands {
  /** Returns the site's brand for unknown hosts. @param host the raw `Host` header */
  forHost(host: string | null): Brand;
  findLogo(name: string): SiteFile | null;
}

export const ownBrand: Brand = {
  name: 'Mayfly',
  logo: null,
  colours: {},
  styleText: '',
  links: [],
  termsUrl: null,
  imprintUrl: null,
};

export const ownBrands: Brands = { forHost: () => ownBrand, findLogo: () => null };

interface HostBrand {
  readonly brand: Brand;
  /** `null` for the site and for unknown hosts. */
  readonly domain: BrandedDomain | null;
}

export interface HostBrands {
  /** Returns the operator's brand, without asking the store. @param host the raw `Host` header */
  configured(host: string): HostBrand;
  /** Returns a share domain's brand with its owner's changes; for other hosts, or if the store is unavailable, the configured one. */
  of(host: string): Promise<HostBrand>;
}

interface HostBrandDeps {
  readonly brands: Brands;
  readonly domains: Pick<DomainService, 'brandedDomain'>;
  readonly siteHost: string;
}

const maxKept = 256;

export function createHostBrands({ brands, domains, siteHost }: HostBrandDeps): HostBrands {
  const cached = createCache(brands);
  const configured = (host: string): HostBrand => ({ brand: brands.forHost(host), domain: null });
  return {
    configured,
    async of(host) {
      if (host === '' || hostNameOf(host) === siteHost) return configured(host);
      const domain = await brandedDomain(domains, host);
      return domain === null ? configured(host) : cached(domain);
    },
  };
}

/** Also returns `null` if the store is unavailable: a brand is not worth an error. */
async function brandedDomain(domains: HostBrandDeps['domains'], host: string): Promise<BrandedDomain | null> {
  try {
    return await domains.brandedDomain(host);
  } catch (error) {
    if (error instanceof ServiceError) return null;
    throw error;
  }
}

/** Creates a cache that drops the least recently used domain. */
function createCache(brands: Brands): (domain: BrandedDomain) => HostBrand {
  const kept = new Map<string, { readonly print: string; readonly hostBrand: HostBrand }>();
  return (domain) => {
    const print = JSON.stringify(domain);
    const known = kept.get(domain.name);
    const entry =
      known?.print === print
        ? known
        : { print, hostBrand: { brand: layOver(brands.forHost(domain.name), domain), domain } };
    kept.delete(domain.name);
    kept.set(domain.name, entry);
    if (kept.size > maxKept) kept.delete(kept.keys().next().value ?? '');
    return entry.hostBrand;
  };
}

function layOver(configured: Brand, { brand, logoName }: BrandedDomain): Brand {
  const colours = coloursOver(configured.colours, brand);
  return {
    ...configured,
    name: brand.name ?? configured.name,
    logo: logoName === null ? configured.logo : { name: logoName, type: logoTypeOf(logoName) },
    colours,
    styleText: styleOf(colours),
  };
}

/** Without a dark colour, an owner's colour also applies to the dark scheme, so that two brands never mix. */
function coloursOver(configured: Colours, { colour, colourDark }: BrandedDomain['brand']): Colours {
  const dark = colourDark ?? colour;
  return {
    ...configured,
    ...(colour === null ? {} : { light: nearestReadable(colour, 'light') }),
    ...(dark === null ? {} : { dark: nearestReadable(dark, 'dark') }),
  };
}

/** Emails use our own colour if white text on the brand's is not readable. */
const buttonText = '#ffffff';

export function createMailBrandOf({ brands, domains, siteHost }: HostBrandDeps): MailBrandOf {
  return async (shareDomain) => {
    const host = shareDomain === '' ? siteHost : shareDomain;
    const configured = brands.forHost(host);
    const own = shareDomain === '' ? null : await brandedDomain(domains, shareDomain);
    const colour = own?.brand.colour ?? configured.colours.light ?? null;
    return {
      name: own?.brand.name ?? configured.name,
      host,
      colour: colour !== null && contrast(buttonText, colour) >= readable ? colour : null,
    };
  };
}

/** The same rules apply to a share domain's owner and to the operator. */
export const brandRules: BrandRules = {
  nearestReadable,
  maxLogoBytes,
  parseLogo(bytes) {
    // Unlike a view, a copy does not keep the whole form in memory.
    const logo = parseLogo(new Uint8Array(bytes));
    if ('problem' in logo) return { problem: logo.problem };
    return { name: logo.name, type: logo.file.type, bytes: logo.file.bytes };
  },
};
