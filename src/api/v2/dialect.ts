/**
 * Every difference between the documented v2 and the existing service, with evidence. No other v2 code knows the dialect. No row
 * lets a GET consume or change anything (P4), though the existing service does for `continue=true` in the query.
 */
import type { Access } from '../../http/operation.ts';
import { type DialectName, managementAuthority, row, type SideOf, sideOf } from '../version.ts';

/** Exported for the test that iterates over it. */
export const differences = {
  managementAccess: row<Access>(
    'The existing service asks no credentials for metadata and burn, only for the recent list.',
    'account',
    'anyone',
  ),
  managementAuthority,
  revealNeedsContinue: row<boolean>(
    'A reveal without `continue` the existing service answers with the record alone; its own pages look that way first.',
    false,
    true,
  ),
  burnNeedsContinue: row<boolean>(
    'The existing service refuses a burn without `continue`, with 500; newer clients send it.',
    false,
    true,
  ),
  burnNeedsPassphrase: row<boolean>(
    'Where anyone with the metadata key may burn, the existing service asks the passphrase of a protected secret. WardSen burns its own without.',
    false,
    true,
  ),
  looksWithoutPassphrase: row<boolean>(
    'The existing service shows a waiting protected secret to anyone with its key: its confirmation page then asks for the passphrase.',
    false,
    true,
  ),
  unknownRecordKeys: row<(key: string) => { metadata_key: string; secret_key?: string }>(
    'The existing service names an unknown metadata key `secret_key`, as version 1 does.',
    (key) => ({ metadata_key: key }),
    (key) => ({ metadata_key: key, secret_key: key }),
  ),
  readsForms: row<boolean>(
    'The existing service reads forms too, with the nesting of the JSON body: `secret[secret]`. No body is then an empty form.',
    false,
    true,
  ),
  unknownStatusIsAnswered: row<boolean>(
    'The existing service answers 200 with `state: "unknown"` to the status of an unknown key.',
    false,
    true,
  ),
  readTtl: row<(given: unknown) => unknown>(
    'The existing service reads the leading digits of ttl, and without any grants the shortest lifetime.',
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
