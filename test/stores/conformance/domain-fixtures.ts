/**
 * Share domains and logos for the checks, each with its own random challenge or image.
 */
import { strict as assert } from 'node:assert';
import { randomBytes } from 'node:crypto';
import type { AccountId } from '../../../src/core/account.ts';
import type { DomainBrand, DomainLogo, NewDomain } from '../../../src/core/share-domain.ts';
import type { Store } from '../../../src/store/store.ts';
import { startOfTest } from './check.ts';

/** More than any check adds. */
export const manyDomains = 100;

/** A domain whose TXT record has not been seen yet. */
export const newDomain = (
  accountId: AccountId,
  name: string,
  changes: Partial<NewDomain> = {},
): NewDomain => ({
  accountId,
  name,
  state: 'unverified',
  challenge: randomBytes(16).toString('hex'),
  createdAt: startOfTest,
  ...changes,
});

/** Adds a domain and returns its name. */
export async function domainOf(
  store: Store,
  accountId: AccountId,
  name: string,
  changes: Partial<NewDomain> = {},
): Promise<string> {
  assert.equal(await store.addDomain(newDomain(accountId, name, changes), manyDomains), 'added');
  return name;
}

export function newLogo(lengthBytes = 300): DomainLogo {
  const bytes = new Uint8Array(randomBytes(lengthBytes));
  return { name: `${bytes.slice(0, 16).toHex()}.png`, type: 'image/png', bytes };
}

export const fullBrand: DomainBrand = {
  name: 'Ann’s “Post”',
  colour: '#0a5c3f',
  colourDark: '#7fd6b3',
  instructionsBefore: 'Press the button once.\nThen wait.',
  instructionsAfter: 'Ask Ann — she knows.',
  locale: 'pt-BR',
  isPublic: false,
};
