/**
 * Data of an earlier version goes on working: the embedded store brings it up to date when it opens it.
 */
import { Database } from 'bun:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AccountId } from '../../src/domain/accounts.ts';
import {
  newPassword,
  newSession,
  newTicket,
  newToken,
} from '../../src/store/conformance/account-fixtures.ts';
import { createSettableClock, found, newRecord } from '../../src/store/conformance/check.ts';
import records from '../../src/store/sqlite/migrations/001-records.sql' with { type: 'text' };
import attempts from '../../src/store/sqlite/migrations/002-attempts.sql' with { type: 'text' };
import accounts from '../../src/store/sqlite/migrations/003-accounts.sql' with { type: 'text' };
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { testBallastBytes } from './subjects.ts';

const wallClock = createSettableClock();
const tokenHash = new Uint8Array(randomBytes(32));
const wrappedDataKey = new Uint8Array(randomBytes(76));
const ann = {
  id: 1 as AccountId,
  username: 'ann@example.org',
  plan: 'identity',
  createdAt: 1_700_000_000,
} as const;
let directory = '';

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'mayfly-'));
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** A folder as the version with the schema of three migrations left it: one account, its token, its domain. */
function makeEarlierData(): void {
  const db = new Database(join(directory, 'mayfly.db'), { create: true });
  for (const migration of [records, attempts, accounts]) db.run(migration);
  db.run('PRAGMA application_id = 0x6d617966');
  db.run('PRAGMA user_version = 3');
  db.run('INSERT INTO accounts (username, plan, created_at) VALUES (?, ?, ?)', [
    ann.username,
    ann.plan,
    ann.createdAt,
  ]);
  db.run(
    `INSERT INTO tokens (account_id, token_hash, name, wrapped_data_key, created_at) VALUES (1, ?, 'default', ?, ?)`,
    [tokenHash, wrappedDataKey, ann.createdAt],
  );
  db.run("INSERT INTO share_domains VALUES ('ann.example.org', 1)");
  db.close();
}

const open = () => openSqliteStore({ directory, clock: wallClock.read, ballastBytes: testBallastBytes });

describe('data from before there were passwords', () => {
  beforeEach(makeEarlierData);

  it('keeps its accounts, without a language and a password, and its tokens, with every scope', async () => {
    await using store = await open();
    const account = { ...ann, locale: null };
    expect(await store.findToken(tokenHash)).toEqual({
      account,
      token: {
        tokenId: 1,
        accountId: ann.id,
        tokenHash,
        name: 'default',
        wrappedDataKey,
        scopes: ['create', 'manage', 'read-recent'],
        createdAt: ann.createdAt,
        expiresAt: null,
        lastUsedAt: null,
      },
    });
    expect(await store.listAccounts()).toEqual([account]);
    expect(await store.findPassword(ann.username)).toEqual({ account, password: null });
    expect(await store.findShareDomainOwner('ann.example.org')).toBe(ann.id);
    expect(await store.listSessions(ann.id)).toEqual([]);
  });

  it('takes everything that this version stores', async () => {
    await using store = await open();
    const [record, password, session] = [
      newRecord(store.now(), { owner: ann.id }),
      newPassword(),
      newSession(),
    ];
    const ticket = newTicket('reset', ann.username);
    await store.put(record);
    expect(await store.addTicket(ticket, 0)).toBe(true);
    expect(await store.redeemReset(ticket.ticketHash, password)).toEqual({ ...ann, locale: null });
    expect(await store.addSession(ann.id, password.verifier, session)).not.toBeNull();
    expect((await store.addToken(ann.id, { ...newToken(), scopes: ['manage'] })).scopes).toEqual(['manage']);
    expect((await found(store, record.secretId)).owner).toBe(ann.id);
    expect(await store.deleteAccount(ann.id)).toBe(1);
    expect(await store.findToken(tokenHash)).toBeNull();
  });

  it('is brought up to date once, also when several open it at the same time, and then opened as it is', async () => {
    const stores = await Promise.all([open(), open(), open()]);
    for (const store of stores) expect((await store.findToken(tokenHash))?.account.id).toBe(ann.id);
    await stores[0]?.setLocale(ann.id, 'uk');
    for (const store of stores) expect((await store.findAccountById(ann.id))?.locale).toBe('uk');
    await Promise.all(stores.map((store) => store[Symbol.asyncDispose]()));
    await using again = await open();
    expect((await again.findAccountById(ann.id))?.locale).toBe('uk');
  });
});
