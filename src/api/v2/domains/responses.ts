/**
 * What API v2 answers about domains: one schema for each record and each envelope.
 *
 * Owns: the field names of the existing service's domains where it has them, and beside them those of our own (`name`,
 * `state`, `finding`, `checked`).
 */
import { z } from 'zod';
import { ignored } from '../remarks.ts';

const text = z.string();
const flag = z.boolean();
const time = z
  .int()
  .min(0)
  .meta({ description: 'Unix time in seconds, UTC.', examples: [1_746_700_000] });
const asciiName = text.meta({ description: 'In ASCII form, lower case.', examples: ['secrets.example.com'] });
const state = z.enum(['unverified', 'pending', 'verified', 'lost']).meta({
  description:
    '`unverified`: the TXT record was not seen yet. `pending`: it was, but the name does not lead here yet. ' +
    '`verified`: both; links can be made on it. `lost`: it was verified, and a later check found one of them gone.',
});
const textOrNull = text.nullable();

export const brandRecord = z
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
  .meta({ id: 'BrandRecord' });

export const domainRecord = z
  .object({
    identifier: asciiName,
    domainid: asciiName,
    name: asciiName,
    display_domain: text.meta({ description: 'As people read it.' }),
    custid: text.meta({ description: "The owner's username." }),
    base_domain: text.meta({ description: 'What was registered with a registry.' }),
    subdomain: text.meta({ description: 'The whole name when it stands below the base domain; empty else.' }),
    trd: text.meta({ description: 'What stands before the base domain; empty for the base domain itself.' }),
    sld: text.meta({ description: 'The base domain without its suffix.' }),
    tld: text.meta({ description: 'The public suffix: `com`, `co.uk`.' }),
    is_apex: flag.meta({ description: 'Whether it is the base domain itself, which can have no CNAME.' }),
    txt_validation_host: textOrNull.meta({
      description: 'The whole name of the TXT record to publish; null where the operator’s word stands.',
    }),
    txt_validation_value: textOrNull.meta({ description: 'What the TXT record must hold.' }),
    brand: brandRecord,
    status: state,
    state,
    verified: flag,
    finding: z.enum(['txt_missing', 'txt_differs', 'not_pointing', 'dns_failed']).nullable().meta({
      description:
        'Why the last check did not verify. `dns_failed`: no usable answer, nothing was concluded.',
    }),
    checked: time.nullable().meta({ description: 'When the last check ended.' }),
    created: time,
    updated: time,
  })
  .meta({ id: 'DomainRecord' });

const cluster = z
  .object({
    type: z.literal('dns'),
    cluster_host: text.meta({ description: 'Where a CNAME of the domain must lead.' }),
    cluster_ip: textOrNull.meta({ description: 'The first of its addresses, for the base domain itself.' }),
    cluster_ips: z.array(text).meta({ description: 'All of its addresses, for A and AAAA records.' }),
    cluster_name: textOrNull,
    vhost_target: text,
  })
  .meta({ id: 'DomainCluster' });

const success = z.literal(true);
const custid = text.meta({ description: "The caller's username." });

export const domainAnswer = z
  .object({ success, custid, record: domainRecord, details: z.object({ cluster, ignored }) })
  .meta({ id: 'DomainAnswer' });

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
  .meta({ id: 'DomainsAnswer' });

export const domainRemovedAnswer = z
  .object({ success, custid, record: z.object({ identifier: text, removed: z.literal(true) }) })
  .meta({ id: 'DomainRemovedAnswer' });

export const brandAnswer = z.object({ success, custid, record: brandRecord }).meta({ id: 'BrandAnswer' });

export type BrandRecord = z.output<typeof brandRecord>;
export type DomainRecord = z.output<typeof domainRecord>;
export type DomainAnswer = z.output<typeof domainAnswer>;
export type DomainsAnswer = z.output<typeof domainsAnswer>;
export type BrandAnswer = z.output<typeof brandAnswer>;
