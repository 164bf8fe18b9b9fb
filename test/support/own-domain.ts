/** A share domain added by the operator, for tests that need one and do not care how it was verified. */
import type { AccountId } from '../../src/core/account.ts';
import type { DomainStore } from '../../src/core/ports/domains.ts';
import { plainBrand } from '../../src/core/share-domain.ts';
import type { UnixSeconds } from '../../src/core/time.ts';

/** Throws when the domain is not added. @param isPublic whether everybody may share on it; `true` when absent */
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
