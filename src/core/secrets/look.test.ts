/** Proves that the same opener may have the answer again for a minute, that nobody else may, and what ends it. */

import { describe, expect, it } from 'bun:test';
import { clientStays } from '../../../test/stores/conformance/check.ts';
import { createOldRecords } from '../../../test/support/old-records.ts';
import { asOwner } from '../../../test/support/receipts.ts';
import { seededRandom } from '../../../test/support/seeded-random.ts';
import { createBench, guess, readBy } from '../../../test/support/service-bench.ts';
import { createKeyRing } from '../../crypto/keyring.ts';
import { sixteenBytesForm } from '../../protocol/base64url.ts';
import { anonymous } from '../account.ts';
import { ServiceError } from '../errors.ts';
import { nonceIn } from './look.ts';
import type { RevealInput } from './outcomes.ts';
import { rewrapOlder } from './rewrap.ts';
import { createService, type SecretService } from './service.ts';

const random = seededRandom('openers');
const newNonce = () => random(16);

const asking = (
  secretKey: string,
  look: Uint8Array | null,
  rest: Partial<RevealInput> = {},
): RevealInput => ({
  ...guess(secretKey),
  look,
  ...rest,
});
const read = async (service: SecretService, ...asked: Parameters<typeof asking>) =>
  readBy(await service.reveal(asking(...asked), anonymous));

