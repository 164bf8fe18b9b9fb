import type { AccountId } from '../account.ts';
import type { DomainBrand, DomainCheck, DomainLogo, NewDomain, StoredDomain } from '../share-domain.ts';
import type { UnixSeconds } from '../time.ts';

/**
 * Share domains. Several accounts may register the same name, because a registration proves nothing; only one of them at a
 * time has it verified, however many write concurrently.
 */
export interface DomainStore {
  /**
   * Registers a domain for an account. `exists`: the account has it already. `taken`: another account has it verified.
   * `too_many`: the account has `max` already. `gone`: there is no such account. Nothing changed in those cases.
   */
  addDomain(domain: NewDomain, max: number): Promise<'added' | 'exists' | 'taken' | 'too_many' | 'gone'>;
  findDomain(id: AccountId, name: string): Promise<StoredDomain | null>;
  /** Sorted by name. */
  listDomains(id: AccountId): Promise<StoredDomain[]>;
  /** The verified domain of this name; `null` if no account has it verified. One look-up. */
  findVerifiedDomain(name: string): Promise<StoredDomain | null>;
  /**
   * Records a check's finding, at store time. `taken`, and nothing changed, when the domain would become verified while
   * another account has it verified. `null`: there is no such domain (any more).
   */
  noteDomainCheck(id: AccountId, name: string, check: DomainCheck): Promise<StoredDomain | 'taken' | null>;
  /** Returns whether there was such a domain. */
  setDomainBrand(id: AccountId, name: string, brand: DomainBrand): Promise<boolean>;
  /** `null` removes the logo. Returns whether there was such a domain. */
  setDomainLogo(id: AccountId, name: string, logo: DomainLogo | null): Promise<boolean>;
  /** The logo of this file name, of a domain in any state. */
  findDomainLogo(logoName: string): Promise<DomainLogo | null>;
  /** Returns whether the account had such a domain. */
  removeDomain(id: AccountId, name: string): Promise<boolean>;
  /**
   * Takes verified and lost domains that have a challenge and were last checked before `before`, the longest unchecked
   * first. Each goes to one caller, and to no other for `leaseSeconds`.
   */
  takeDomainsToCheck(before: UnixSeconds, limit: number, leaseSeconds: number): Promise<StoredDomain[]>;
}
