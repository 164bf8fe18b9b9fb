/** A person with an account that may have share domains, and a DNS that the test controls. */
import type { AccountId } from '../../src/core/account.ts';
import type { BrandChanges } from '../../src/core/share-domain.ts';
import type { DnsAnswer, Resolver } from '../../src/core/share-domains/check.ts';
import { createTestApp, type TestApp, type TestAppOptions } from '../support/app.ts';
import { type AccountVisitor, address, signUp } from './account-visitor.ts';

export interface TestDns extends Resolver {
  /** The answers from now on; absent: there is no such record. */
  readonly records: {
    readonly txt: Map<string, readonly string[]>;
    readonly cname: Map<string, readonly string[]>;
    readonly addresses: Map<string, readonly string[]>;
  };
  /** Whether queries fail. */
  isDown: boolean;
}

export function createDns(): TestDns {
  const records: TestDns['records'] = { txt: new Map(), cname: new Map(), addresses: new Map() };
  const answer = (kind: keyof typeof records) => async (name: string) => {
    const values = records[kind].get(name);
    if (dns.isDown) return { outcome: 'failed' } as const;
    return values === undefined ? ({ outcome: 'none' } as const) : { outcome: 'found', values };
  };
  const dns: TestDns = {
    records,
    isDown: false,
    txt: answer('txt') as (name: string) => Promise<DnsAnswer>,
    cname: answer('cname') as (name: string) => Promise<DnsAnswer>,
    addresses: answer('addresses') as (name: string) => Promise<DnsAnswer>,
  };
  return dns;
}

export interface DomainOwner {
  readonly app: TestApp;
  readonly dns: TestDns;
  readonly visitor: AccountVisitor;
  readonly id: AccountId;
}

/** Gives the account the plan that allows share domains. */
export async function allowDomains(app: TestApp, email: string): Promise<AccountId> {
  const account = await app.store.findAccount(email);
  if (account === null) throw new Error(`there is no account ${email}`);
  await app.store.setPlan(account.id, 'identity');
  return account.id;
}

export async function openOwner(options: TestAppOptions = {}): Promise<DomainOwner> {
  const dns = createDns();
  const app = createTestApp({ resolver: dns, ...options });
  const visitor = await signUp(app);
  return { app, dns, visitor, id: await allowDomains(app, address) };
}

/** Creates the records that the page of the domain asks for. */
export async function setUpDns(
  { app, dns }: Pick<DomainOwner, 'app' | 'dns'>,
  id: AccountId,
  name: string,
): Promise<void> {
  const domain = await app.store.findDomain(id, name);
  if (domain?.challenge == null) throw new Error(`${name} has no challenge`);
  dns.records.txt.set(`_mayfly-challenge-${domain.challenge.slice(0, 7)}.${name}`, [domain.challenge]);
  dns.records.cname.set(name, [app.links.siteHost]);
}

/** Adds a domain through its pages and verifies it. */
export async function addVerified(owner: DomainOwner, name: string, brand: BrandChanges = {}): Promise<void> {
  const { app, visitor, id } = owner;
  await visitor.get('/account/domains');
  await visitor.post('/account/domains', { domain: name });
  await setUpDns(owner, id, name);
  await visitor.get(`/account/domains/${name}`);
  await visitor.post(`/account/domains/${name}/verify`);
  const domain = await app.store.findVerifiedDomain(name);
  if (domain === null) throw new Error(`${name} is not verified`);
  await app.store.setDomainBrand(id, name, { ...domain.brand, ...brand });
}

/** A request as a browser makes it on this host. */
export function on(host: string): { readonly headers: Readonly<Record<string, string>> } {
  return { headers: { host } };
}
