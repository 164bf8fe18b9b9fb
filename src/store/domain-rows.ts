import { type DomainBrand, plainBrand, type StoredDomain } from '../core/share-domain.ts';

/** Columns of `domains d` with its logo `l`, by the names of the fields that they become. */
export const domainColumns = `
  d.account_id AS "accountId", d.name, d.state, d.challenge, d.created_at AS "createdAt", d.updated_at AS "updatedAt",
  d.checked_at AS "checkedAt", d.finding, d.brand, l.name AS "logoName"`;

/** `brand` is JSON. */
export type DomainRow = Omit<StoredDomain, 'brand'> & { readonly brand: string };

export function domainOf(row: DomainRow): StoredDomain {
  const { accountId, name, state, challenge, createdAt, updatedAt, checkedAt, finding, logoName } = row;
  const brand = { ...plainBrand, ...(JSON.parse(row.brand) as Partial<DomainBrand>) };
  return { accountId, name, state, challenge, createdAt, updatedAt, checkedAt, finding, brand, logoName };
}
