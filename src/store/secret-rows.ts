/** What a secret and a look have in common, in both stores: the row that they are kept in, one after the other. */
import type { AccountId } from '../core/account.ts';
import type { SecretId } from '../core/keys.ts';
import type { StoredSecret } from '../core/secret.ts';
import type { UnixSeconds } from '../core/time.ts';
import { flagsIn } from './marks.ts';

export interface SecretRow {
  readonly row_version: number;
  readonly owner: AccountId | null;
  readonly created_at: UnixSeconds;
  readonly expires_at: UnixSeconds;
  readonly marks: number;
  readonly share_domain: string;
  readonly sealed_secret: Uint8Array;
}

export function toSecret(secretId: SecretId, row: SecretRow): StoredSecret {
  return {
    secretId,
    rowVersion: row.row_version,
    owner: row.owner,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    ...flagsIn(row.marks),
    shareDomain: row.share_domain,
    sealedSecret: row.sealed_secret,
  };
}
