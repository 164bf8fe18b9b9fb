/** Checks of the codes that are mailed to whoever opens a secret: bound to one opener, good for ten minutes, and kept for the receipt. */
import { strict as assert } from 'node:assert';
import { randomBytes } from 'node:crypto';
import type { SecretId } from '../../../src/core/keys.ts';
import { type CountedId, countedId } from '../../../src/core/ports/attempts.ts';
import { codeSeconds } from '../../../src/core/ports/codes.ts';
import { deliveryStates } from '../../../src/protocol/vocabulary.ts';
import type { Store } from '../../../src/store/store.ts';
import { limits, newClient, reserved, waitOf } from './attempt-fixtures.ts';
import { attemptChecks } from './attempts.ts';
import { type ConformanceCheck, check, clientStays, found, newSecretId, putNew } from './check.ts';
import { expiryChecks } from './expiry.ts';
import { lockChecks } from './locks.ts';

const newTag = () => new Uint8Array(randomBytes(16));
const newCode = (lookTag: Uint8Array = newTag()) => ({ lookTag, codeTag: newTag() });

/** Stores a code of a secret that waits. */
async function putCode(store: Store, id: SecretId, lookTag: Uint8Array = newTag()) {
  const code = newCode(lookTag);
  assert.equal(await store.putCode(id, code), store.now());
  return code;
}

const statesOf = async (store: Store, id: SecretId) => (await store.listCodes(id)).map(({ state }) => state);

const countedAlike: readonly string[] = [
  'of 200 guesses at once from one client no more are allowed than its limit',
  'over its life a secret is guessed at no more often than the limit of a life',
  'where the life of a secret leaves the least, more guesses come only with its end',
  'guesses stay counted until the new expiry',
  'its creator allows more: as many guesses as for a new secret, now and in its life, and of no other',
  'a lock is told of each secret while nobody may guess at it, until when, and not after more is allowed',
];

const codesOf = (id: CountedId) => countedId(id as SecretId, 'wrongCodes');

/** The same check of guesses, at codes. */
const ofCodes = (single: ConformanceCheck): ConformanceCheck => ({
  ...single,
  name: `${single.name}, of codes`,
  run: (open) =>
    single.run(async () => {
      const subject = await open();
      const { store } = subject;
      const ofCodes: Pick<Store, 'reserve' | 'refund' | 'allowMore' | 'findLocks'> = {
        reserve: (id, ...rest) => store.reserve(codesOf(id), ...rest),
        refund: (id, attempt) => store.refund(codesOf(id), attempt),
        allowMore: (id) => store.allowMore(codesOf(id)),
        findLocks: (ids, ...rest) => store.findLocks(ids.map(codesOf), ...rest),
      };
      return { ...subject, store: { ...store, ...ofCodes } };
    }),
});

