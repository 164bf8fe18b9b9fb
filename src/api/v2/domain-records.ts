/** v2's records and requests for share domains: the existing service's names, and ours (`name`, `state`, `finding`, `checked`). */
import { z } from 'zod';
import type { Caller } from '../../core/account.ts';
import { domainFindings } from '../../core/share-domain.ts';
import type { DomainView } from '../../core/share-domains/service.ts';
import { domainStates } from '../../protocol/vocabulary.ts';
import { notText, time } from '../fields.ts';
import { custidOf, success } from './records.ts';
import { encodeIgnored, ignored } from './wire.ts';

const text = z.string();
const flag = z.boolean();
const asciiName = text.meta({ description: 'In ASCII form, lower case.', examples: ['secrets.example.com'] });
const state = z.enum(domainStates).meta({
  description:
    '`unverified`: the TXT record has not been seen. `pending`: it has, but the name does not point here yet. ' +
    '`verified`: both; links can be made on it. `lost`: it was verified, but a later check found one of them gone.',
});
const textOrNull = text.nullable();

const brandRecord = z
  .object({
    name: textOrNull,
    primary_color: textOrNull.meta({ description: '`#rrggbb`, on light paper.' }),
    primary_color_dark: textOrNull.meta({ description: '`#rrggbb`, on dark paper.' }),
    instructions_pre_reveal: textOrNull,
    instructions_post_reveal: textOrNull,
    locale: textOrNull,
    logo: textOrNull.meta({ description: 'Path of the logo on the domain and on the site.' }),
    allow_public_homepage: flag,
    allow_public_api: flag,
  })
  .meta({ id: 'V2BrandRecord' });

const domainRecord = z
  .object({
    identifier: asciiName,
    domainid: asciiName,
    name: asciiName,
    display_domain: text.meta({ description: 'As people read it.' }),
    custid: text.meta({ description: "The owner's username." }),
    base_domain: text.meta({ description: 'The name registered with a registry.' }),
    subdomain: text.meta({ description: 'The whole name if it is below the base domain; empty otherwise.' }),
    trd: text.meta({ description: 'The part before the base domain; empty for the base domain itself.' }),
    sld: text.meta({ description: 'The base domain without its suffix.' }),
    tld: text.meta({ description: 'The public suffix: `com`, `co.uk`.' }),
    is_apex: flag.meta({ description: 'Whether it is the base domain itself, which can have no CNAME.' }),
    txt_validation_host: textOrNull.meta({
      description: 'The whole name of the TXT record to publish; null if an operator added the domain.',
    }),
    txt_validation_value: textOrNull.meta({ description: 'What the TXT record must hold.' }),
    brand: brandRecord,
    status: state,
    state,
    verified: flag,
    finding: z.enum(domainFindings).nullable().meta({
      description: 'Why the last check did not verify. `dns_failed`: no usable answer, so no conclusion.',
    }),
    checked: time.nullable().meta({ description: 'When the last check ended.' }),
    created: time,
    updated: time,
  })
  .meta({ id: 'V2DomainRecord' });

const cluster = z
  .object({
    type: z.literal('dns'),
    cluster_host: text.meta({ description: 'Where a CNAME of the domain must point.' }),
    cluster_ip: textOrNull.meta({ description: 'The first of its addresses, for the base domain itself.' }),
    cluster_ips: z.array(text).meta({ description: 'All of its addresses, for A and AAAA records.' }),
    cluster_name: textOrNull,
    vhost_target: text,
  })
  .meta({ id: 'V2DomainCluster' });

const custid = text.meta({ description: "The caller's username." });

export const domainAnswer = z
  .object({ success, custid, record: domainRecord, details: z.object({ cluster, ignored }) })
  .meta({ id: 'V2DomainAnswer' });

export const domainsAnswer = z
  .object({
    success,
    custid,
    count: z.int().min(0),
    records: z.array(domainRecord).meta({ description: 'By name.' }),
    details: z.object({
      max: z.int().min(0).meta({ description: 'How many the plan allows; 0: none.' }),
      cluster: cluster.nullable().meta({ description: 'Null when there is no record.' }),
    }),
  })
  .meta({ id: 'V2DomainsAnswer' });

export const domainRemovedAnswer = z
  .object({ success, custid, record: z.object({ identifier: text, removed: z.literal(true) }) })
  .meta({ id: 'V2DomainRemovedAnswer' });

export const brandAnswer = z.object({ success, custid, record: brandRecord }).meta({ id: 'V2BrandAnswer' });

export type DomainRecord = z.output<typeof domainRecord>;
type DomainAnswer = z.output<typeof domainAnswer>;

