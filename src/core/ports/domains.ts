import type { AccountId } from '../account.ts';
import type { DomainBrand, DomainCheck, DomainLogo, NewDomain, StoredDomain } from '../share-domain.ts';
import type { UnixSeconds } from '../time.ts';

/**
 * Share domains. Several accounts may register the same name, because a registration proves nothing; only one of them at a
 * time can have it verified, even under concurrent writes.
 */
export interface DomainStore {
  /**
   * Registers a domain for an account. `exists`: the account already has it. `taken`: another account has it verified.
   * `too_many`: the account already has `max`. `gone`: the account does not exist. In these cases, nothing changes.
   */
  addDomain(domain: NewDomain, max: number): Promise<'added' | 'exists' | 'taken' | 'too_many' | 'gone'>;
  findDomain(id: AccountId, name: string): Promise<StoredDomain | null>;
  /** Sorted by name. */
  listDomains(id: AccountId): Promise<StoredDomain[]>;
  /** Returns the verified domain with this name, or `null` if no account has it verified. One look-up. */
  findVerifiedDomain(name: string): Promise<StoredDomain | null>;
  /**
   * Records a check's finding at store time. Returns `taken`, and changes nothing, if the domain would become verified while
   * another account has it verified. Returns `null` if the domain does not exist.
   */
  noteDomainCheck(id: AccountId, name: string, check: DomainCheck): Promise<StoredDomain | 'taken' | null>;
  /** Returns whether the domain existed. */
  setDomainBrand(id: AccountId, name: string, brand: DomainBrand): Promise<boolean>;
  /** Sets the logo; `null` removes it. Returns whether the domain existed. */
  setDomainLogo(id: AccountId, name: string, logo: DomainLogo | null): Promise<boolean>;
  /** Returns the logo with this file name, for a domain in any state. */
  findDomainLogo(logoName: string): Promise<DomainLogo | null>;
  /** Returns whether the account had such a domain. */
  removeDomain(id: AccountId, name: string): Promise<boolean>;
  /**
   * Takes verified and lost domains that have a challenge and were last checked before `before`, the longest unchecked
   * first. Each goes to one caller, and to no other for `leaseSeconds`.
   */
  takeDomainsToCheck(before: UnixSeconds, limit: number, leaseSeconds: number): Promise<StoredDomain[]>;
}
