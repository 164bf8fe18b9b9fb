/** What a secret and a look have in common: the row that they are kept in, one after the other. */
import type { AccountId } from '../../core/account.ts';
import type { SecretId } from '../../core/keys.ts';
import type { StoredSecret } from '../../core/secret.ts';
import type { UnixSeconds } from '../../core/time.ts';
import { flagsIn } from '../marks.ts';

export interface SecretRow {
  readonly row_version: number;
  readonly owner: AccountId | null;
  readonly created_at: UnixSeconds;
  readonly expires_at: UnixSeconds;
  readonly marks: number;
  readonly share_domain: string;
  readonly sealed_secret: Uint8Array;
}

/** But the sealed bytes: they are read only where they are of use. */
export const secretColumns = 'r.row_version, r.owner, r.created_at, r.expires_at, r.marks, r.share_domain';

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

const textOf = (id: Uint8Array): string => Buffer.from(id).toString('latin1');

/** For each id a row that names it: a statement gives its rows in any order, one for each time that a known id was asked for. */
export function rowsInOrderOf<Row extends { readonly asked_id: Uint8Array }>(
  ids: readonly Uint8Array[],
  rows: readonly Row[],
): (Row | null)[] {
  const byId = Map.groupBy(rows, (row) => textOf(row.asked_id));
  return ids.map((id) => byId.get(textOf(id))?.pop() ?? null);
}
