/**
 * The contract of API v2 about share domains as data.
 *
 * Owns: which endpoint exists, who may call it and what it may answer. Invariant: all of them need an account and the
 * scope `manage`; another account's domain answers as an unknown one.
 */
import { decodeNothing } from '../decode.ts';
import { describe, jsonBody } from '../describe.ts';
import type { RefusalCode } from '../refusals.ts';
import { decodeAdd, decodeBrand, decodeLogo, decodeName } from './decode.ts';
import { addBody, brandBody, logoBody } from './requests.ts';
import { brandAnswer, domainAnswer, domainRemovedAnswer, domainsAnswer } from './responses.ts';

const common = { access: 'account', scope: 'manage', limit: 'manage' } as const;
const tag = 'Domains';
const params = { domain: 'The domain, in any spelling.' };

/** More than a logo may have, so that one that is too large is told the limit. */
const logoCapBytes = 1_048_576;
const logoTypes = ['image/png', 'image/jpeg', 'image/webp', 'image/gif', 'image/svg+xml'];

function domainIs(description: string, ...refuses: RefusalCode[]) {
  return { description, schema: domainAnswer, refuses };
}

export const list = describe({
  ...common,
  name: 'v2.domainList',
  method: 'GET',
  path: '/domains',
  document: { summary: "List the account's domains", tag },
  answers: { description: 'All of them.', schema: domainsAnswer, refuses: [] },
  decode: decodeNothing,
});

export const add = describe({
  ...common,
  name: 'v2.domainAdd',
  method: 'POST',
  path: '/domains',
  aliases: [{ method: 'POST', path: '/domains/add' }],
  document: {
    summary: 'Register a domain',
    description:
      'Links can be made on it once it is verified: publish the TXT record, let the name lead to ' +
      '`details.cluster.cluster_host`, and call verify.',
    tag,
    body: jsonBody(addBody, true),
  },
  answers: domainIs(
    'It is registered, and not verified yet.',
    'plan_required',
    'domain_taken',
    'too_many_domains',
  ),
  decode: decodeAdd,
});

export const find = describe({
  ...common,
  name: 'v2.domain',
  method: 'GET',
  path: '/domains/:domain',
  document: { summary: 'Fetch a domain', tag, params },
  answers: domainIs('The domain.', 'unknown_domain'),
  decode: decodeName,
});

export const verify = describe({
  ...common,
  name: 'v2.domainVerify',
  method: 'POST',
  path: '/domains/:domain/verify',
  document: {
    summary: 'Check a domain now',
    description:
      'Asks the DNS for the TXT record and where the name leads. Verified domains are checked daily besides.',
    tag,
    params,
  },
  answers: domainIs('What it is now; `finding` says what is missing.', 'unknown_domain', 'domain_taken'),
  decode: decodeName,
});

export const remove = describe({
  ...common,
  name: 'v2.domainRemove',
  method: 'POST',
  path: '/domains/:domain/remove',
  document: {
    summary: 'Remove a domain',
    description: 'Links that were made on it lead here only as long as its DNS does.',
    tag,
    params,
  },
  answers: { description: 'It is gone.', schema: domainRemovedAnswer, refuses: ['unknown_domain'] },
  decode: decodeName,
});

export const findBrand = describe({
  ...common,
  name: 'v2.domainBrand',
  method: 'GET',
  path: '/domains/:domain/brand',
  document: { summary: "Fetch a domain's brand", tag, params },
  answers: { description: 'The brand.', schema: brandAnswer, refuses: ['unknown_domain'] },
  decode: decodeName,
});

export const setBrand = describe({
  ...common,
  name: 'v2.domainBrandChange',
  method: 'POST',
  path: '/domains/:domain/brand',
  document: {
    summary: "Change a domain's brand",
    description: 'Fields that are absent stay as they are; null gives the site’s own again.',
    tag,
    params,
    body: jsonBody(brandBody, true),
  },
  answers: { description: 'The brand as it is now.', schema: brandAnswer, refuses: ['unknown_domain'] },
  decode: decodeBrand,
});

export const setLogo = describe({
  ...common,
  name: 'v2.domainLogo',
  method: 'POST',
  path: '/domains/:domain/logo',
  bodyCapBytes: logoCapBytes,
  document: {
    summary: "Set a domain's logo",
    description:
      'The body is the picture itself: PNG, JPEG, WebP, GIF, or an SVG that only draws; at most 256 kB.',
    tag,
    params,
    body: { schema: logoBody, required: true, contentTypes: logoTypes },
  },
  answers: { description: 'The brand with its logo.', schema: brandAnswer, refuses: ['unknown_domain'] },
  decode: decodeLogo,
});

export const removeLogo = describe({
  ...common,
  name: 'v2.domainLogoRemove',
  method: 'POST',
  path: '/domains/:domain/logo/remove',
  document: { summary: "Take a domain's logo away", tag, params },
  answers: { description: 'The brand without a logo.', schema: brandAnswer, refuses: ['unknown_domain'] },
  decode: decodeName,
});
