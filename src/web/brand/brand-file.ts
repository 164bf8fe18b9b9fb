/**
 * The brand file, `MAYFLY_BRAND_FILE`: the operator's brand as JSON.
 *
 * An accepted file can be shown as it is: every field is known and of its type, links are http, https or mail, colours are legible, and
 * the logo only draws. Anything else is refused with a sentence that names the field and what is allowed, because a typo must not yield a
 * half-applied brand.
 */

import { readFileSync, statSync } from 'node:fs';
import { dirname, isAbsolute, resolve } from 'node:path';
import { hostNameOf } from '../../core/share-domains/share-domain.ts';
import type { SiteFile } from '../assets.ts';
import { type Brand, type Brands, type FooterLink, ownBrand } from './brand.ts';
import { type Colours, nearestReadable, type Scheme, styleOf } from './colours.ts';
import { type Logo, maxLogoBytes, parseLogo } from './logo.ts';

/** One sentence about one field. */
class Refusal extends Error {}

type Fields = Readonly<Record<string, unknown>>;

/** A brand whose colours may still be inherited one by one. */
interface Draft extends Omit<Brand, 'styleText' | 'logo'> {
  readonly logo: Logo | null;
}

const ownDraft: Draft = { ...ownBrand, logo: null };
const faceFields = ['name', 'logo', 'colour', 'links', 'termsUrl', 'imprintUrl'] as const;
const maxNameLength = 60;
const maxLinks = 10;
const maxFileBytes = 1024 * 1024;

/** @returns the brands, or one sentence that says what is wrong with the file. */
export function readBrandFile(path: string): Brands | { readonly error: string } {
  try {
    return toBrands(parseFile(path), dirname(path));
  } catch (error) {
    if (error instanceof Refusal) return { error: error.message };
    throw error;
  }
}

function parseFile(path: string): unknown {
  const bytes = readAtMost(path, maxFileBytes, 'the file');
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    // The parser's own message may quote the file; "not JSON" is what the reader needs.
    throw new Refusal('the file must hold JSON in UTF-8');
  }
}

function readAtMost(path: string, maxBytes: number, what: string): Uint8Array<ArrayBuffer> {
  try {
    const { size } = statSync(path);
    if (size <= maxBytes) return new Uint8Array(readFileSync(path));
  } catch {
    throw new Refusal(`${what} cannot be read: check that it exists and that Mayfly may read it`);
  }
  throw new Refusal(`${what} must be a file of at most ${maxBytes / 1024} kB`);
}

function toBrands(json: unknown, folder: string): Brands {
  const fields = fieldsOf(json, 'the file', [...faceFields, 'domains']);
  const site = draftOf(fields, '', folder, ownDraft);
  const byHost = new Map<string, Brand>();
  const logos = new Map<string, SiteFile>();
  const keep = (draft: Draft) => {
    if (draft.logo !== null) logos.set(draft.logo.name, draft.logo.file);
    return toBrand(draft);
  };
  const siteBrand = keep(site);
  for (const [host, face] of domainsOf(fields.domains)) {
    const at = `domains["${host}"]`;
    byHost.set(host.toLowerCase(), keep(draftOf(fieldsOf(face, at, faceFields), `${at}.`, folder, site)));
  }
  return {
    forHost: (host) => (host === null ? siteBrand : (byHost.get(hostNameOf(host)) ?? siteBrand)),
    findLogo: (name) => logos.get(name) ?? null,
  };
}

function toBrand({ logo, ...face }: Draft): Brand {
  const shown = logo === null ? null : { name: logo.name, type: logo.file.type };
  return { ...face, logo: shown, styleText: styleOf(face.colours) };
}

const hostForm = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/i;

function domainsOf(value: unknown): [string, unknown][] {
  if (value === undefined) return [];
  const domains = Object.entries(recordOf(value, 'domains must be an object of host names'));
  for (const [host] of domains) {
    if (!hostForm.test(host)) {
      throw new Refusal(`domains: "${host}" must be a host name without scheme, port and path`);
    }
  }
  return domains;
}

