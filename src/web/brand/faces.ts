/**
 * Faces: how pages look on the host that a request names.
 *
 * Owns: the owner's brand of a share domain, laid over the operator's for that host, and the keeping of what is made from
 * it. Invariants: a host is only compared and never repeated (P20); a face is one object for as long as nothing of it
 * changes, because policies and still pages are kept by it; how many are kept is bounded.
 */

import { ServiceError } from '../../core/errors.ts';
import type { DomainFace, DomainService } from '../../core/share-domains/service.ts';
import { hostNameOf } from '../../core/share-domains/share-domains.ts';
import type { Brand, Brands } from './brand.ts';
import { type Colours, nearestReadable, styleOf } from './brand-colour.ts';
import { logoTypeOf } from './logo.ts';

export interface Face {
  readonly brand: Brand;
  /** The share domain it belongs to; `null`: the site, and every host that is unknown. */
  readonly domain: DomainFace | null;
}

export interface Faces {
  /** Without asking the store: what the operator configured. @param host the raw `Host` header */
  configured(host: string): Face;
  /** As the owner wants it; as configured for all that is no share domain, and while the store does not answer. */
  of(host: string): Promise<Face>;
}

export interface FaceDeps {
  readonly brands: Brands;
  readonly domains: Pick<DomainService, 'faceOf'>;
  readonly siteHost: string;
}

const maxKept = 256;

export function createFaces({ brands, domains, siteHost }: FaceDeps): Faces {
  const keep = createKeeping(brands);
  const configured = (host: string): Face => ({ brand: brands.forHost(host), domain: null });
  return {
    configured,
    async of(host) {
      if (host === '' || hostNameOf(host) === siteHost) return configured(host);
      const domain = await ownFaceOf(domains, host);
      return domain === null ? configured(host) : keep(domain);
    },
  };
}

/** `null` for all that is no share domain, and while the store does not answer: a face is worth no refusal. */
export async function ownFaceOf(domains: FaceDeps['domains'], host: string): Promise<DomainFace | null> {
  try {
    return await domains.faceOf(host);
  } catch (error) {
    if (error instanceof ServiceError) return null;
    throw error;
  }
}

/** The same face for the same content; those that were not asked for the longest are forgotten. */
function createKeeping(brands: Brands): (domain: DomainFace) => Face {
  const kept = new Map<string, { readonly print: string; readonly face: Face }>();
  return (domain) => {
    const print = JSON.stringify(domain);
    const known = kept.get(domain.name);
    const entry =
      known?.print === print
        ? known
        : { print, face: { brand: layOver(brands.forHost(domain.name), domain), domain } };
    kept.delete(domain.name);
    kept.set(domain.name, entry);
    if (kept.size > maxKept) kept.delete(kept.keys().next().value ?? '');
    return entry.face;
  };
}

function layOver(operators: Brand, { brand, logoName }: DomainFace): Brand {
  const colours = coloursOver(operators.colours, brand);
  return {
    ...operators,
    name: brand.name ?? operators.name,
    logo: logoName === null ? operators.logo : { name: logoName, type: logoTypeOf(logoName) },
    colours,
    styleText: styleOf(colours),
  };
}

/** A colour of the owner's brings its own for the dark scheme, so that two brands are never mixed. */
function coloursOver(operators: Colours, { colour, colourDark }: DomainFace['brand']): Colours {
  const dark = colourDark ?? colour;
  return {
    ...operators,
    ...(colour === null ? {} : { light: nearestReadable(colour, 'light') }),
    ...(dark === null ? {} : { dark: nearestReadable(dark, 'dark') }),
  };
}
