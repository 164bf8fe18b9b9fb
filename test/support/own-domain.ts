/**
 * A share domain that stands by the operator's word, for tests that need one and are not about how it came to be.
 *
 * A domain that is not added is an error, so that no test runs without it.
 */
import type { AccountId } from '../../src/core/account.ts';
import type { DomainStore } from '../../src/core/ports.ts';
import { plainBrand } from '../../src/core/share-domain.ts';
import type { UnixSeconds } from '../../src/core/time.ts';

/** @param isPublic whether everybody may share on it; `true` when absent */
export async function giveDomain(
  store: DomainStore & { now(): UnixSeconds },
  accountId: AccountId,
  name: string,
  { isPublic = true }: { readonly isPublic?: boolean } = {},
): Promise<void> {
  const domain = { accountId, name, state: 'verified', challenge: null, createdAt: store.now() } as const;
  const outcome = await store.addDomain(domain, Number.MAX_SAFE_INTEGER);
  if (outcome !== 'added') throw new Error(outcome);
  if (!isPublic) await store.setDomainBrand(accountId, name, { ...plainBrand, isPublic });
}
