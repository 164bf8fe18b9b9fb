/**
 * The operator's face: name, logo, colours and links of the foot, of the site and of each share domain.
 *
 * Owns: the type that pages show. Invariant: the host a request names only chooses among the configured brands and is
 * never repeated in a page (P20).
 */
import type { SiteFile } from '../assets.ts';
import type { Colours } from './brand-colour.ts';

export interface FooterLink {
  readonly label: string;
  /** Absolute, https, http or mailto. */
  readonly url: string;
}

export interface Brand {
  /** Of the installation, as headings and titles say it. */
  readonly name: string;
  /** `null`: the built-in mark. `name` is the file's name below `/logo/`. */
  readonly logo: { readonly name: string; readonly type: string } | null;
  /** Those that it has of its own. */
  readonly colours: Colours;
  /** Rules laid over the style sheet's own custom properties, made from the colours; `''` for none. */
  readonly styleText: string;
  readonly links: readonly FooterLink[];
  readonly termsUrl: string | null;
  readonly imprintUrl: string | null;
}

export interface Brands {
  /** The brand of a host name as the request gives it (with a port perhaps); the site's own for all others. */
  forHost(host: string | null): Brand;
  /** A logo by its file name; `null` when no brand has it. */
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
