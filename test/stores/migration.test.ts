/** Data of earlier versions keeps working: the embedded store migrates it on opening. */
import { Database } from 'bun:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AccountId } from '../../src/core/account.ts';
import type { NewRecord } from '../../src/core/secret.ts';
import { plainBrand, type StoredDomain } from '../../src/core/share-domain.ts';
import { registerServing } from '../../src/store/sqlite/files.ts';
import { hintOf } from '../../src/store/sqlite/locator.ts';
import { openSqliteSource } from '../../src/store/sqlite/moving.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import {
  deleteWhole,
  newPassword,
  newSession,
  newTicket,
  newToken,
  noTicketLimits,
} from './conformance/account-fixtures.ts';
import { clientStays, createSettableClock, found, newRecord, recentOf } from './conformance/check.ts';
import { testBallastBytes } from './subjects.ts';

const migrationFolder = join(import.meta.dir, '../../src/store/sqlite/migrations');
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

const migrations = readdirSync(migrationFolder)
  .filter((name) => name.endsWith('.sql'))
  .sort()
  .map((name) => readFileSync(join(migrationFolder, name), 'utf8'));

/** A folder as left by a version whose schema was this one: one account and its token. */
function makeEarlierData(schema: number): Database {
  const db = new Database(join(directory, 'mayfly.db'), { create: true });
  for (const migration of migrations.slice(0, schema)) db.run(migration);
  db.run('PRAGMA application_id = 0x6d617966');
  db.run(`PRAGMA user_version = ${schema}`);
  const { username, plan, createdAt } = ann;
  db.run('INSERT INTO accounts (username, plan, created_at) VALUES (?, ?, ?)', [username, plan, createdAt]);
  db.run(
    `INSERT INTO tokens (account_id, token_hash, name, wrapped_data_key, created_at) VALUES (1, ?, 'default', ?, ?)`,
    [tokenHash, wrappedDataKey, ann.createdAt],
  );
  return db;
}

const addShareDomain = (db: Database) => db.run("INSERT INTO share_domains VALUES ('ann.example.org', 1)");

/** How this version sees an account made by an earlier one. */
const annNow = { ...ann, locale: null, notify: [], senderName: null, lockedAt: null };

const annListed = { ...annNow, hasPassword: false, tokens: 1, lastUsedAt: null };

const open = () => openSqliteStore({ directory, clock: wallClock, ballastBytes: testBallastBytes });

describe('data of an earlier version that a server of it still serves', () => {
  it.each<[string, () => Promise<AsyncDisposable>]>([
    ['a command', () => openSqliteStore({ directory, clock: wallClock, isBesideServers: true })],
    ['a move', async () => openSqliteSource(directory, wallClock)],
  ])('is not brought up to date by %s', async (_who, openBeside) => {
    makeEarlierData(3).close();
    const serving = registerServing(directory);
    await expect(openBeside()).rejects.toThrow('A server of an earlier version runs on');
    using db = new Database(join(directory, 'mayfly.db'), { readonly: true });
    expect(db.query('PRAGMA user_version').values()).toEqual([[3]]);
    serving.leave();
    await (await openBeside())[Symbol.asyncDispose]();
  });
});