function draftOf(fields: Fields, at: string, folder: string, inherited: Draft): Draft {
  return {
    name: fields.name === undefined ? inherited.name : nameOf(fields.name, `${at}name`),
    logo: fields.logo === undefined ? inherited.logo : logoOf(fields.logo, `${at}logo`, folder),
    colours: { ...inherited.colours, ...coloursOf(fields.colour, `${at}colour`) },
    links: fields.links === undefined ? inherited.links : linksOf(fields.links, `${at}links`),
    termsUrl: fields.termsUrl === undefined ? inherited.termsUrl : urlOf(fields.termsUrl, `${at}termsUrl`),
    imprintUrl:
      fields.imprintUrl === undefined ? inherited.imprintUrl : urlOf(fields.imprintUrl, `${at}imprintUrl`),
  };
}

function recordOf(value: unknown, rule: string): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw new Refusal(rule);
}

/** An object that has no other fields than these. */
function fieldsOf(value: unknown, what: string, known: readonly string[]): Fields {
  const fields = recordOf(value, `${what} must be an object of ${known.join(', ')}`);
  for (const name of Object.keys(fields)) {
    if (!known.includes(name))
      throw new Refusal(`${what} has no field "${name}": allowed are ${known.join(', ')}`);
  }
  return fields;
}

function textOf(value: unknown, at: string, maxLength: number): string {
  const isText = typeof value === 'string' && value.trim() !== '' && value.length <= maxLength;
  if (!isText || /\p{Cc}/u.test(value))
    throw new Refusal(`${at} must be a text of 1 to ${maxLength} characters`);
  return value.trim();
}

function nameOf(value: unknown, at: string): string {
  return textOf(value, at, maxNameLength);
}

function logoOf(value: unknown, at: string, folder: string): Logo | null {
  if (value === null) return null;
  if (typeof value !== 'string' || value === '' || isAbsolute(value) || /^[a-z]+:/i.test(value)) {
    throw new Refusal(`${at} must be a path relative to the brand file, or null for Mayfly’s own mark`);
  }
  const logo = parseLogo(readAtMost(resolve(folder, value), maxLogoBytes, `${at} ("${value}")`));
  if ('error' in logo) throw new Refusal(`${at} ("${value}") ${logo.error}`);
  return logo;
}

function coloursOf(value: unknown, at: string): Colours {
  if (value === undefined) return {};
  const { light, dark } = fieldsOf(value, at, ['light', 'dark']);
  return {
    ...(light === undefined ? {} : { light: colourOf(light, `${at}.light`, 'light') }),
    ...(dark === undefined ? {} : { dark: colourOf(dark, `${at}.dark`, 'dark') }),
  };
}

function colourOf(value: unknown, at: string, scheme: Scheme): string {
  if (typeof value !== 'string' || !/^#[0-9a-f]{6}$/i.test(value)) {
    throw new Refusal(`${at} must be a colour in the form #rrggbb`);
  }
  const colour = value.toLowerCase();
  const nearest = nearestReadable(colour, scheme);
  if (nearest === colour) return colour;
  throw new Refusal(
    `${at} must have a contrast of 4.5 to 1 on the ${scheme} paper, and ${colour} has less: the nearest that can be read is ${nearest}`,
  );
}

function linksOf(value: unknown, at: string): FooterLink[] {
  if (!Array.isArray(value) || value.length > maxLinks) {
    throw new Refusal(`${at} must be a list of at most ${maxLinks} objects of label, url`);
  }
  return value.map((link, index) => {
    const here = `${at}[${index}]`;
    const { label, url } = fieldsOf(link, here, ['label', 'url']);
    return { label: textOf(label, `${here}.label`, maxNameLength), url: linkOf(url, `${here}.url`) };
  });
}

function urlOf(value: unknown, at: string): string | null {
  return value === null ? null : linkOf(value, at);
}

const linkSchemes: ReadonlySet<string> = new Set(['https:', 'http:', 'mailto:']);

function linkOf(value: unknown, at: string): string {
  const url = typeof value === 'string' && value.length <= 2_000 ? URL.parse(value) : null;
  if (url === null || !linkSchemes.has(url.protocol)) {
    throw new Refusal(`${at} must be an address that begins with https://, http:// or mailto:`);
  }
  return url.href;
}
