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
import {
  type Brand,
  type BrandChanges,
  brandFields,
  type DomainList,
  type TargetedDomain,
  toBrandAnswer,
  toDomainList,
  toTargetedDomain,
} from './domain-records.ts';
import type { CallOptions } from './limit.ts';
import { createTransport, type TransportOptions } from './transport.ts';
import { given } from './wire.ts';

export type { DomainState } from '../src/protocol/vocabulary.ts';
export type {
  Brand,
  BrandChanges,
  Domain,
  DomainList,
  DomainTarget,
  TargetedDomain,
} from './domain-records.ts';
export { type FieldError, MayflyError, type MayflyErrorCode } from './error.ts';
export type { CallOptions } from './limit.ts';
export type { Credentials, Fetch, TransportOptions } from './transport.ts';

/** Every method needs an account, and rejects only with `MayflyError`. `name` is the domain in any spelling. */
export interface DomainClient {
  /** All of them, by name. */
  list(options?: CallOptions): Promise<DomainList>;
  /** Rejects with `plan_required`, `too_many_domains` or `domain_taken`. */
  add(name: string, options?: CallOptions): Promise<TargetedDomain>;
  /** Rejects with `unknown_domain` if the account has no such domain, as do the methods below. */
  find(name: string, options?: CallOptions): Promise<TargetedDomain>;
  /** Checks the DNS now. Rejects with `domain_taken` if another account has verified it since. */
  verify(name: string, options?: CallOptions): Promise<TargetedDomain>;
  /** Its links go on working while its DNS points to the server. */
  remove(name: string, options?: CallOptions): Promise<void>;
  /** Rejects with `invalid_field`, for example for an illegible colour. */
  setBrand(name: string, changes: BrandChanges, options?: CallOptions): Promise<Brand>;
  /** @param logo PNG, JPEG, WebP, GIF or an SVG without active content, up to 262 kB, with its `type` set; `null` removes it */
  setLogo(name: string, logo: Blob | null, options?: CallOptions): Promise<Brand>;
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
      return toBrandAnswer(await call({ method: 'POST', path: `${pathOf(name)}/brand`, body }, own));
    },
    setLogo: async (name, logo, own) => {
      const path = `${pathOf(name)}/logo`;
      return toBrandAnswer(
        await (logo === null ? post(`${path}/remove`, own) : call({ method: 'POST', path, body: logo }, own)),
      );
    },
  };
}