describe('a second look', () => {
  it('P1: gives the same opener three answers in all within a minute, and then knows nothing', async () => {
    const bench = createBench();
    for (const waits of [
      [0, 0, 0],
      [0, 59, 0],
      [0, 30, 29],
      [0, 60],
    ]) {
      const { secretKey } = await bench.share('v');
      const nonce = newNonce();
      const answers: string[] = [];
      for (const seconds of waits) {
        bench.advance(seconds);
        answers.push(await read(bench.service, secretKey, nonce));
      }
      expect(answers).toEqual(waits.map((seconds) => (seconds === 60 ? 'unknown' : 'v')));
      expect(await read(bench.service, secretKey, nonce)).toBe('unknown');
    }
  });

  it('P1: is for its own nonce; of a hundred openers at once one wins and only its nonce reads again', async () => {
    const bench = createBench();
    const { secretKey } = await bench.share('v');
    const nonces = Array.from({ length: 100 }, newNonce);
    const first = await Promise.all(nonces.map((nonce) => read(bench.service, secretKey, nonce)));
    expect(first.filter((each) => each === 'v')).toHaveLength(1);
    const again: string[] = [];
    for (const nonce of [...nonces, null]) again.push(await read(bench.service, secretKey, nonce));
    expect(again).toEqual([...first, 'unknown']);
    expect(first.filter((each) => each !== 'v' && each !== 'unknown')).toEqual([]);
  });

  it('P13: is asked for with a key in its one spelling only', async () => {
    const bench = createBench();
    const { secretKey } = await bench.share('v');
    const nonce = newNonce();
    expect(await read(bench.service, secretKey, nonce)).toBe('v');
    for (const spelling of ['', secretKey.toUpperCase(), ` ${secretKey}`, secretKey.slice(1)])
      expect(await read(bench.service, spelling, nonce)).toBe('unknown');
    expect(await read(bench.service, secretKey, nonce)).toBe('v');
  });

  it('P1: gives a double press one reading, whichever request is quicker', async () => {
    const bench = createBench();
    const { secretKey } = await bench.share('v');
    const nonce = newNonce();
    const pressed = await Promise.all([1, 2, 3, 4, 5].map(() => read(bench.service, secretKey, nonce)));
    expect(pressed.filter((each) => each === 'v')).toHaveLength(3);
    expect(pressed.filter((each) => each === 'unknown')).toHaveLength(2);
    expect(bench.events.map(({ event }) => event)).toEqual([
      'concealed',
      'revealed',
      'revealed_again',
      'revealed_again',
    ]);
  });

  it('P3: loses nothing when the answer is lost between the claim and the reader', async () => {
    const bench = createBench({
      wrap: (store) => ({
        ...store,
        async claim(...given) {
          await store.claim(...given);
          throw new ServiceError('unavailable', 'The process was killed.');
        },
      }),
    });
    const { secretKey } = await bench.share('v');
    const nonce = newNonce();
    await expect(bench.service.reveal(asking(secretKey, nonce), anonymous)).rejects.toThrow();
    const restarted = createService({ ...bench.deps, store: bench.memory });
    expect(await read(restarted, secretKey, newNonce())).toBe('unknown');
    expect([await read(restarted, secretKey, nonce), await read(restarted, secretKey, nonce)]).toEqual([
      'v',
      'v',
    ]);
    expect(await read(restarted, secretKey, nonce)).toBe('unknown');
  });

  it('P2: releases nothing whose counting was not confirmed', async () => {
    const bench = createBench({
      wrap: (store) => ({
        ...store,
        async takeAnswer(...given) {
          await store.takeAnswer(...given);
          throw new ServiceError('unavailable', 'It was not confirmed.');
        },
      }),
    });
    const { secretKey } = await bench.share('v');
    const nonce = newNonce();
    expect(await read(bench.service, secretKey, nonce)).toBe('v');
    await expect(bench.service.reveal(asking(secretKey, nonce), anonymous)).rejects.toMatchObject({
      code: 'unavailable',
    });
    expect(bench.events.map(({ event }) => event)).toEqual(['concealed', 'revealed']);
  });

  it('P14: asks for the passphrase each time, and counts a wrong one as a guess and not as an answer', async () => {
    const bench = createBench();
    const { secretKey } = await bench.share('v', { passphrase: 'right' });
    const nonce = newNonce();
    const withNonce = async (passphrase?: string) =>
      readBy(await bench.service.reveal({ ...guess(secretKey, passphrase), look: nonce }, anonymous));
    expect(await withNonce('right')).toBe('v');
    expect(await withNonce()).toBe('passphrase_missing');
    for (let n = 0; n < 5; n += 1) expect(await withNonce('wrong')).toBe('passphrase_wrong');
    expect(await withNonce('right')).toBe('attempts_exhausted');
    const elsewhere = { ...guess(secretKey, 'right', '198.51.100.0/24'), look: nonce };
    expect(readBy(await bench.service.reveal(elsewhere, anonymous))).toBe('v');
    expect(readBy(await bench.service.reveal(elsewhere, anonymous))).toBe('v');
    expect(readBy(await bench.service.reveal(elsewhere, anonymous))).toBe('unknown');
  });

  it('tells another nonce nothing of a passphrase (P17)', async () => {
    const bench = createBench();
    const { secretKey } = await bench.share('v', { passphrase: 'right' });
    const opened = { ...guess(secretKey, 'right'), look: newNonce() };
    expect(readBy(await bench.service.reveal(opened, anonymous))).toBe('v');
    const { stretched } = bench.hasher;
    for (const look of [newNonce(), null]) {
      const other = { ...guess(secretKey, 'wrong'), look };
      expect(await bench.service.reveal(other, anonymous)).toEqual({ outcome: 'unknown' });
    }
    expect(bench.hasher.stretched).toBe(stretched);
  });

  it('says in the record what the first answer said, at the time of the asking', async () => {
    const bench = createBench();
    const { secretKey } = await bench.share('v', { ttlSeconds: 3_600 });
    const nonce = newNonce();
    const first = await bench.service.reveal(asking(secretKey, nonce), anonymous);
    bench.advance(10);
    const again = await bench.service.reveal(asking(secretKey, nonce), anonymous);
    if (first.outcome !== 'revealed' || again.outcome !== 'revealed') throw new Error('not revealed');
    const { secretTtlSeconds, updatedAt } = first.secret;
    expect(again.secret).toEqual({
      ...first.secret,
      secretTtlSeconds: secretTtlSeconds - 10,
      updatedAt: updatedAt + 10,
    });
    for (const ask of [bench.service.inspect, bench.service.secretStatus])
      expect(await ask(guess(secretKey), anonymous)).toEqual({ outcome: 'unknown' });
  });

  it('mails its creator once, at the claim, and the receipt says received from then on (P6)', async () => {
    const bench = createBench();
    const caller = await bench.signUp('jo@example.org');
    const { secretKey, metadataKey } = await bench.share('v', { caller, notify: ['read'] });
    const nonce = newNonce();
    for (let n = 0; n < 3; n += 1) {
      expect(await read(bench.service, secretKey, nonce)).toBe('v');
      await bench.service.settled();
      expect(bench.accountMails.map(({ kind }) => kind)).toEqual(['secret_read']);
      const found = await bench.service.findReceipt(asOwner(metadataKey), caller);
      expect(found).toMatchObject({
        receipt: { state: 'received', secretKey: null, secretTtlSeconds: null },
      });
      bench.advance(1);
    }
  });

  it('is not counted for a reader who has left (P3)', async () => {
    const bench = createBench();
    const { secretKey } = await bench.share('v');
    const nonce = newNonce();
    const left = asking(secretKey, nonce, { isAbandoned: () => true });
    expect(await bench.service.reveal(left, anonymous)).toEqual({ outcome: 'abandoned' });
    expect(await read(bench.service, secretKey, nonce)).toBe('v');
    for (let n = 0; n < 5; n += 1)
      expect(await bench.service.reveal(left, anonymous)).toEqual({ outcome: 'abandoned' });
    expect([
      await read(bench.service, secretKey, nonce),
      await read(bench.service, secretKey, nonce),
    ]).toEqual(['v', 'v']);
  });

  it('P8: ends with the secret’s life where that comes first', async () => {
    const bench = createBench();
    const { secretKey } = await bench.share('v', { ttlSeconds: 60 });
    const nonce = newNonce();
    bench.advance(50);
    expect(await read(bench.service, secretKey, nonce)).toBe('v');
    bench.advance(9);
    expect(await read(bench.service, secretKey, nonce)).toBe('v');
    bench.advance(1);
    expect(await read(bench.service, secretKey, nonce)).toBe('unknown');
  });

  it('is not made where none is asked for, nor for a record of version 1', async () => {
    const bench = createBench();
    const { secretKey } = await bench.share('v');
    expect(await read(bench.service, secretKey, null)).toBe('v');
    expect(await read(bench.service, secretKey, newNonce())).toBe('unknown');
    const { wrap, turnOld } = createOldRecords();
    const old = createBench({ wrap });
    const keys = await old.share('v');
    turnOld(old, { ...keys, value: 'of before', address: 'al@example.com' });
    const nonce = newNonce();
    expect(await read(old.service, keys.secretKey, nonce)).toBe('of before');
    expect(await read(old.service, keys.secretKey, nonce)).toBe('unknown');
  });
});

