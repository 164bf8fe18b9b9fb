/**
 * Every difference between the documented v2 and the existing service, with evidence. No other v2 code knows the dialect. No row
 * lets a GET consume or change anything (P4), though the existing service does for `continue=true` in the query.
 */
import type { Access } from '../../http/operation.ts';
import { type DialectName, managementAuthority, row, type SideOf, sideOf } from '../version.ts';

/** Exported for the test that iterates over it. */
export const differences = {
  managementAccess: row<Access>(
    'The existing service requires credentials only for the recent list, not for metadata and burn.',
    'account',
    'anyone',
  ),
  managementAuthority,
  revealNeedsContinue: row<boolean>(
    'Without `continue`, the existing service answers a reveal with the record alone. Its own pages check a secret that way first.',
    false,
    true,
  ),
  burnNeedsContinue: row<boolean>(
    'The existing service refuses a burn without `continue` with 500. Newer clients send it.',
    false,
    true,
  ),
  burnNeedsPassphrase: row<boolean>(
    'Anyone with the metadata key may burn a secret in the existing service, which then requires the passphrase, if there is one. WardSen burns its own without.',
    false,
    true,
  ),
  looksWithoutPassphrase: row<boolean>(
    'The existing service shows the record of a protected secret to anyone with its key. Its confirmation page then asks for the passphrase.',
    false,
    true,
  ),
  unknownRecordKeys: row<(key: string) => { metadata_key: string; secret_key?: string }>(
    'The existing service returns an unknown metadata key as `secret_key`, like version 1.',
    (key) => ({ metadata_key: key }),
    (key) => ({ metadata_key: key, secret_key: key }),
  ),
  readsForms: row<boolean>(
    'The existing service also reads forms, nested like the JSON body: `secret[secret]`. It reads a missing body as an empty form.',
    false,
    true,
  ),
  unknownStatusIsAnswered: row<boolean>(
    'The existing service answers the status of an unknown key with 200 and `state: "unknown"`.',
    false,
    true,
  ),
  readTtl: row<(given: unknown) => unknown>(
    'The existing service reads the leading digits of ttl. Without any, it grants the shortest lifetime.',
    (given) => given,
    leadingDigits,
  ),
};

export type Dialect = SideOf<typeof differences>;

export function dialectOf(name: DialectName): Dialect {
  return sideOf(differences, name);
}

/** No longer than any plan's shortest lifetime, so that the plan grants its shortest. */
const shortestTtl = 1;

/** Zero or no value means the default in both dialects; anything but a text or number is refused later. */
function leadingDigits(given: unknown): unknown {
  if (typeof given === 'number') return given < 0 ? shortestTtl : Math.trunc(given);
  if (typeof given !== 'string' || given === '') return given;
  return /^\s*\+?(\d+)/.exec(given)?.[1] ?? shortestTtl;
}