export const codeChecks: readonly ConformanceCheck[] = [
  ...[...attemptChecks, ...lockChecks, ...expiryChecks]
    .filter(({ name }) => countedAlike.includes(name))
    .map(ofCodes),

  check(
    'P14',
    'wrong codes, mails and passphrases are counted apart, and allowed apart',
    async ({ store }) => {
      const { secretId } = await putNew(store);
      const [client, two] = [newClient(), { ...limits, perClient: 2 }];
      const ids = [secretId, codesOf(secretId), countedId(secretId, 'mailedCodes')];
      for (const id of ids) {
        for (let n = 0; n < two.perClient; n += 1) reserved(await store.reserve(id, client, two));
        waitOf(await store.reserve(id, client, two));
      }
      await store.allowMore(codesOf(secretId));
      const outcomes = await Promise.all(ids.map((id) => store.reserve(id, client, two)));
      assert.deepEqual(
        outcomes.map(({ outcome }) => outcome),
        ['exhausted', 'reserved', 'exhausted'],
      );
    },
  ),

  check('P14', 'a code is found for its opener and its secret alone', async ({ store }) => {
    const [one, other] = [await putNew(store, { verify: true }), await putNew(store, { verify: true })];
    const [mine, theirs] = [await putCode(store, one.secretId), await putCode(store, one.secretId)];
    assert.deepEqual(await store.findCode(one.secretId, mine.lookTag), mine.codeTag);
    assert.deepEqual(await store.findCode(one.secretId, theirs.lookTag), theirs.codeTag);
    assert.equal(await store.findCode(one.secretId, newTag()), null);
    assert.equal(await store.findCode(other.secretId, mine.lookTag), null);
    assert.equal(await store.findCode(newSecretId(), mine.lookTag), null);
  }),

  check(
    'P14',
    'a further code of one opener takes the place of the one before, and of nobody else’s',
    async ({ store, wallClock }) => {
      const { secretId } = await putNew(store);
      const other = await putCode(store, secretId);
      const { lookTag } = await putCode(store, secretId);
      for (const seconds of [0, 1, codeSeconds - 2]) {
        wallClock.advance(seconds);
        const { codeTag } = await putCode(store, secretId, lookTag);
        for (let times = 0; times < 2; times += 1)
          assert.deepEqual(await store.findCode(secretId, lookTag), codeTag);
      }
      assert.deepEqual(await store.findCode(secretId, other.lookTag), other.codeTag);
    },
  ),

  check('P8', 'a code is good for ten minutes, and not a second longer', async ({ store, wallClock }) => {
    const { secretId } = await putNew(store);
    const first = await putCode(store, secretId);
    wallClock.advance(codeSeconds - 1);
    assert.deepEqual(await store.findCode(secretId, first.lookTag), first.codeTag);
    const second = await putCode(store, secretId);
    wallClock.advance(1);
    assert.equal(await store.findCode(secretId, first.lookTag), null);
    assert.deepEqual(await store.findCode(secretId, second.lookTag), second.codeTag);
    const again = await putCode(store, secretId, first.lookTag);
    assert.deepEqual(await store.findCode(secretId, first.lookTag), again.codeTag);
  }),

  check('P8', 'a further code counts, also after the time was set back', async ({ store, wallClock }) => {
    const { secretId } = await putNew(store);
    const { lookTag } = await putCode(store, secretId);
    wallClock.jump(-1_000);
    await store.setTime();
    const further = newCode(lookTag);
    assert.notEqual(await store.putCode(secretId, further), null);
    assert.deepEqual(await store.findCode(secretId, lookTag), further.codeTag);
  }),

  check(
    'P8',
    'a time that is set back lengthens no code and brings none back',
    async ({ store, wallClock }) => {
      const { secretId } = await putNew(store);
      // The dispute may take a second, so one of each two is as much older than a later one as the time is set back.
      const ended = newTag();
      for (const seconds of [1, 400, 499]) {
        await putCode(store, secretId, ended);
        wallClock.advance(seconds);
      }
      const { lookTag, codeTag } = await putCode(store, secretId);
      wallClock.advance(1);
      const next = await putCode(store, secretId, lookTag);
      wallClock.advance(400);
      const last = await putCode(store, secretId, lookTag);
      // PostgreSQL then reads the last one first.
      for (const each of [codeTag, next.codeTag]) await store.setCodeState(secretId, each, 'accepted');
      const before = (await store.listCodes(secretId)).at(-1)?.at ?? 0;
      wallClock.jump(-400);
      await store.setTime();
      const times = (await store.listCodes(secretId)).map(({ at }) => before - at);
      const late = (times.at(-1) ?? 0) - 400;
      assert.ok(late === 0 || late === 1, `${late} s late`);
      assert.deepEqual(
        times.slice(-3),
        [401, 400, 0].map((age) => age + 400 + late),
      );
      const other = newCode();
      for (let times = 0; times < 2; times += 1)
        assert.equal(await store.putCode(secretId, other), before - 400);
      assert.equal(await store.findCode(secretId, ended), null, 'what had ended came back');
      assert.deepEqual(await store.findCode(secretId, lookTag), last.codeTag);
      wallClock.advance(codeSeconds - 1 - late);
      assert.deepEqual(await store.findCode(secretId, lookTag), last.codeTag);
      wallClock.advance(1);
      assert.equal(await store.findCode(secretId, lookTag), null);
    },
  ),

  check('port', 'a code is stored only while its secret waits', async ({ store, wallClock }) => {
    const [read, burned, expired] = [await putNew(store), await putNew(store), await putNew(store)];
    await putCode(store, read.secretId);
    await store.claim(await found(store, read.secretId), clientStays);
    await store.burn(burned.receiptId, clientStays);
    for (const id of [read.secretId, burned.secretId, newSecretId()])
      assert.equal(await store.putCode(id, newCode()), null);
    wallClock.set(expired.expiresAt);
    assert.equal(await store.putCode(expired.secretId, newCode()), null);
    const kept = [read, burned, expired].map(({ secretId }) => store.listCodes(secretId));
    assert.deepEqual(
      (await Promise.all(kept)).map(({ length }) => length),
      [1, 0, 0],
    );
  }),

  check(
    'port',
    'every code is listed with what became of its mail, oldest first',
    async ({ store, wallClock }) => {
      const [{ secretId }, other] = [await putNew(store), await putNew(store)];
      const expected: Awaited<ReturnType<Store['listCodes']>> = [];
      const { lookTag } = newCode();
      for (const [n, state] of deliveryStates.entries()) {
        const { codeTag } = await putCode(store, secretId, n % 2 === 0 ? lookTag : newTag());
        expected.push({ at: store.now(), state });
        assert.deepEqual((await statesOf(store, secretId)).at(-1), 'queued');
        await store.setCodeState(secretId, codeTag, 'queued');
        await store.setCodeState(secretId, codeTag, state);
        await store.setCodeState(other.secretId, codeTag, 'refused');
        await store.setCodeState(secretId, newTag(), 'refused');
        wallClock.advance(1);
      }
      assert.deepEqual(await store.listCodes(secretId), expected);
      assert.deepEqual(await store.listCodes(other.secretId), []);
    },
  ),

  check('port', 'a mail that outlives its code was not sent', async ({ store, wallClock }) => {
    const { secretId } = await putNew(store);
    const { codeTag } = await putCode(store, secretId);
    wallClock.advance(codeSeconds - 1);
    assert.deepEqual(await statesOf(store, secretId), ['queued']);
    wallClock.advance(1);
    assert.deepEqual(await store.listCodes(secretId), [{ at: store.now() - codeSeconds, state: 'not_sent' }]);
    await store.setCodeState(secretId, codeTag, 'accepted');
    assert.deepEqual(await statesOf(store, secretId), ['accepted']);
  }),

  check('P6', 'a receipt keeps its codes to its end, and no longer', async ({ store, wallClock }) => {
    const record = await putNew(store);
    const { codeTag } = await putCode(store, record.secretId);
    await store.setCodeState(record.secretId, codeTag, 'accepted');
    await store.claim(await found(store, record.secretId), clientStays);
    wallClock.set(record.receiptExpiresAt - 1);
    await store.sweep(100);
    assert.deepEqual(await statesOf(store, record.secretId), ['accepted']);
    wallClock.advance(1);
    await store.sweep(100);
    assert.deepEqual(await statesOf(store, record.secretId), []);
  }),

  check('P9', 'a secret that needs a code says so for life, whatever else it is', async ({ store }) => {
    for (const verify of [true, false])
      for (const sealed of [true, false]) {
        const record = await putNew(store, { verify, sealed, hasPassphrase: !sealed, notify: ['expiring'] });
        const { secretId, receiptId, sealedSecret, expiresAt, receiptExpiresAt } = record;
        const to = { expiresAt: expiresAt + 60, receiptExpiresAt, noticeDueAt: null, sealedSecret };
        await store.setExpiry(receiptId, expiresAt, { ...to, receiptExpiresAt: receiptExpiresAt + 120 });
        await store.replaceWrapping(secretId, sealedSecret, sealedSecret.slice().fill(7, 3));
        for (const told of [await found(store, secretId), await store.findReceipt(receiptId)])
          assert.deepEqual([told?.verify, told?.sealed, told?.hasPassphrase], [verify, sealed, !sealed]);
        await store.burn(receiptId, clientStays);
        assert.equal((await store.findReceipt(receiptId))?.verify, verify);
      }
  }),
];