describe('the end of a second look', () => {
  async function opened() {
    const bench = createBench();
    const caller = await bench.signUp('jo@example.org');
    const made = await bench.share('v', { caller });
    const nonce = newNonce();
    expect(await read(bench.service, made.secretKey, nonce)).toBe('v');
    return { bench, caller, nonce, ...made };
  }

  it('comes when its reader says that it has arrived, and not when another does', async () => {
    const { bench, secretKey, nonce } = await opened();
    await bench.service.finishLook({ secretKey, look: newNonce() });
    await bench.service.finishLook({ secretKey: 'no key', look: nonce });
    expect(await read(bench.service, secretKey, nonce)).toBe('v');
    await bench.service.finishLook({ secretKey, look: nonce });
    expect(await read(bench.service, secretKey, nonce)).toBe('unknown');
    const waiting = await bench.share('w');
    await bench.service.finishLook({ secretKey: waiting.secretKey, look: nonce });
    expect(await read(bench.service, waiting.secretKey, nonce)).toBe('w');
  });

  it('comes with a burn, which is answered that the secret is gone (P7)', async () => {
    const { bench, caller, secretKey, metadataKey, nonce } = await opened();
    const burn = { ...asOwner(metadataKey), proof: null, isAbandoned: clientStays };
    const burned = await bench.service.burn(burn, caller);
    expect(burned).toMatchObject({ outcome: 'already_gone', receipt: { state: 'received' } });
    expect(await read(bench.service, secretKey, nonce)).toBe('unknown');
  });

  it('comes with a burn also where the claim came while the burn was under way', async () => {
    const nonce = newNonce();
    let claimed = '';
    const bench = createBench({
      wrap: (store) => ({
        ...store,
        async burn(...given) {
          claimed = await read(bench.service, made.secretKey, nonce);
          return store.burn(...given);
        },
      }),
    });
    const caller = await bench.signUp('jo@example.org');
    const made = await bench.share('v', { caller });
    const burn = { ...asOwner(made.metadataKey), proof: null, isAbandoned: clientStays };
    expect((await bench.service.burn(burn, caller)).outcome).toBe('already_gone');
    expect(claimed).toBe('v');
    expect(await read(bench.service, made.secretKey, nonce)).toBe('unknown');
  });

  it('asks the store of a secret that was read long ago nothing', async () => {
    const { bench, caller, metadataKey } = await opened();
    bench.advance(60);
    const service = createService({
      ...bench.deps,
      store: { ...bench.deps.store, burn: () => Promise.reject(new Error('it was asked')) },
    });
    const burn = { ...asOwner(metadataKey), proof: null, isAbandoned: clientStays };
    expect((await service.burn(burn, caller)).outcome).toBe('already_gone');
  });
});

