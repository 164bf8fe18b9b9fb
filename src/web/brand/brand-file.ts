/**
 * The brand file, `MAYFLY_BRAND_FILE`: the operator's brand as JSON. An accepted file is safe to show: every field is known and typed,
 * links are http, https or mailto, colours are legible, and the logo can only draw. A refusal names the field and its allowed values. A
 * typo never results in half a brand.
 */
import { readFileSync, statSync } from 'node:fs';
import { dirname, isAbsolute, resolve } from 'node:path';
import { z } from 'zod';
import { fieldsOf, type JsonReading, namesOf, readJson } from '../../config/json.ts';
import { hostNameOf } from '../../core/share-domain.ts';
import { sizeText } from '../../locale/size.ts';
import type { SiteFile } from '../assets/assets.ts';
import { type Brand, type Brands, ownBrand } from './brand.ts';
import { nearestReadable, type Scheme, styleOf } from './colours.ts';
import { type Logo, maxLogoBytes, parseLogo } from './logo.ts';

interface Draft extends Omit<Brand, 'styleText' | 'logo'> {
  readonly logo: Logo | null;
}

const maxNameLength = 60;
const maxLinks = 10;
const maxFileBytes = 1024 * 1024;

/** Returns the brands, or every problem as a sentence without its full stop. */
export function readBrandFile(path: string): JsonReading<Brands> {
  const bytes = readAtMost(path, maxFileBytes);
  if ('error' in bytes) return { problems: [`the file ${bytes.error}`] };
  const read = readJson(bytes, brandFileIn(dirname(path)), 'the file');
  return 'problems' in read ? read : { value: brandsOf(read.value) };
}

/** @returns the bytes, or an error that completes a sentence about the file */
function readAtMost(path: string, maxBytes: number): Uint8Array<ArrayBuffer> | { readonly error: string } {
  try {
    const { size } = statSync(path);
    if (size <= maxBytes) return new Uint8Array(readFileSync(path));
    return { error: `must be a file of at most ${sizeText('en', maxBytes)}` };
  } catch {
    return { error: 'cannot be read: check that it exists and that Mayfly may read it' };
  }
}

function objectOf<S extends z.ZodRawShape>(shape: S, mustBe = 'must be an object') {
  const names = namesOf(shape);
  const unknown = `{in} has no field "{key}": allowed are ${names}`;
  return fieldsOf(shape, { mustBe: `${mustBe} of ${names}`, unknown });
}

const nameRule = `must be a text of 1 to ${maxNameLength} characters`;
const name = z
  .string(nameRule)
  .refine((text) => text.trim() !== '' && text.length <= maxNameLength && !/\p{Cc}/u.test(text), nameRule)
  .transform((text) => text.trim());

const linkSchemes: ReadonlySet<string> = new Set(['https:', 'http:', 'mailto:']);
const addressRule = 'must be an address that begins with https://, http:// or mailto:';
const address = z.string(addressRule).transform((text, context) => {
  const url = text.length <= 2_000 ? URL.parse(text) : null;
  if (url !== null && linkSchemes.has(url.protocol)) return url.href;
  context.addIssue(addressRule);
  return z.NEVER;
});

const linksRule = `must be a list of at most ${maxLinks} objects of label, url`;
const links = z.array(objectOf({ label: name, url: address }), linksRule).max(maxLinks, linksRule);

const colourRule = 'must be a colour in the form #rrggbb';

function colourOn(scheme: Scheme) {
  return z
    .string(colourRule)
    .regex(/^#[0-9a-f]{6}$/i, { error: colourRule, abort: true })
    .toLowerCase()
    .check(({ value, issues }) => {
      const nearest = nearestReadable(value, scheme);
      if (nearest === value) return;
      const message = `must have a contrast of 4.5 to 1 on the ${scheme} paper, and ${value} has less: the nearest that can be read is ${nearest}`;
      issues.push({ code: 'custom', message, input: value });
    })
    .exactOptional();
}

const logoRule = 'must be a path relative to the brand file, or null for Mayfly’s own logo';

function logoIn(folder: string) {
  return z
    .string(logoRule)
    .refine((path) => path !== '' && !isAbsolute(path) && !/^[a-z]+:/i.test(path), {
      error: logoRule,
      abort: true,
    })
    .transform((path, context): Logo => {
      const bytes = readAtMost(resolve(folder, path), maxLogoBytes);
      const logo = 'error' in bytes ? bytes : parseLogo(bytes);
      if (!('error' in logo)) return logo;
      context.addIssue(`{at} ("${path}") ${logo.error}`);
      return z.NEVER;
    });
}

const hostForm = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/i;

function brandFileIn(folder: string) {
  const fields = {
    name: name.exactOptional(),
    logo: logoIn(folder).nullable().exactOptional(),
    colour: objectOf({ light: colourOn('light'), dark: colourOn('dark') }).exactOptional(),
    links: links.exactOptional(),
    termsUrl: address.nullable().exactOptional(),
    imprintUrl: address.nullable().exactOptional(),
  };
  const domains = z.record(z.string().regex(hostForm), objectOf(fields), {
    error: ({ code }) =>
      code === 'invalid_key'
        ? '{in}: "{key}" must be a host name without scheme, port and path'
        : 'must be an object of host names',
  });
  return objectOf({ ...fields, domains: domains.exactOptional() }, 'must hold JSON in UTF-8, an object');
}

type BrandFile = z.infer<ReturnType<typeof brandFileIn>>;

function brandsOf({ domains = {}, ...siteFields }: BrandFile): Brands {
  const byHost = new Map<string, Brand>();
  const logos = new Map<string, SiteFile>();
  const keep = (draft: Draft) => {
    if (draft.logo !== null) logos.set(draft.logo.name, draft.logo.file);
    return toBrand(draft);
  };
  const site = draftOf(siteFields, { ...ownBrand, logo: null });
  const siteBrand = keep(site);
  for (const [host, given] of Object.entries(domains)) {
    byHost.set(host.toLowerCase(), keep(draftOf(given, site)));
  }
  return {
    forHost: (host) => (host === null ? siteBrand : (byHost.get(hostNameOf(host)) ?? siteBrand)),
    findLogo: (name) => logos.get(name) ?? null,
  };
}

function draftOf({ colour, ...given }: Omit<BrandFile, 'domains'>, inherited: Draft): Draft {
  return { ...inherited, ...given, colours: { ...inherited.colours, ...colour } };
}

function toBrand({ logo, ...given }: Draft): Brand {
  const shown = logo === null ? null : { name: logo.name, type: logo.file.type };
  return { ...given, logo: shown, styleText: styleOf(given.colours) };
}
