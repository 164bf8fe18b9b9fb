/**
 * `@mayfly/client/domains`: an account's share domains.
 *
 * ```ts
 * const domains = createDomainClient({ server: 'https://secrets.example.org', credentials });
 * const { txtRecord, target } = await domains.add('secrets.example.com');
 * // Publish the TXT record, point the name to the target, then:
 * const { state } = await domains.verify('secrets.example.com');
 * ```
 */
import type { DomainState } from '../src/protocol/vocabulary.ts';
import type { CallOptions } from './limit.ts';
import { createTransport, type TransportOptions } from './transport.ts';
import {
  brandRecord,
  domainAnswer,
  domainRecord,
  domainsAnswer,
  given,
  read,
  recordOf,
  recordsOf,
  type Values,
  type WireBrandChanges,
} from './wire.ts';

export type { DomainState } from '../src/protocol/vocabulary.ts';
export { type FieldError, MayflyError, type MayflyErrorCode } from './error.ts';
export type { CallOptions } from './limit.ts';
export type { Credentials, Fetch, TransportOptions } from './transport.ts';

export interface Brand {
  /** In this and the fields below, `null` means the site's own. */
  readonly name: string | null;
  /** `#rrggbb`, for light pages. */
  readonly colour: string | null;
  /** `#rrggbb`, for dark pages. */
  readonly darkColour: string | null;
  /** Shown above the button that opens a secret. */
  readonly instructionsBefore: string | null;
  /** Shown below an opened secret. */
  readonly instructionsAfter: string | null;
  /** A BCP 47 tag. */
  readonly locale: string | null;
  /** The logo's path on the domain. */
  readonly logo: string | null;
  /** Whether anyone may share on the domain. */
  readonly isPublic: boolean;
}

/** Absent fields are left unchanged; `null` restores the site's own. */
export type BrandChanges = Partial<Omit<Brand, 'logo'>>;

export interface Domain {
  /** In lower-case ASCII. */
  readonly name: string;
  /** In Unicode. */
  readonly displayName: string;
  readonly state: DomainState;
  /** Why the last check failed; `null` if it passed, or if none has been made. */
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

/** Every method needs an account, and rejects only with `MayflyError`. `name` may be any spelling of the domain. */
export interface DomainClient {
  /** Lists the account's domains, sorted by name. */
  list(options?: CallOptions): Promise<DomainList>;
  /** Rejects with `plan_required`, `too_many_domains` or `domain_taken`. */
  add(name: string, options?: CallOptions): Promise<TargetedDomain>;
  /** Rejects with `unknown_domain` if the account has no such domain, as do the methods below. */
  find(name: string, options?: CallOptions): Promise<TargetedDomain>;
  /** Checks the DNS now. Rejects with `domain_taken` if another account has verified the domain since. */
  verify(name: string, options?: CallOptions): Promise<TargetedDomain>;
  /** Removes the domain. Its links keep working while its DNS points to the server. */
  remove(name: string, options?: CallOptions): Promise<void>;
  /** Rejects with `invalid_field`, for example if a colour is illegible. */
  setBrand(name: string, changes: BrandChanges, options?: CallOptions): Promise<Brand>;
  /** @param logo PNG, JPEG, WebP, GIF or an SVG without active content, up to 262 kB, with its `type` set; `null` removes the logo */
  setLogo(name: string, logo: Blob | null, options?: CallOptions): Promise<Brand>;
}

function toDomain({ txtName: name, txtValue: value, ...domain }: Values<typeof domainRecord>): Domain {
  return { ...domain, txtRecord: name === null || value === null ? null : { name, value } };
}

function toTargetedDomain(answer: unknown): TargetedDomain {
  const { record, details } = read(answer, domainAnswer);
  return { ...toDomain(record), target: details.target };
}

function toDomainList(answer: unknown): DomainList {
  const domains = recordsOf(answer).map((record) => toDomain(read(record, domainRecord)));
  return { domains, max: read(answer, domainsAnswer).details.max };
}

function brandFields(changes: BrandChanges): WireBrandChanges {
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

/**
 * @throws TypeError if `server` is not an http(s) address
 * @throws RangeError if `retries` is not a whole number from 0 to 5
 */
export function createDomainClient(options: TransportOptions): DomainClient {
  const call = createTransport(options);
  const pathOf = (name: string) => `/domains/${encodeURIComponent(name)}`;
  const get = (path: string, own?: CallOptions) => call({ method: 'GET', path, isRead: true }, own);
  const post = (path: string, own?: CallOptions) => call({ method: 'POST', path }, own);
  return {
    list: async (own) => toDomainList(await get('/domains', own)),
    add: async (name, own) =>
      toTargetedDomain(await call({ method: 'POST', path: '/domains', body: { domain: name } }, own)),
    find: async (name, own) => toTargetedDomain(await get(pathOf(name), own)),
    verify: async (name, own) => toTargetedDomain(await post(`${pathOf(name)}/verify`, own)),
    remove: async (name, own) => void (await post(`${pathOf(name)}/remove`, own)),
    setBrand: async (name, changes, own) => {
      const body = { brand: given(brandFields(changes)) };
      return read(
        recordOf(await call({ method: 'POST', path: `${pathOf(name)}/brand`, body }, own)),
        brandRecord,
      );
    },
    setLogo: async (name, logo, own) => {
      const path = `${pathOf(name)}/logo`;
      const removed = logo === null;
      const answer = await (removed
        ? post(`${path}/remove`, own)
        : call({ method: 'POST', path, body: logo }, own));
      return read(recordOf(answer), brandRecord);
    },
  };
}
