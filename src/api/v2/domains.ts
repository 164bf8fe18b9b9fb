/**
 * API v2: share domains. All operations require an account and the scope `manage`. Another account's domain is treated as
 * unknown, and a refusal never repeats a text that could be an address with credentials. An absent brand field changes nothing;
 * `null` or an empty text restores the site's own value.
 */
import type { AccountCaller } from '../../core/account.ts';
import type { BrandChanges, BrandProblem, DomainNameProblem, LogoProblem } from '../../core/share-domain.ts';
import type { DomainService, DomainView } from '../../core/share-domains/service.ts';
import { contentTypeOf } from '../../http/content-type.ts';
import type { Exchange, Reply } from '../../http/operation.ts';
import { answerFrom, type Table } from '../version.ts';
import type { Dialect } from './dialect.ts';
import {
  addBody,
  type BrandFields,
  brandAnswer,
  brandBody,
  brandFields,
  domainAnswer,
  domainRemovedAnswer,
  domainsAnswer,
  encodeBrand,
  encodeDomain,
  encodeDomains,
  encodeRemoved,
  logoBody,
} from './domain-records.ts';
import { type Api, define, jsonBody, ok, type V2Operation } from './operation.ts';
import { encodeProblem, type RefusalCode, refuse, refuseField, refuseFields } from './refusals.ts';
import { ignoredIn, invalidFields, isObject, parseFields, readObject } from './wire.ts';

type Parts = Parameters<typeof define>[0];

function defineForAccount<Input>({
  handle,
  document,
  ...rest
}: Pick<Parts, 'name' | 'method' | 'path' | 'aliases' | 'bodyCapBytes' | 'answers'> & {
  readonly document: Omit<Parts['document'], 'tag' | 'params'>;
  decode(exchange: Exchange, dialect: Dialect): Input | Promise<Input>;
  handle(input: Input, caller: AccountCaller, api: Api): Promise<Reply>;
}): V2Operation<Input> {
  const params = rest.path.includes(':domain') ? { params: { domain: 'The domain, in any spelling.' } } : {};
  return define({
    ...{ access: 'account', scope: 'manage', limit: 'manage', ...rest },
    document: { tag: 'Domains', ...document, ...params },
    handle: (input, caller, api) =>
      caller.kind === 'account' ? handle(input, caller, api) : encodeProblem({ problem: 'not_authorized' }),
  });
}

function nameOf({ params: given }: Exchange): string {
  return given.domain ?? '';
}

async function decodeAdd(exchange: Exchange, dialect: Dialect) {
  const body = await readObject(exchange, dialect);
  return { name: parseFields(addBody, body, '').domain ?? '', ignored: ignoredIn(body, addBody) };
}

function isPublicOf(fields: BrandFields, prefix: string): boolean | null {
  const { allow_public_homepage: homepage = null, allow_public_api: api = null } = fields;
  if (homepage !== null && api !== null && homepage !== api)
    throw invalidFields({
      field: `${prefix}allow_public_api`,
      message: 'Must agree with allow_public_homepage',
    });
  return homepage ?? api;
}

function brandChanges(fields: BrandFields, prefix: string): BrandChanges {
  const texts = {
    name: fields.name,
    colour: fields.primary_color,
    colourDark: fields.primary_color_dark,
    instructionsBefore: fields.instructions_pre_reveal,
    instructionsAfter: fields.instructions_post_reveal,
    locale: fields.locale,
  };
  const given = Object.entries(texts).filter(([, value]) => value !== undefined);
  const isPublic = isPublicOf(fields, prefix);
  return {
    ...Object.fromEntries(given.map(([field, value]) => [field, value === '' ? null : value])),
    ...(isPublic !== null && { isPublic }),
  };
}

async function decodeBrand(exchange: Exchange, dialect: Dialect) {
  const body = await readObject(exchange, dialect);
  const isNested = body.brand !== undefined;
  if (isNested && !isObject(body.brand))
    throw invalidFields({ field: 'brand', message: 'Must be an object' });
  const prefix = isNested ? 'brand.' : '';
  const fields = parseFields(brandFields, isNested ? body.brand : body, prefix);
  return { name: nameOf(exchange), changes: brandChanges(fields, prefix), prefix };
}

const imageType = /^image\//i;

/** `bytes` is `null` if no picture was sent. */
async function decodeLogo(exchange: Exchange) {
  const isPicture = imageType.test(contentTypeOf(exchange.request.headers, imageType));
  return { name: nameOf(exchange), bytes: isPicture ? await exchange.body() : null };
}

