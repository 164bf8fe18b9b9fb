import type { SecretRow } from '../record-rows.ts';

export interface PlacedSecretRow extends SecretRow {
  readonly position: number;
}

export const secretColumns =
  'position, row_version, owner, created_at, expires_at, marks, share_domain, sealed_secret';
