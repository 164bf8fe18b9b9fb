/**
 * Rows of share domains as the core's type.
 *
 * Owns: the columns that are asked for, and the form of a brand.
 */
import type { AccountId } from '../../core/accounts/accounts.ts';
import {
  type DomainBrand,
  type DomainFinding,
  type DomainState,
  plainBrand,
  type StoredDomain,
} from '../../core/share-domains/share-domains.ts';
import type { UnixSeconds } from '../../core/time.ts';

export interface DomainRow {
  account_id: AccountId;
  name: string;
  state: DomainState;
  challenge: string | null;
  created_at: UnixSeconds;
  updated_at: UnixSeconds;
  checked_at: UnixSeconds | null;
  finding: DomainFinding | null;
  brand: string;
  logo_name: string | null;
}

/** To be followed by a condition on `domains d`. */
export const selectDomains = `
  SELECT d.account_id, d.name, d.state, d.challenge, d.created_at, d.updated_at, d.checked_at, d.finding, d.brand,
    l.name AS logo_name
  FROM domains d LEFT JOIN domain_logos l ON l.domain = d.name AND l.account_id = d.account_id`;

export function domainOf(row: DomainRow): StoredDomain {
  return {
    accountId: row.account_id,
    name: row.name,
    state: row.state,
    challenge: row.challenge,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    checkedAt: row.checked_at,
    finding: row.finding,
    brand: { ...plainBrand, ...(JSON.parse(row.brand) as Partial<DomainBrand>) },
    logoName: row.logo_name,
  };
}