function unknownDomain(domain: string): Reply {
  return refuse('unknown_domain', { extra: { domain } });
}

const reasons: Readonly<Record<Exclude<DomainNameProblem, 'missing'>, string>> = {
  malformed: 'write the name alone, such as secrets.example.com',
  ip_address: 'it is an address',
  not_public: 'it has no public suffix such as com or co.uk',
  public_suffix: 'anybody can register below it',
  own_host: "it is this site's own host",
};

const brandFieldNames: Readonly<Record<BrandProblem['field'], string>> = {
  name: 'name',
  colour: 'primary_color',
  colourDark: 'primary_color_dark',
  instructionsBefore: 'instructions_pre_reveal',
  instructionsAfter: 'instructions_post_reveal',
  locale: 'locale',
  isPublic: 'allow_public_homepage',
};

function sentenceOf({ field, problem, nearest, maxLength }: BrandProblem): string {
  switch (problem) {
    case 'malformed':
      return field === 'colour' || field === 'colourDark'
        ? 'Must be a colour, #rgb or #rrggbb'
        : 'Must be a plain text without control characters';
    case 'too_long':
      return `Must be at most ${maxLength} characters`;
    case 'unreadable_colour':
      return `Cannot be read on the page; the nearest that can is ${nearest}`;
    case 'unknown_locale':
      return 'Must be a language that is offered';
  }
}

const logoSentences: Readonly<Record<Exclude<LogoProblem, 'too_large'>, string>> = {
  unknown_type: 'Must be a picture: PNG, JPEG, WebP, GIF or SVG',
  unsafe_svg: 'Must be an SVG that only draws: no scripts, no links, nothing from elsewhere',
  damaged: 'Must be a whole picture: this one is damaged',
};

type Outcome = Awaited<ReturnType<DomainService['add' | 'find' | 'verify' | 'setBrand' | 'setLogo']>>;

const refusalTable: Table<
  Exclude<Outcome, { domain: unknown }>,
  'outcome',
  [name: string, prefix: string]
> = {
  unknown: (_, name) => unknownDomain(name),
  taken: () => refuse('domain_taken'),
  exists: () => refuseField('domain', 'Duplicate domain'),
  too_many: ({ max }) => refuse('too_many_domains', { extra: { max } }),
  plan_required: () => refuse('plan_required'),
  invalid_domain: ({ problem }) =>
    refuseField(
      'domain',
      problem === 'missing' ? 'Please enter a domain' : `Not a valid public domain: ${reasons[problem]}`,
    ),
  invalid(refused, _, prefix) {
    if ('problems' in refused)
      return refuseFields(
        refused.problems.map((problem) => ({
          field: prefix + brandFieldNames[problem.field],
          message: sentenceOf(problem),
        })),
      );
    const { problem, maxBytes: limit } = refused;
    return problem === 'too_large'
      ? refuse(problem, { message: `The logo is larger than the limit of ${limit} bytes`, extra: { limit } })
      : refuseField('logo', logoSentences[problem]);
  },
};

/** @param prefix the start of a field's name in the body as sent: `brand.` or nothing */
function answered(
  outcome: Outcome,
  encode: (domain: DomainView, caller: AccountCaller) => object,
  caller: AccountCaller,
  name: string,
  prefix = '',
): Reply {
  if ('domain' in outcome) return ok(encode(outcome.domain, caller));
  return answerFrom(refusalTable, 'outcome', outcome, name, prefix);
}

/** Larger than a logo may be, so that the refusal of an oversized one can name the limit. */
const logoCapBytes = 1_048_576;
const logoTypes = ['image/png', 'image/jpeg', 'image/webp', 'image/gif', 'image/svg+xml'];

function domainIs(description: string, ...refuses: RefusalCode[]) {
  return { description, schema: domainAnswer, refuses };
}

const list = defineForAccount({
  name: 'v2.domainList',
  method: 'GET',
  path: '/domains',
  document: { summary: "List the account's domains" },
  answers: { description: 'All of them.', schema: domainsAnswer, refuses: [] },
  decode: () => null,
  handle: async (_input, caller, { domains }) =>
    ok(encodeDomains(await domains.list(caller), domains.maxDomains(caller), caller)),
});

