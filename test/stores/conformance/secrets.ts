/**
 * Checks of storing, finding, expiring and erasing secrets.
 */
import { strict as assert } from 'node:assert';
import type { AccountId } from '../../../src/core/account.ts';
import type { ReceiptId, SecretId } from '../../../src/core/keys.ts';
import type { BurnedBatch } from '../../../src/core/ports/claims.ts';
import { attemptLimits } from '../../../src/core/secrets/attempts.ts';
import type { Store } from '../../../src/store/store.ts';
import { ownerIn } from './account-fixtures.ts';
import {
  type ConformanceCheck,
  check,
  clientStays,
  found,
  fullRecord,
  newReceiptId,
  newRecord,
  newSecretId,
  putNew,
  recentOf,
  restartCheck,
  ttlSeconds,
} from './check.ts';

/** How many were burned, in batches. */
async function burnEverything(store: Store, limit: number): Promise<number> {
  let total = 0;
  for (let after: string | null = null; ; ) {
    const { burned, next }: BurnedBatch = await store.burnAll(after, limit);
    total += burned;
    if (next === null) return total;
    after = next;
  }
}

export const secretChecks: readonly ConformanceCheck[] = [
  check('P5', 'a secret can be found, byte for byte, as soon as put has resolved', async ({ store }) => {
    const owner = await ownerIn(store);
    const record = fullRecord(store.now(), owner);
    await store.put(record);
    const secret = await found(store, record.secretId);
    const { rowVersion, ...rest } = secret;
    const same = [
      ...(['secretId', 'createdAt', 'expiresAt', 'hasPassphrase', 'sealed'] as const),
      ...(['verify', 'shareDomain', 'notify', 'sealedSecret'] as const),
    ];
    const ofRecord = Object.fromEntries(same.map((name) => [name, record[name]]));
    assert.deepEqual(rest, { owner, ...ofRecord });
    assert.equal(rowVersion, 1);
  }),

  check('P16', 'no secret is stored for an account that is not there', async ({ store }) => {
    const owner = await ownerIn(store);
    const record = newRecord(store.now(), { owner: (owner + 1) as AccountId });
    await assert.rejects(store.put(record), { code: 'unavailable' });
    assert.equal(await store.findSecret(record.secretId), null);
    assert.equal(await store.findReceipt(record.receiptId), null);
    await putNew(store, { owner });
  }),

  check('P5', 'secrets of 0 bytes to 64 KiB come back as they were', async ({ store }) => {
    const sizes = [0, 1, 3, 252, 1_163, 4_000, 4_096, 10_379, 65_536];
    const records = sizes.map((size) =>
      newRecord(store.now(), { sealedSecret: new Uint8Array(size).fill(size % 251) }),
    );
    await Promise.all(records.map((record) => store.put(record)));
    for (const { secretId, sealedSecret } of records) {
      assert.deepEqual((await found(store, secretId)).sealedSecret, sealedSecret);
    }
  }),

  check(
    'P5',
    'each of many secrets stored at once can be found as soon as its own put has resolved',
    async ({ store }) => {
      const storeAndFind = async () => {
        const { secretId, sealedSecret } = await putNew(store);
        assert.deepEqual((await found(store, secretId)).sealedSecret, sealedSecret);
      };
      await Promise.all(Array.from({ length: 200 }, storeAndFind));
    },
  ),

  check('port', 'a store keeps its own copy of the bytes it is given and gives', async ({ store }) => {
    const record = newRecord(store.now());
    const { secretId, sealedSecret } = structuredClone(record);
    const stored = store.put(record);
    record.sealedSecret.fill(0);
    await stored;
    const first = await found(store, secretId as SecretId);
    assert.deepEqual(first.sealedSecret, sealedSecret);
    first.sealedSecret.fill(0);
    assert.deepEqual((await found(store, secretId as SecretId)).sealedSecret, sealedSecret);
  }),

  check(
    'P13',
    'an unknown id finds nothing, and neither kind of id works in the place of the other',
    async ({ store }) => {
      const record = await putNew(store);
      assert.equal(await store.findSecret(newSecretId()), null);
      assert.equal(await store.findReceipt(newReceiptId()), null);
      assert.equal(await store.findSecret(record.receiptId as Uint8Array as SecretId), null);
      assert.equal(await store.burn(newReceiptId(), clientStays), null);
    },
  ),

  check(
    'P7',
    'burning all ends everything that waits, whoever made it, and nothing else',
    async ({ store }) => {
      const owner = await ownerIn(store);
      const all = [
        await putNew(store),
        await putNew(store, { owner }),
        await putNew(store),
        await putNew(store),
        await putNew(store, { owner }),
      ];
      const [, , read, burned] = all;
      await store.claim(await found(store, read?.secretId ?? newSecretId()), clientStays);
      const burnedAt = await store.burn(burned?.receiptId ?? newReceiptId(), clientStays);
      assert.equal(await burnEverything(store, 2), 3);
      for (const { secretId } of all) assert.equal(await store.findSecret(secretId), null);
      const receipts = await Promise.all(all.map(({ receiptId }) => store.findReceipt(receiptId)));
      assert.deepEqual(
        receipts.map((receipt) => receipt?.state),
        ['burned', 'burned', 'received', 'burned', 'burned'],
      );
      assert.equal(receipts[3]?.endedAt, burnedAt);
      assert.deepEqual(
        receipts.map((receipt) => receipt?.sealedSecret),
        [null, null, null, null, null],
      );
      assert.equal(await burnEverything(store, 2), 0);
      const { secretId } = await putNew(store);
      assert.equal(await store.claim(await found(store, secretId), clientStays), 'won');
    },
  ),

  check(
    'P7',
    'of burning all and many claims at once each secret is ended by exactly one',
    async ({ store }) => {
      const records = await Promise.all(Array.from({ length: 30 }, () => putNew(store)));
      const waiting = await Promise.all(records.map(({ secretId }) => found(store, secretId)));
      const [burned, ...claims] = await Promise.all([
        burnEverything(store, 7),
        ...waiting.map((secret) => store.claim(secret, clientStays)),
      ]);
      assert.equal(burned + claims.filter((outcome) => outcome === 'won').length, records.length);
      const receipts = await Promise.all(records.map(({ receiptId }) => store.findReceipt(receiptId)));
      assert.equal(receipts.filter((receipt) => receipt?.state === 'burned').length, burned);
    },
  ),

  check('P8', 'burning all leaves what has expired as it was', async ({ store, wallClock }) => {
    const short = await putNew(store, { expiresAt: store.now() + 1 });
    const long = await putNew(store);
    wallClock.advance(1);
    assert.equal(await burnEverything(store, 10), 1);
    const { state, endedAt } = (await store.findReceipt(short.receiptId)) ?? {};
    assert.deepEqual([state, endedAt], ['waiting', null]);
    assert.equal((await store.findReceipt(long.receiptId))?.state, 'burned');
  }),

  check('port', 'an id may be wiped as soon as it was asked for', async ({ store }) => {
    const { secretId, receiptId } = await putNew(store);
    const asks: ((secret: SecretId, receipt: ReceiptId) => Promise<unknown>)[] = [
      (id) => store.findSecret(id),
      (_, id) => store.findReceipt(id),
      (_, id) => store.markViewed(id),
      (id) => store.reserve(id, new Uint8Array(16), attemptLimits),
      (_, id) => store.burn(id, clientStays),
    ];
    for (const ask of asks) {
      const [secret, receipt] = [secretId.slice() as SecretId, receiptId.slice() as ReceiptId];
      const asked = ask(secret, receipt);
      secret.fill(0);
      receipt.fill(0);
      assert.notEqual(await asked, null);
    }
    assert.equal((await store.findReceipt(receiptId))?.state, 'burned');
  }),

  check('P13', 'ids that share their first fifteen bytes are different ids', async ({ store }) => {
    const first = await putNew(store);
    const twin = first.secretId.slice() as SecretId;
    twin[15] = (twin[15] ?? 0) ^ 1;
    assert.equal(await store.findSecret(twin), null);
    const second = await putNew(store, { secretId: twin });
    assert.deepEqual((await found(store, twin)).sealedSecret, second.sealedSecret);
    assert.deepEqual((await found(store, first.secretId)).sealedSecret, first.sealedSecret);
  }),

  check('P4', 'looking at a secret or its receipt any number of times changes nothing', async ({ store }) => {
    const owner = await ownerIn(store);
    const record = await putNew(store, { owner });
    const look = async () => ({
      secret: await store.findSecret(record.secretId),
      receipt: await store.findReceipt(record.receiptId),
      list: await recentOf(store, owner),
    });
    const first = await look();
    for (let times = 0; times < 5; times += 1) assert.deepEqual(await look(), first);
    assert.equal(await store.claim(await found(store, record.secretId), clientStays), 'won');
  }),

  check(
    'P8',
    'a secret lives until the instant of its expiry and not a second longer',
    async ({ store, wallClock }) => {
      const record = await putNew(store);
      wallClock.set(record.expiresAt - 1);
      const secret = await found(store, record.secretId);
      wallClock.set(record.expiresAt);
      assert.equal(await store.findSecret(record.secretId), null);
      assert.equal(await store.claim(secret, clientStays), 'gone');
      assert.equal(await store.burn(record.receiptId, clientStays), null);
      assert.equal(await store.markViewed(record.receiptId), null);
    },
  ),

  check(
    'P8',
    'a wall clock that is set back neither moves store time back nor revives a secret',
    async ({ store, wallClock }) => {
      const record = await putNew(store);
      const secret = await found(store, record.secretId);
      wallClock.set(record.expiresAt);
      assert.equal(await store.findSecret(record.secretId), null);
      wallClock.jump(-86_400 - ttlSeconds);
      assert.ok(store.now() >= record.expiresAt, 'store time stepped back');
      assert.equal(await store.findSecret(record.secretId), null);
      assert.equal(await store.claim(secret, clientStays), 'gone');
      assert.equal(await store.burn(record.receiptId, clientStays), null);
    },
  ),

  check(
    'P8',
    'a sweep that never ran keeps nothing alive, and one that runs takes nothing that lives',
    async ({ store, wallClock }) => {
      const dying = await putNew(store);
      const living = await putNew(store, { expiresAt: dying.expiresAt + 1 });
      wallClock.set(dying.expiresAt);
      assert.equal(await store.findSecret(dying.secretId), null);
      assert.equal(await store.sweep(100), 1);
      assert.equal(await store.sweep(100), 0);
      assert.deepEqual((await found(store, living.secretId)).sealedSecret, living.sealedSecret);
      assert.notEqual(await store.findReceipt(dying.receiptId), null);
    },
  ),

  check(
    'P10',
    'a sweep touches at most as many records as it is allowed and says how many',
    async ({ store, wallClock }) => {
      const records = await Promise.all(Array.from({ length: 5 }, () => putNew(store)));
      wallClock.advance(ttlSeconds);
      assert.deepEqual([await store.sweep(2), await store.sweep(2), await store.sweep(2)], [2, 2, 1]);
      wallClock.advance(ttlSeconds);
      assert.deepEqual([await store.sweep(4), await store.sweep(4), await store.sweep(4)], [4, 1, 0]);
      for (const record of records) assert.equal(await store.findReceipt(record.receiptId), null);
    },
  ),

  check('P10', 'a store with no reader in the way can be scrubbed', async ({ store }) => {
    const record = await putNew(store);
    await store.claim(await found(store, record.secretId), clientStays);
    assert.equal(await store.scrub(), true);
  }),

  restartCheck(
    'P5',
    'what put, claim and burn have acknowledged survives a restart',
    async ({ store }, reopen) => {
      const [waiting, read, burned] = [await putNew(store), await putNew(store), await putNew(store)];
      assert.equal(await store.claim(await found(store, read.secretId), clientStays), 'won');
      assert.notEqual(await store.burn(burned.receiptId, clientStays), null);
      const again = await reopen();
      assert.deepEqual((await found(again, waiting.secretId)).sealedSecret, waiting.sealedSecret);
      assert.equal(await again.findSecret(read.secretId), null);
      assert.equal(await again.findSecret(burned.secretId), null);
      assert.equal((await again.findReceipt(read.receiptId))?.state, 'received');
      assert.equal((await again.findReceipt(burned.receiptId))?.state, 'burned');
    },
  ),

  restartCheck('P8', 'store time does not step back over a restart', async ({ store, wallClock }, reopen) => {
    const record = await putNew(store);
    wallClock.set(record.expiresAt);
    await putNew(store);
    wallClock.jump(record.createdAt - record.expiresAt);
    const again = await reopen();
    assert.ok(again.now() >= record.expiresAt, 'store time stepped back');
    assert.equal(await again.findSecret(record.secretId), null);
  }),
];
