import type { AccountId } from '../core/account.ts';
import { type DomainBrand, type DomainFinding, plainBrand, type StoredDomain } from '../core/share-domain.ts';
import type { UnixSeconds } from '../core/time.ts';
import type { DomainState } from '../protocol/vocabulary.ts';

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
