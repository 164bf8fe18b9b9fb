/** What a secret and a look have in common: the row that they are kept in, one after the other. */
import type { AccountId } from '../../core/account.ts';
import type { SecretId } from '../../core/keys.ts';
import type { StoredSecret } from '../../core/secret.ts';
import type { UnixSeconds } from '../../core/time.ts';
import { flagsIn } from '../marks.ts';

export interface SecretRow {
  position: number;
  row_version: number;
  owner: AccountId | null;
  created_at: UnixSeconds;
  expires_at: UnixSeconds;
  marks: number;
  share_domain: string;
  sealed_secret: Uint8Array;
}

export const secretColumns =
  'position, row_version, owner, created_at, expires_at, marks, share_domain, sealed_secret';

export function toSecret(id: SecretId, row: SecretRow): StoredSecret {
  return {
    secretId: id,
    rowVersion: row.row_version,
    owner: row.owner,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    ...flagsIn(row.marks),
    shareDomain: row.share_domain,
    sealedSecret: row.sealed_secret,
  };
}
