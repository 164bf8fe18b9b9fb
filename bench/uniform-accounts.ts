/**
 * Accounts for a bench, put into a store before a server opens it.
 */
import { randomBytes } from 'node:crypto';
import { createAccount } from '../src/core/accounts/admin.ts';
import { drawDataKey } from '../src/core/accounts/data-key.ts';
import { makePassword } from '../src/core/accounts/passwords.ts';
import { Sensitive } from '../src/core/sensitive.ts';
import { systemRandom } from '../src/crypto/random.ts';
import { createMachineClock } from '../src/ops/machine-clock.ts';
import { createPassphraseHasher } from '../src/ops/slow-hashes.ts';
import { openSqliteStore, type SqliteStore } from '../src/store/sqlite/store.ts';

interface KnownAccount {
  readonly username: string;
  /** The header's value. */
  readonly basic: string;
}

export interface KnownAccounts {
  readonly owner: KnownAccount;
  readonly other: KnownAccount;
  /** All of them. */
  readonly usernames: readonly string[];
  readonly withPassword: readonly string[];
}

/** All are equally long. */
export const drawAddress = (): string => `${randomBytes(8).toString('hex')}@example.org`;

const passwordCount = 8;

/** @param count at least 2 */
export async function makeAccounts(directory: string, count: number): Promise<KnownAccounts> {
  await using store = await openSqliteStore({ directory, clock: createMachineClock() });
  const all = await Promise.all(Array.from({ length: count }, () => makeAccount(store)));
  const [owner, other] = all;
  if (owner === undefined || other === undefined) throw new Error('two accounts are needed');
  const usernames = all.map(({ username }) => username);
  const withPassword = usernames.slice(0, passwordCount);
  for (const username of withPassword) await givePassword(store, username);
  return { owner, other, usernames, withPassword };
}

async function makeAccount(store: SqliteStore): Promise<KnownAccount> {
  const made = await createAccount(
    { store, random: systemRandom },
    { email: drawAddress(), plan: 'identity' },
  );
  if (made.outcome !== 'created') throw new Error(`an account was not made: ${made.outcome}`);
  const { username, token } = made;
  return { username, basic: `Basic ${Buffer.from(`${username}:${token.expose()}`).toString('base64')}` };
}

const noLimits = { maxLive: 1_000, quietSeconds: [0], windowSeconds: 0 };

/** By a reset whose mail is never sent. */
async function givePassword(store: SqliteStore, username: string): Promise<void> {
  const [now, ticketHash] = [store.now(), new Uint8Array(randomBytes(32))];
  const password = await makePassword(
    { hasher: createPassphraseHasher(), random: systemRandom },
    {
      password: new Sensitive('a password of the bench'),
      dataKey: drawDataKey(systemRandom),
      setAt: now,
      client: '',
    },
  );
  await store.addTicket(
    { kind: 'reset', username, ticketHash, createdAt: now, expiresAt: now + 60 },
    noLimits,
  );
  if ((await store.redeemReset(ticketHash, password, 'keep')) === null)
    throw new Error('a password was not set');
}
