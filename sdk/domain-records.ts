import { type DomainState, domainStates } from '../src/protocol/vocabulary.ts';
import {
  flagAt,
  listAt,
  numberAt,
  objectAt,
  optionalText,
  optionalTime,
  type Raw,
  textAt,
  textsAt,
  timeAt,
  type WireRecord,
  wordAt,
} from './wire.ts';

export interface Brand {
  /** `null` in any field: the site's own. */
  readonly name: string | null;
  /** `#rrggbb`, on a light page. */
  readonly colour: string | null;
  /** `#rrggbb`, on a dark page. */
  readonly darkColour: string | null;
  /** Above the button that opens a secret. */
  readonly instructionsBefore: string | null;
  /** Below an opened secret. */
  readonly instructionsAfter: string | null;
  /** A BCP 47 tag. */
  readonly locale: string | null;
  /** The logo's path on the domain. */
  readonly logo: string | null;
  /** Whether anyone may share on the domain. */
  readonly isPublic: boolean;
}

/** Absent fields stay unchanged; `null` restores the site's own. */
export type BrandChanges = Partial<Omit<Brand, 'logo'>>;

export interface Domain {
  /** In ASCII, lower case. */
  readonly name: string;
  /** In Unicode. */
  readonly displayName: string;
  readonly state: DomainState;
  /** Why the last check failed; `null` if it did not, or there was none. */
  readonly finding: string | null;
  readonly checkedAt: Date | null;
  /** The record to publish; `null` if the server's operator vouches for the domain. */
  readonly txtRecord: { readonly name: string; readonly value: string } | null;
  readonly brand: Brand;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Where the domain must point. */
export interface DomainTarget {
  /** For a CNAME. */
  readonly host: string;
  /** For A and AAAA records. */
  readonly addresses: readonly string[];
}

export interface TargetedDomain extends Domain {
  readonly target: DomainTarget;
}

export interface DomainList {
  readonly domains: readonly Domain[];
  /** How many the plan allows. */
  readonly max: number;
}

export interface WireBrand {
  readonly name: string | null;
  readonly primary_color: string | null;
  readonly primary_color_dark: string | null;
  readonly instructions_pre_reveal: string | null;
  readonly instructions_post_reveal: string | null;
  readonly locale: string | null;
  readonly logo: string | null;
  readonly allow_public_homepage: boolean;
}

export interface WireDomain {
  readonly name: string;
  readonly display_domain: string;
  readonly state: DomainState;
  readonly finding: string | null;
  readonly checked: number | null;
  readonly txt_validation_host: string | null;
  readonly txt_validation_value: string | null;
  readonly brand: WireBrand;
  readonly created: number;
  readonly updated: number;
}

export interface WireDomainAnswer extends WireRecord<WireDomain> {
  readonly details: {
    readonly cluster: { readonly cluster_host: string; readonly cluster_ips: readonly string[] };
  };
}

export interface WireDomains {
  readonly records: readonly WireDomain[];
  readonly details: { readonly max: number };
}

function toBrand(record: Raw<WireBrand>): Brand {
  return {
    name: optionalText(record, 'name'),
    colour: optionalText(record, 'primary_color'),
    darkColour: optionalText(record, 'primary_color_dark'),
    instructionsBefore: optionalText(record, 'instructions_pre_reveal'),
    instructionsAfter: optionalText(record, 'instructions_post_reveal'),
    locale: optionalText(record, 'locale'),
    logo: optionalText(record, 'logo'),
    isPublic: flagAt(record, 'allow_public_homepage'),
  };
}

export function toBrandAnswer(answer: Raw<WireRecord<WireBrand>>): Brand {
  return toBrand(objectAt(answer, 'record'));
}

function toDomain(record: Raw<WireDomain>): Domain {
  const name = optionalText(record, 'txt_validation_host');
  const value = optionalText(record, 'txt_validation_value');
  return {
    name: textAt(record, 'name'),
    displayName: textAt(record, 'display_domain'),
    state: wordAt(record, 'state', domainStates),
    finding: optionalText(record, 'finding'),
    checkedAt: optionalTime(record, 'checked'),
    txtRecord: name === null || value === null ? null : { name, value },
    brand: toBrand(objectAt(record, 'brand')),
    createdAt: timeAt(record, 'created'),
    updatedAt: timeAt(record, 'updated'),
  };
}

export function toTargetedDomain(answer: Raw<WireDomainAnswer>): TargetedDomain {
  const cluster = objectAt(objectAt(answer, 'details'), 'cluster');
  const target = { host: textAt(cluster, 'cluster_host'), addresses: textsAt(cluster, 'cluster_ips') };
  return { ...toDomain(objectAt(answer, 'record')), target };
}

export function toDomainList(answer: Raw<WireDomains>): DomainList {
  return {
    domains: listAt(answer, 'records').map(toDomain),
    max: numberAt(objectAt(answer, 'details'), 'max'),
  };
}

/** In the API's names. */
export function brandFields(changes: BrandChanges) {
  return {
    name: changes.name,
    primary_color: changes.colour,
    primary_color_dark: changes.darkColour,
    instructions_pre_reveal: changes.instructionsBefore,
    instructions_post_reveal: changes.instructionsAfter,
    locale: changes.locale,
    allow_public_homepage: changes.isPublic,
  };
}