const add = defineForAccount({
  name: 'v2.domainAdd',
  method: 'POST',
  path: '/domains',
  aliases: [{ method: 'POST', path: '/domains/add' }],
  document: {
    summary: 'Register a domain',
    description:
      'Links can be made on it once it is verified: publish the TXT record, let the name lead to ' +
      '`details.cluster.cluster_host`, and call verify.',
    body: jsonBody(addBody, true),
  },
  answers: domainIs(
    'It is registered, and not verified yet.',
    'plan_required',
    'domain_taken',
    'too_many_domains',
  ),
  decode: decodeAdd,
  handle: async ({ name, ignored }, caller, { domains }) => {
    const encode = (domain: DomainView) => encodeDomain(domain, caller, ignored);
    return answered(await domains.add(caller, name), encode, caller, name);
  },
});

const find = defineForAccount({
  name: 'v2.domain',
  method: 'GET',
  path: '/domains/:domain',
  document: { summary: 'Fetch a domain' },
  answers: domainIs('The domain.', 'unknown_domain'),
  decode: nameOf,
  handle: async (name: string, caller, { domains }) =>
    answered(await domains.find(caller, name), encodeDomain, caller, name),
});

const verify = defineForAccount({
  name: 'v2.domainVerify',
  method: 'POST',
  path: '/domains/:domain/verify',
  document: {
    summary: 'Check a domain now',
    description:
      'Asks the DNS for the TXT record and where the name leads. Verified domains are checked daily besides.',
  },
  answers: domainIs('What it is now; `finding` says what is missing.', 'unknown_domain', 'domain_taken'),
  decode: nameOf,
  handle: async (name: string, caller, { domains }) =>
    answered(await domains.verify(caller, name), encodeDomain, caller, name),
});

const remove = defineForAccount({
  name: 'v2.domainRemove',
  method: 'POST',
  path: '/domains/:domain/remove',
  document: {
    summary: 'Remove a domain',
    description: 'Existing links on it keep working as long as its DNS points here.',
  },
  answers: { description: 'It is gone.', schema: domainRemovedAnswer, refuses: ['unknown_domain'] },
  decode: nameOf,
  handle: async (name: string, caller, { domains }) => {
    const { outcome } = await domains.remove(caller, name);
    return outcome === 'unknown' ? unknownDomain(name) : ok(encodeRemoved(name, caller));
  },
});

const findBrand = defineForAccount({
  name: 'v2.domainBrand',
  method: 'GET',
  path: '/domains/:domain/brand',
  document: { summary: "Fetch a domain's brand" },
  answers: { description: 'The brand.', schema: brandAnswer, refuses: ['unknown_domain'] },
  decode: nameOf,
  handle: async (name: string, caller, { domains }) =>
    answered(await domains.find(caller, name), encodeBrand, caller, name),
});

const setBrand = defineForAccount({
  name: 'v2.domainBrandChange',
  method: 'POST',
  path: '/domains/:domain/brand',
  document: {
    summary: "Change a domain's brand",
    description: 'Fields that are absent stay as they are; null gives the site’s own again.',
    body: jsonBody(brandBody, true),
  },
  answers: { description: 'The brand as it is now.', schema: brandAnswer, refuses: ['unknown_domain'] },
  decode: decodeBrand,
  handle: async ({ name, changes, prefix }, caller, { domains }) =>
    answered(await domains.setBrand(caller, name, changes), encodeBrand, caller, name, prefix),
});

const setLogo = defineForAccount({
  name: 'v2.domainLogo',
  method: 'POST',
  path: '/domains/:domain/logo',
  bodyCapBytes: logoCapBytes,
  document: {
    summary: "Set a domain's logo",
    description:
      'The body is the picture itself: PNG, JPEG, WebP, GIF, or an SVG that only draws; at most 262 kB.',
    body: { schema: logoBody, required: true, contentTypes: logoTypes },
  },
  answers: { description: 'The brand with its logo.', schema: brandAnswer, refuses: ['unknown_domain'] },
  decode: decodeLogo,
  handle: async ({ name, bytes }, caller, { domains }) =>
    bytes === null
      ? refuse('unsupported_media_type', { message: 'The body must be a picture, sent as image/…' })
      : answered(await domains.setLogo(caller, name, bytes), encodeBrand, caller, name),
});

const removeLogo = defineForAccount({
  name: 'v2.domainLogoRemove',
  method: 'POST',
  path: '/domains/:domain/logo/remove',
  document: { summary: "Take a domain's logo away" },
  answers: { description: 'The brand without a logo.', schema: brandAnswer, refuses: ['unknown_domain'] },
  decode: nameOf,
  handle: async (name: string, caller, { domains }) =>
    answered(await domains.setLogo(caller, name, null), encodeBrand, caller, name),
});

export const domainOperations: readonly V2Operation[] = [
  list,
  add,
  find,
  verify,
  remove,
  findBrand,
  setBrand,
  setLogo,
  removeLogo,
];