describe('data from before there were passwords', () => {
  beforeEach(() => {
    const db = makeEarlierData(3);
    addShareDomain(db);
    db.close();
  });

  it('keeps its accounts, without a language and a password, and its tokens, with every scope', async () => {
    await using store = await open();
    const account = annNow;
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
    expect(await store.listAccounts()).toEqual([annListed]);
    expect(await store.findPassword(ann.username)).toEqual({ account, password: null });
    expect((await store.findVerifiedDomain('ann.example.org'))?.accountId).toBe(ann.id);
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
    expect(await store.addTicket(ticket, noTicketLimits)).toBe(true);
    expect(await store.redeemReset(ticket.ticketHash, password, 'keep')).toEqual(annNow);
    expect(await store.addSession(ann.id, password.verifier, session)).not.toBeNull();
    expect((await store.addToken(ann.id, { ...newToken(), scopes: ['manage'] })).scopes).toEqual(['manage']);
    expect((await found(store, record.secretId)).owner).toBe(ann.id);
    expect(await deleteWhole(store, ann.id)).toBe(1);
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

/** What version 1 of the envelope kept beside the sealed secret. */
const creatorBoxOf = ({ receiptId }: NewRecord): Uint8Array => new Uint8Array(90).fill(receiptId[0] ?? 0);

/** Inserts a record as the version with four migrations did; `letter` is the state of its mail. */
function putEarlier(db: Database, record: NewRecord, letter: string): void {
  const { secretId, receiptId, createdAt, expiresAt, receiptExpiresAt, sealedSecret } = record;
  db.run(
    `INSERT INTO records (state, row_version, owner, created_at, expires_at, receipt_expires_at, ended_at, viewed_at,
      sweep_at, delivery, delivery_at, has_passphrase, root_kid, secret_hint, receipt_hint, secret_id, receipt_id,
      share_domain, details_box, recent_box, creator_box, sealed_secret)
    VALUES ('w', 1, ?1, ?2, ?3, ?4, ?3, ?4, ?3, ?5, ?2, ?6, 1, ?7, ?8, ?9, ?10, '', NULL, ?13, ?11, ?12)`,
    [
      record.owner,
      createdAt,
      expiresAt,
      receiptExpiresAt,
      letter,
      record.hasPassphrase ? 1 : 0,
      hintOf(secretId),
      hintOf(receiptId),
      secretId,
      receiptId,
      creatorBoxOf(record),
      sealedSecret,
      record.recentBox,
    ],
  );
}

const ended = ['queued', 'accepted', 'refused', 'not_sent'] as const;
const letters = { queued: 'q', accepted: 'a', refused: 'r', not_sent: 'n' } as const;

/** Payload bytes of the rows of `records`, as SQLite counts them. */
function payloadBytes(): number {
  const db = new Database(join(directory, 'mayfly.db'), { readwrite: true });
  const row = db
    .query<{ n: number }, []>("SELECT sum(payload) AS n FROM dbstat WHERE name = 'records'")
    .get();
  db.close();
  return row?.n ?? 0;
}

describe('data from before domains proved themselves and mails were followed', () => {
  const made = wallClock.read();
  const earlier = Array.from({ length: 40 }, (_, n) =>
    newRecord(made, { owner: n % 2 === 0 ? ann.id : null, hasPassphrase: n % 3 === 0 }),
  );
  /** The first four records have one state each. */
  const letterOf = (n: number): string => letters[ended[n] ?? 'queued'] ?? '-';

  beforeEach(() => {
    const db = makeEarlierData(4);
    addShareDomain(db);
    for (const [n, record] of earlier.entries()) putEarlier(db, record, n < ended.length ? letterOf(n) : '-');
    db.close();
  });

  it('lists its receipts, newest first', async () => {
    await using store = await open();
    const owned = earlier.filter((record) => record.owner === ann.id).toReversed();
    const listed = await recentOf(store, ann.id, 100);
    expect(listed.map((each) => [...each.receiptId])).toEqual(owned.map((each) => [...each.receiptId]));
  });

  it('P5: is not added to by a process of an earlier version that still runs on it', async () => {
    const db = new Database(join(directory, 'mayfly.db'), { readwrite: true });
    const merging = db.query('UPDATE index_progress SET upto = 40');
    await using _store = await open();
    expect(() => merging.run()).toThrow('no such table: index_progress');
    db.close();
  });

  it('keeps its share domains, verified by the operator’s word', async () => {
    await using store = await open();
    const domain: StoredDomain = {
      accountId: ann.id,
      name: 'ann.example.org',
      state: 'verified',
      challenge: null,
      createdAt: ann.createdAt,
      updatedAt: ann.createdAt,
      checkedAt: null,
      finding: null,
      brand: plainBrand,
      logoName: null,
    };
    expect(await store.findVerifiedDomain('ann.example.org')).toEqual(domain);
    expect(await store.listDomains(ann.id)).toEqual([domain]);
    expect(await store.takeDomainsToCheck(Number.MAX_SAFE_INTEGER, 10, 60)).toEqual([]);
    expect(await store.listAccounts()).toEqual([annListed]);
    const left = new Database(join(directory, 'mayfly.db'), { readwrite: true });
    expect(left.query("SELECT name FROM sqlite_schema WHERE name LIKE 'share_domains%'").all()).toEqual([]);
    left.close();
  });

  it('keeps the state of its mails, and treats one that was still queued as not sent', async () => {
    await using store = await open();
    const told = await Promise.all(
      earlier.map(async ({ receiptId }) => (await store.findReceipt(receiptId))?.delivery),
    );
    const rest = { at: made, staleAt: null, noteBox: null, addressBox: null };
    expect(told.slice(0, 4)).toEqual([
      { ...rest, state: 'not_sent' },
      { ...rest, state: 'accepted' },
      { ...rest, state: 'refused' },
      { ...rest, state: 'not_sent' },
    ]);
    expect(new Set(told.slice(4))).toEqual(new Set([null]));
    const delivery = {
      state: 'given_up',
      staleAt: null,
      noteBox: new Uint8Array(9),
      addressBox: null,
    } as const;
    for (const { receiptId } of earlier.slice(0, 5)) {
      await store.setDelivery(receiptId, delivery);
      expect((await store.findReceipt(receiptId))?.delivery).toEqual({ ...delivery, at: store.now() });
    }
  });

  it('keeps what the creator reads of a secret beside it, until the secret ends', async () => {
    await using store = await open();
    const [first] = earlier;
    if (first === undefined) throw new Error('there are no earlier records');
    const before = await store.findReceipt(first.receiptId);
    expect(before).toMatchObject({ sealedSecret: first.sealedSecret, creatorBox: creatorBoxOf(first) });
    await store.claim(await found(store, first.secretId), clientStays);
    const after = await store.findReceipt(first.receiptId);
    expect(after).toMatchObject({ state: 'received', sealedSecret: null, creatorBox: null });
  });

  it('keeps its secrets and their passphrases, with nobody to notify', async () => {
    await using store = await open();
    for (const record of earlier) {
      const { hasPassphrase, notify, sealedSecret } = await found(store, record.secretId);
      expect([hasPassphrase, notify]).toEqual([record.hasPassphrase, []]);
      expect(sealedSecret).toEqual(record.sealedSecret);
    }
    expect(await store.takeDueNotices(10)).toEqual([]);
    const [first, second] = earlier;
    if (first === undefined || second === undefined) throw new Error('there are no earlier records');
    expect(await store.claim(await found(store, first.secretId), clientStays)).toBe('won');
    expect(await store.burn(second.receiptId, clientStays)).toBe(made);
    expect(await deleteWhole(store, ann.id)).toBe(19);
  });

  it('P10: is read, burned and deleted in place: no row of it grows or shrinks', async () => {
    await using store = await open();
    const before = payloadBytes();
    expect(before).toBeGreaterThan(earlier.length * 300);
    for (const { receiptId } of earlier) await store.markViewed(receiptId);
    for (const { secretId } of earlier.slice(0, 10))
      await store.claim(await found(store, secretId), clientStays);
    for (const { receiptId } of earlier.slice(10, 20)) await store.burn(receiptId, clientStays);
    await deleteWhole(store, ann.id);
    expect(payloadBytes()).toBe(before);
  });

  it('P10: would grow, as the count above would notice, with another column', () => {
    const db = new Database(join(directory, 'mayfly.db'));
    const before = payloadBytes();
    db.run('ALTER TABLE records ADD COLUMN notify INTEGER NOT NULL DEFAULT 0');
    expect(payloadBytes()).toBe(before);
    db.run('UPDATE records SET sealed_secret = zeroblob(length(sealed_secret))');
    expect(payloadBytes()).toBe(before + earlier.length);
    db.close();
  });
});

describe('data from before several mailed links lived side by side', () => {
  const [reset, signUp] = [
    newTicket('reset', ann.username, wallClock.read()),
    newTicket('sign_up', 'bob@example.org', wallClock.read()),
  ];

  beforeEach(() => {
    const db = makeEarlierData(5);
    for (const { kind, username, ticketHash, createdAt, expiresAt } of [reset, signUp])
      db.run('INSERT INTO tickets VALUES (?, ?, ?, ?, ?)', [
        kind,
        username,
        ticketHash,
        createdAt,
        expiresAt,
      ]);
    db.close();
  });

  it('keeps the links that are under way, and each still works once', async () => {
    await using store = await open();
    for (const each of [reset, signUp])
      expect(await store.findTicket(each.kind, each.ticketHash)).toEqual(each);
    expect(await store.redeemReset(reset.ticketHash, newPassword(), 'keep')).toEqual(annNow);
    expect(await store.redeemReset(reset.ticketHash, newPassword(), 'keep')).toBeNull();
  });

  it('takes another beside them, and counts them against it for a day', async () => {
    await using store = await open();
    const limits = { maxLive: 3, quietSeconds: [60], windowSeconds: 86_400 };
    const next = (seconds: number) => newTicket('reset', ann.username, wallClock.read() + seconds);
    expect(await store.addTicket(next(59), limits)).toBe(false);
    const later = next(60);
    expect(await store.addTicket(later, limits)).toBe(true);
    for (const each of [reset, later]) expect(await store.findTicket('reset', each.ticketHash)).toEqual(each);
    const db = new Database(join(directory, 'mayfly.db'), { readwrite: true });
    const ends = db.query('SELECT DISTINCT counts_until - created_at AS day FROM tickets').all();
    expect([
      ends,
      db.query("SELECT name FROM sqlite_schema WHERE name LIKE '%single_tickets%'").all(),
    ]).toEqual([[{ day: 86_400 }], []]);
    db.close();
  });
});

describe('data from before there were memos', () => {
  const earlier = Array.from({ length: 40 }, () => newRecord(wallClock.read(), { owner: ann.id }));

  beforeEach(() => {
    const db = makeEarlierData(7);
    // The passphrase column was renamed since, but kept its position.
    db.run('ALTER TABLE records RENAME COLUMN marks TO has_passphrase');
    for (const record of earlier) putEarlier(db, record, '-');
    db.run('ALTER TABLE records RENAME COLUMN has_passphrase TO marks');
    db.close();
  });

  it('has none, and takes one for each of its records', async () => {
    await using store = await open();
    const memoBox = new Uint8Array(randomBytes(304));
    for (const { receiptId } of earlier) {
      const before = await store.findReceipt(receiptId);
      expect(before?.memoBox).toBeNull();
      expect(await store.setMemo(receiptId, memoBox)).toBe(true);
      expect(await store.findReceipt(receiptId)).toEqual(before && { ...before, memoBox });
    }
    expect(await recentOf(store, ann.id, 100)).toHaveLength(earlier.length);
  });

  it('P10: takes them in rows of their own: no row of its records grows', async () => {
    await using store = await open();
    const before = payloadBytes();
    for (const { receiptId } of earlier) await store.setMemo(receiptId, new Uint8Array(304).fill(1));
    for (const { secretId } of earlier.slice(0, 10))
      await store.claim(await found(store, secretId), clientStays);
    expect(payloadBytes()).toBe(before);
  });
});

describe('data from before accounts could be locked', () => {
  const used = { token: ann.createdAt + 500, session: ann.createdAt + 900 };

  beforeEach(() => {
    const db = makeEarlierData(10);
    db.run('UPDATE tokens SET last_used_at = ?', [used.token]);
    db.run(
      "INSERT INTO accounts (username, plan, created_at) VALUES ('bob@example.org', 'basic', 1700000001)",
    );
    db.run(
      `INSERT INTO sessions (account_id, session_hash, wrapped_data_key, label, created_at, last_used_at, expires_at)
       VALUES (1, ?, ?, 'Firefox', ?, ?, ?)`,
      [randomBytes(32), randomBytes(76), ann.createdAt, used.session, used.session],
    );
    db.close();
  });

  it('has no locked account, and knows when each was last used', async () => {
    await using store = await open();
    const listed = await store.listAccounts();
    expect(listed.map(({ username, lockedAt, lastUsedAt }) => [username, lockedAt, lastUsedAt])).toEqual([
      [ann.username, null, used.session],
      ['bob@example.org', null, null],
    ]);
  });

  it('takes a lock for each of its accounts', async () => {
    await using store = await open();
    expect(await store.lockAccount(ann.id)).toBe(true);
    expect((await store.findToken(tokenHash))?.account.lockedAt).toBe(store.now());
    expect(await store.unlockAccount(ann.id)).toBe(true);
    expect((await store.findToken(tokenHash))?.account).toEqual(annNow);
  });
});
