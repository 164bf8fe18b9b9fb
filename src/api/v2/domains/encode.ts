/**
 * Encoding of what API v2 answers about domains.
 *
 * Owns: the way from the core's names to `snake_case`. Invariant: numbers are numbers and absent times null.
 */
import type { Caller } from '../../../core/accounts/accounts.ts';
import type { DomainView } from '../../../core/share-domains/service.ts';
import { custidOf } from '../encode.ts';
import { encodeIgnored } from '../remarks.ts';
import type { BrandAnswer, BrandRecord, DomainAnswer, DomainRecord, DomainsAnswer } from './responses.ts';

function brandRecord({ brand, logoName }: DomainView): BrandRecord {
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

/** The name and its parts, as the existing service calls them. */
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

function domainRecord(domain: DomainView, caller: Caller): DomainRecord {
  const { state, txtRecord } = domain;
  return {
    ...partsOf(domain),
    custid: custidOf(caller),
    txt_validation_host: txtRecord?.host ?? null,
    txt_validation_value: txtRecord?.value ?? null,
    brand: brandRecord(domain),
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
    record: domainRecord(domain, caller),
    details: { cluster: clusterOf(domain), ...encodeIgnored(ignored) },
  };
}

export function encodeDomains(domains: readonly DomainView[], max: number, caller: Caller): DomainsAnswer {
  const [first] = domains;
  return {
    success: true,
    custid: custidOf(caller),
    count: domains.length,
    records: domains.map((domain) => domainRecord(domain, caller)),
    details: { max, cluster: first === undefined ? null : clusterOf(first) },
  };
}

export function encodeRemoved(name: string, caller: Caller) {
  return { success: true, custid: custidOf(caller), record: { identifier: name, removed: true } };
}

export function encodeBrand(domain: DomainView, caller: Caller): BrandAnswer {
  return { success: true, custid: custidOf(caller), record: brandRecord(domain) };
}