describe('a rotation during a second look', () => {
  async function vault() {
    const bench = createBench();
    const older = bench.deps.ring.current;
    const newer = { kid: 2, key: bench.deps.random(32) };
    const ring = createKeyRing([older, newer]);
    const { secretKey } = await bench.share('v', { passphrase: 'right' });
    const look = newNonce();
    const ask = async (service: SecretService) =>
      readBy(await service.reveal({ ...guess(secretKey, 'right'), look }, anonymous));
    return { bench, ring, newer, ask };
  }

  it('P12: puts it under the new root, where it opens without the older one, as often as before', async () => {
    const { bench, ring, newer, ask } = await vault();
    expect([await ask(bench.service), await ask(bench.service)]).toEqual(['v', 'v']);
    const report = await rewrapOlder({ store: bench.memory, ring, random: bench.deps.random }, () => {});
    expect(report).toEqual({ rewrapped: 1, fixed: 0, fixedUntil: null, damaged: 0 });
    expect(await bench.memory.rootKidsInUse()).toEqual([2]);
    const after = createService({ ...bench.deps, ring: createKeyRing([newer]) });
    expect([await ask(after), await ask(after)]).toEqual(['v', 'unknown']);
  });

  it('P12: re-wraps what is claimed between its listing and its look-up', async () => {
    const { bench, ring, newer, ask } = await vault();
    let isFirst = true;
    const store = {
      ...bench.memory,
      async replaceWrapping(...given: Parameters<typeof bench.memory.replaceWrapping>) {
        if (isFirst) expect(await ask(bench.service)).toBe('v');
        isFirst = false;
        return bench.memory.replaceWrapping(...given);
      },
    };
    const report = await rewrapOlder({ store, ring, random: bench.deps.random }, () => {});
    expect(report.rewrapped).toBe(1);
    expect(await ask(createService({ ...bench.deps, ring: createKeyRing([newer]) }))).toBe('v');
  });

  it('P3: a server that lacks the new root takes nothing when its look would come under the older one', async () => {
    const { bench, ring, ask } = await vault();
    const service = createService({
      ...bench.deps,
      store: {
        ...bench.deps.store,
        async claim(...given) {
          await rewrapOlder({ store: bench.memory, ring, random: bench.deps.random }, () => {});
          return bench.deps.store.claim(...given);
        },
      },
    });
    await expect(ask(service)).rejects.toMatchObject({ code: 'unavailable' });
    expect(await ask(createService({ ...bench.deps, ring }))).toBe('v');
  });
});

describe('the text of a nonce', () => {
  it('has one spelling for each nonce', () => {
    const nonce = newNonce();
    const text = Buffer.from(nonce).toString('base64url');
    expect(sixteenBytesForm.test(text)).toBe(true);
    expect(nonceIn(text)).toEqual(nonce);
    const others = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_']
      .map((last) => text.slice(0, -1) + last)
      .filter((each) => sixteenBytesForm.test(each));
    expect(new Set(others.map((each) => Buffer.from(nonceIn(each)).toString('hex'))).size).toBe(4);
    expect(others).toHaveLength(4);
  });
});
