/**
 * Checks of the limits on passphrase guesses (P14).
 */
import { strict as assert } from 'node:assert';
import type { SecretId } from '../../../src/core/keys.ts';
import type { Reservation } from '../../../src/core/ports/attempts.ts';
import type { Store } from '../../../src/store/store.ts';
import { limits, newClient, newNetwork, reserved, reserveMany, waitOf } from './attempt-fixtures.ts';
import { type ConformanceCheck, check, newSecretId, putNew, restartCheck } from './check.ts';

/** All attempts that the networks of `others` may make, before any is kept for newcomers. */
async function guessUntilKept(
  { reserve }: Store,
  id: SecretId,
  others: readonly Uint8Array[],
): Promise<void> {
  const places = limits.perSecret - limits.keptForNewcomers;
  for (let n = 0; n < places; n += 1)
    reserved(await reserve(id, others[n % others.length] ?? newClient(), limits));
}

/** How many guesses are left, and the seconds until there are more; throws when it was not allowed. */
function allowanceOf(reservation: Reservation): [left: number, moreAfterSeconds: number] {
  reserved(reservation);
  return reservation.outcome === 'reserved' ? [reservation.left, reservation.moreAfterSeconds] : [0, 0];
}

export const attemptChecks: readonly ConformanceCheck[] = [
  check(
    'P14',
    'a client is allowed its limit and no more, and another client is not locked out',
    async ({ store }) => {
      const { secretId } = await putNew(store);
      const [client, other] = [newClient(), newClient()];
      for (let n = 0; n < limits.perClient; n += 1) reserved(await store.reserve(secretId, client, limits));
      assert.equal(waitOf(await store.reserve(secretId, client, limits)), limits.windowSeconds);
      reserved(await store.reserve(secretId, other, limits));
    },
  ),

  check(
    'P14',
    'a secret is guessed at from all clients together no more often than its limit',
    async ({ store }) => {
      const { secretId } = await putNew(store);
      const outcomes = await reserveMany(50, () => store.reserve(secretId, newClient(), limits));
      assert.equal(outcomes, limits.perSecret);
      waitOf(await store.reserve(secretId, newClient(), limits));
    },
  ),

  check(
    'P14',
    'of 200 guesses at once from one client no more are allowed than its limit',
    async ({ store }) => {
      const { secretId } = await putNew(store);
      const client = newClient();
      assert.equal(await reserveMany(200, () => store.reserve(secretId, client, limits)), limits.perClient);
    },
  ),

  check('P14', 'the attempts on one secret do not count against another', async ({ store }) => {
    const [one, other] = [await putNew(store), await putNew(store)];
    const client = newClient();
    await reserveMany(10, () => store.reserve(one.secretId, client, limits));
    reserved(await store.reserve(other.secretId, client, limits));
  }),

  check('P14', 'attempts on a secret that is not stored are counted too', async ({ store }) => {
    const [id, client] = [newSecretId(), newClient()];
    assert.equal(await reserveMany(20, () => store.reserve(id, client, limits)), limits.perClient);
  }),

  check(
    'P14',
    'the life of a secret that is not stored is one window, over sweeps',
    async ({ store, wallClock }) => {
      const [id, two] = [newSecretId(), { ...limits, perLife: 2 }];
      const guess = () => store.reserve(id, newClient(), two);
      for (let n = 0; n < two.perLife; n += 1) reserved(await guess());
      wallClock.advance(limits.windowSeconds - 1);
      await store.sweep(100);
      assert.equal(waitOf(await guess()), 1);
      wallClock.advance(1);
      await store.sweep(100);
      reserved(await guess());
    },
  ),

  check(
    'P14',
    'an attempt leaves the window when its time has passed, and the wait told is exact',
    async ({ store, wallClock }) => {
      const { secretId } = await putNew(store);
      const client = newClient();
      for (let n = 0; n < limits.perClient; n += 1) {
        reserved(await store.reserve(secretId, client, limits));
        wallClock.advance(10);
      }
      const waitSeconds = waitOf(await store.reserve(secretId, client, limits));
      assert.equal(waitSeconds, limits.windowSeconds - 10 * limits.perClient);
      wallClock.advance(waitSeconds - 1);
      assert.equal(waitOf(await store.reserve(secretId, client, limits)), 1);
      wallClock.advance(1);
      reserved(await store.reserve(secretId, client, limits));
      assert.equal(waitOf(await store.reserve(secretId, client, limits)), 10);
    },
  ),

  check(
    'P14',
    'over its life a secret is guessed at no more often than the limit of a life',
    async ({ store, wallClock }) => {
      const lifetime = { expiresAt: store.now() + 86_400, receiptExpiresAt: store.now() + 172_800 };
      const { secretId, expiresAt } = await putNew(store, lifetime);
      const few = { ...limits, perLife: 12 };
      for (let n = 0; n < few.perLife; n += 1) {
        if (n % 5 === 0) wallClock.advance(few.windowSeconds);
        await store.sweep(100);
        reserved(await store.reserve(secretId, newClient(), few));
      }
      wallClock.advance(few.windowSeconds);
      await store.sweep(100);
      assert.equal(waitOf(await store.reserve(secretId, newClient(), few)), expiresAt - wallClock.read());
    },
  ),

  check('P14', 'a refund gives back one attempt, once, and no other’s', async ({ store }) => {
    const { secretId } = await putNew(store);
    const [client, other] = [newClient(), newClient()];
    const attempts: number[] = [];
    for (let n = 0; n < limits.perClient; n += 1)
      attempts.push(reserved(await store.reserve(secretId, client, limits)));
    assert.equal(new Set(attempts).size, limits.perClient);
    await store.refund(newSecretId(), attempts[0] ?? 0);
    waitOf(await store.reserve(secretId, client, limits));
    await store.refund(secretId, attempts[0] ?? 0);
    await store.refund(secretId, attempts[0] ?? 0);
    reserved(await store.reserve(secretId, client, limits));
    waitOf(await store.reserve(secretId, client, limits));
    reserved(await store.reserve(secretId, other, limits));
  }),

  check('P14', 'a refunded attempt does not count against the life either', async ({ store }) => {
    const { secretId } = await putNew(store);
    const two = { ...limits, perLife: 2 };
    await store.refund(secretId, reserved(await store.reserve(secretId, newClient(), two)));
    reserved(await store.reserve(secretId, newClient(), two));
    reserved(await store.reserve(secretId, newClient(), two));
    waitOf(await store.reserve(secretId, newClient(), two));
  }),

  check('P14', 'a refund gives a life one guess back, and another secret’s life none', async ({ store }) => {
    const [one, other] = [await putNew(store), await putNew(store)];
    const three = { ...limits, perLife: 3 };
    const guess = ({ secretId }: typeof one) => store.reserve(secretId, newClient(), three);
    const attempts: number[] = [];
    for (let n = 0; n < three.perLife; n += 1) attempts.push(reserved(await guess(one)));
    waitOf(await guess(one));
    for (let n = 0; n < three.perLife; n += 1) reserved(await guess(other));
    waitOf(await guess(other));
    await store.refund(one.secretId, attempts[1] ?? 0);
    waitOf(await guess(other));
    reserved(await guess(one));
    waitOf(await guess(one));
    waitOf(await guess(other));
  }),

  check(
    'P14',
    'guesses given back after the end of a life leave no more of them than the limit of a life',
    async ({ store, wallClock }) => {
      const { secretId, expiresAt } = await putNew(store, { expiresAt: store.now() + 100 });
      const three = { ...limits, perLife: 3 };
      const guess = () => store.reserve(secretId, newClient(), three);
      const early = [reserved(await guess()), reserved(await guess())];
      wallClock.set(expiresAt);
      await store.sweep(100);
      reserved(await guess());
      for (const attempt of early) await store.refund(secretId, attempt);
      const allowed = await reserveMany(2 * three.perLife, guess);
      assert.ok(allowed <= three.perLife, `${allowed} were allowed`);
    },
  ),

  check(
    'P14',
    'a reservation tells how many guesses the client has left, and when the oldest of them is forgotten',
    async ({ store, wallClock }) => {
      const { secretId } = await putNew(store);
      const client = newClient();
      for (let n = 0; n < limits.perClient; n += 1) {
        const expected = [limits.perClient - 1 - n, limits.windowSeconds - 10 * n];
        assert.deepEqual(allowanceOf(await store.reserve(secretId, client, limits)), expected);
        wallClock.advance(10);
      }
      wallClock.advance(limits.windowSeconds - 10 * limits.perClient);
      assert.deepEqual(allowanceOf(await store.reserve(secretId, client, limits)), [0, 10]);
    },
  ),

  check(
    'P14',
    'of guesses at once from one client each is told another number of guesses left',
    async ({ store }) => {
      const { secretId } = await putNew(store);
      const client = newClient();
      const guess = () => store.reserve(secretId, client, limits);
      const told = await Promise.all(Array.from({ length: limits.perClient }, guess));
      const left = told.map((each) => allowanceOf(each)[0]);
      assert.deepEqual(left.sort(), [0, 1, 2, 3, 4]);
    },
  ),

  check(
    'P14',
    'what others have guessed at the secret leaves a client less, as soon as it is the tighter limit',
    async ({ store, wallClock }) => {
      const { secretId } = await putNew(store);
      const others = limits.perSecret - limits.keptForNewcomers - 3;
      for (let n = 0; n < others; n += 1) await store.reserve(secretId, newClient(), limits);
      wallClock.advance(60);
      const client = newClient();
      const untilOthers = limits.windowSeconds - 60;
      assert.deepEqual(allowanceOf(await store.reserve(secretId, client, limits)), [2, untilOthers]);
      assert.deepEqual(allowanceOf(await store.reserve(secretId, client, limits)), [1, untilOthers]);
      assert.deepEqual(allowanceOf(await store.reserve(secretId, client, limits)), [0, untilOthers]);
    },
  ),

  check(
    'P14',
    'where the life of a secret leaves the least, more guesses come only with its end',
    async ({ store, wallClock }) => {
      const { secretId, expiresAt } = await putNew(store);
      const few = { ...limits, perLife: 3 };
      wallClock.advance(60);
      for (const left of [2, 1, 0]) {
        const told = allowanceOf(await store.reserve(secretId, newClient(), few));
        assert.deepEqual(told, [left, expiresAt - wallClock.read()]);
      }
    },
  ),

  check('P14', 'where two limits leave the same, there is more when both give way', async ({ store }) => {
    const { secretId, expiresAt } = await putNew(store);
    const equal = { ...limits, perClient: 2, perSecret: 2, keptForNewcomers: 0, perLife: 2 };
    const told = allowanceOf(await store.reserve(secretId, newClient(), equal));
    assert.deepEqual(told, [1, expiresAt - store.now()]);
  }),

  check(
    'P14',
    'a network is allowed its limit and no more, whichever of its clients ask at once',
    async ({ store }) => {
      const { secretId } = await putNew(store);
      const network = newNetwork();
      assert.equal(
        await reserveMany(50, () => store.reserve(secretId, newClient(network), limits)),
        limits.perNetwork,
      );
      waitOf(await store.reserve(secretId, newClient(network), limits));
      reserved(await store.reserve(secretId, newClient(), limits));
    },
  ),

  check(
    'P14',
    'the last places of a secret are one each for networks that have not guessed yet',
    async ({ store, wallClock }) => {
      const { secretId } = await putNew(store);
      const others = [newClient(), newClient(), newClient()];
      await guessUntilKept(store, secretId, others);
      wallClock.advance(60);
      const newcomers = Array.from({ length: limits.keptForNewcomers }, () => newNetwork());
      for (const network of newcomers) {
        for (const other of others) waitOf(await store.reserve(secretId, other, limits));
        assert.equal(allowanceOf(await store.reserve(secretId, newClient(network), limits))[0], 0);
        waitOf(await store.reserve(secretId, newClient(network), limits));
      }
      waitOf(await store.reserve(secretId, newClient(), limits));
      wallClock.advance(limits.windowSeconds - 60);
      for (const other of others) reserved(await store.reserve(secretId, other, limits));
    },
  ),

  check(
    'P14',
    'one who has guessed waits until fewer are counted than the places that are not kept',
    async ({ store, wallClock }) => {
      const { secretId } = await putNew(store);
      const others = [newClient(), newClient(), newClient()];
      for (let n = 0; n < 15; n += 1) {
        reserved(await store.reserve(secretId, others[n % 3] ?? newClient(), limits));
        wallClock.advance(10);
      }
      reserved(await store.reserve(secretId, newClient(), limits));
      const [, more] = allowanceOf(await store.reserve(secretId, newClient(), limits));
      // 17 are counted, so the third oldest has to leave.
      assert.equal(more, limits.windowSeconds - 150 + 20);
      const late = others.map(async (other) => waitOf(await store.reserve(secretId, other, limits)));
      assert.deepEqual(await Promise.all(late), [more, more, more]);
    },
  ),

  check('P14', 'a right guess takes no place, not even the last', async ({ store }) => {
    const { secretId } = await putNew(store);
    await guessUntilKept(store, secretId, [newClient(), newClient(), newClient()]);
    for (let n = 1; n < limits.keptForNewcomers; n += 1)
      reserved(await store.reserve(secretId, newClient(), limits));
    const reader = newClient();
    for (let n = 0; n < 2 * limits.perSecret; n += 1)
      await store.refund(secretId, reserved(await store.reserve(secretId, reader, limits)));
  }),

  check('P14', 'an attempt neither consumes the secret nor changes its receipt', async ({ store }) => {
    const record = await putNew(store);
    const before = [await store.findSecret(record.secretId), await store.findReceipt(record.receiptId)];
    await reserveMany(50, () => store.reserve(record.secretId, newClient(), limits));
    assert.deepEqual(
      [await store.findSecret(record.secretId), await store.findReceipt(record.receiptId)],
      before,
    );
  }),

  restartCheck('P14', 'counted attempts survive a restart', async ({ store }, reopen) => {
    const { secretId } = await putNew(store);
    const client = newClient();
    await reserveMany(3, () => store.reserve(secretId, client, limits));
    const again = await reopen();
    assert.equal(await reserveMany(10, () => again.reserve(secretId, client, limits)), limits.perClient - 3);
    await again.allowMore(secretId);
    const once = await reopen();
    assert.equal(await reserveMany(10, () => once.reserve(secretId, client, limits)), limits.perClient);
  }),
];