function encodeBrandRecord({ brand, logoName }: DomainView): z.output<typeof brandRecord> {
  return {
    name: brand.name,
    primary_color: brand.colour,
    primary_color_dark: brand.colourDark,
    instructions_pre_reveal: brand.instructionsBefore,
    instructions_post_reveal: brand.instructionsAfter,
    locale: brand.locale,
    logo: logoName === null ? null : `logo/${logoName}`,
    allow_public_homepage: brand.isPublic,
    allow_public_api: brand.isPublic,
  };
}

/** Returns the parts of a domain name, under the existing service's field names. */
function partsOf({ name, unicodeName, baseDomain, subdomain, publicSuffix }: DomainView) {
  return {
    identifier: name,
    domainid: name,
    name,
    display_domain: unicodeName,
    base_domain: baseDomain,
    subdomain: subdomain === '' ? '' : name,
    trd: subdomain,
    sld: baseDomain.slice(0, -publicSuffix.length - 1),
    tld: publicSuffix,
    is_apex: subdomain === '',
  };
}

function encodeRecord(domain: DomainView, caller: Caller): DomainRecord {
  const { state, txtRecord } = domain;
  return {
    ...partsOf(domain),
    custid: custidOf(caller),
    txt_validation_host: txtRecord?.host ?? null,
    txt_validation_value: txtRecord?.value ?? null,
    brand: encodeBrandRecord(domain),
    status: state,
    state,
    verified: state === 'verified',
    finding: domain.finding,
    checked: domain.checkedAt,
    created: domain.createdAt,
    updated: domain.updatedAt,
  };
}

function clusterOf({ target }: DomainView): DomainAnswer['details']['cluster'] {
  return {
    type: 'dns',
    cluster_host: target.host,
    cluster_ip: target.addresses[0] ?? null,
    cluster_ips: [...target.addresses],
    cluster_name: null,
    vhost_target: target.host,
  };
}

export function encodeDomain(
  domain: DomainView,
  caller: Caller,
  ignored: readonly string[] = [],
): DomainAnswer {
  return {
    success: true,
    custid: custidOf(caller),
    record: encodeRecord(domain, caller),
    details: { cluster: clusterOf(domain), ...encodeIgnored(ignored) },
  };
}

export function encodeDomains(
  domains: readonly DomainView[],
  max: number,
  caller: Caller,
): z.output<typeof domainsAnswer> {
  const [first] = domains;
  return {
    success: true,
    custid: custidOf(caller),
    count: domains.length,
    records: domains.map((domain) => encodeRecord(domain, caller)),
    details: { max, cluster: first === undefined ? null : clusterOf(first) },
  };
}

export function encodeRemoved(name: string, caller: Caller) {
  return { success: true, custid: custidOf(caller), record: { identifier: name, removed: true } };
}

export function encodeBrand(domain: DomainView, caller: Caller): z.output<typeof brandAnswer> {
  return { success: true, custid: custidOf(caller), record: encodeBrandRecord(domain) };
}

// Requests.

const notBoolean = 'Must be true or false';

export const addBody = z
  .object({
    domain: z
      .string(notText)
      .nullish()
      .meta({ description: 'A name such as secrets.example.com.', examples: ['secrets.example.com'] }),
  })
  .meta({ id: 'V2DomainRequest' });

const colour = (paper: string) =>
  z
    .string(notText)
    .nullish()
    .meta({ description: `\`#rgb\` or \`#rrggbb\`, readable on ${paper} paper. Null: the site's own.` });
const brandText = (description: string, example: string) =>
  z
    .string(notText)
    .nullish()
    .meta({ description, examples: [example] });
const optionalFlag = z.boolean(notBoolean).nullish();

export const brandFields = z
  .object({
    name: brandText('1 to 60 characters. Null: the site’s own.', 'Example Inc.'),
    primary_color: colour('light'),
    primary_color_dark: colour('dark'),
    instructions_pre_reveal: brandText(
      '1 to 500 characters, shown above the button that opens a secret.',
      'Please open this alone.',
    ),
    instructions_post_reveal: brandText(
      '1 to 500 characters, shown below an opened secret.',
      'Keep it in your password safe.',
    ),
    locale: brandText('A language that is offered: that of pages, unless the reader has chosen one.', 'en'),
    allow_public_homepage: optionalFlag.meta({ description: 'Whether anybody may share on this domain.' }),
    allow_public_api: optionalFlag.meta({ description: 'The same; both, when given, must agree.' }),
  })
  .meta({ id: 'V2BrandFields' });

/** Either nested under `brand`, as existing clients send it, or flat. Absent fields remain unchanged. */
export const brandBody = z.union([z.object({ brand: brandFields }).meta({ title: 'nested' }), brandFields]);

export const logoBody = z.string().meta({
  description: 'The bytes of the picture. Its type is judged by its content.',
  examples: ['<bytes>'],
});

export type BrandFields = z.output<typeof brandFields>;
