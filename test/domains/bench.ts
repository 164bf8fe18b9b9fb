/**
 * A bench for share domains: the real use cases over the in-memory store, with a DNS that the test controls.
 *
 * It provides accounts that may have domains, and takes a domain through its verification.
 */
import type { AccountCaller } from '../../src/core/account.ts';
import type { DomainView } from '../../src/core/share-domains/service.ts';
import { createTestApp, type TestApp, type TestAppOptions } from '../support/app.ts';
import { createZone, type Zone } from './zone.ts';

export const site = 'mayfly.example';
export const daySeconds = 86_400;

export async function callerOf(
  app: TestApp,
  email: string,
  plan: 'basic' | 'identity' = 'identity',
): Promise<AccountCaller> {
  const { username, token } = await app.account(email, plan);
  const caller = await app.service.authenticate(username, token);
  if (caller?.kind !== 'account') throw new Error(`${email} is not let in`);
  return caller;
}

export async function setUp(options: TestAppOptions = {}) {
  const zone = createZone();
  const app = createTestApp({ resolver: zone.resolver, ...options });
  const alice = await callerOf(app, 'alice@example.com');
  return { zone, app, alice, domains: app.domains };
}

export async function added(app: TestApp, caller: AccountCaller, name: string): Promise<DomainView> {
  const outcome = await app.domains.add(caller, name);
  if (outcome.outcome !== 'added') throw new Error(`${name} was not added: ${outcome.outcome}`);
  return outcome.domain;
}

/** Publishes what a domain needs: its TXT record, and addresses that point here. */
export function publish(zone: Zone, { name, txtRecord }: DomainView): void {
  zone.set('txt', txtRecord?.host ?? '', txtRecord?.value ?? '');
  zone.set('cname', name, site);
}

export async function verified(
  zone: Zone,
  app: TestApp,
  caller: AccountCaller,
  name: string,
): Promise<DomainView> {
  publish(zone, await added(app, caller, name));
  const outcome = await app.domains.verify(caller, name);
  if (outcome.outcome !== 'checked') throw new Error(outcome.outcome);
  return outcome.domain;
}
