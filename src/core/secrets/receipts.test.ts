/** Proves that a receipt is truthful to those who may see it, and reveals nothing to others. */
import { describe, expect, it } from 'bun:test';
import { asHolder, asOwner, changing, found } from '../../../test/support/receipts.ts';
import { seededRandom } from '../../../test/support/seeded-random.ts';
import { createBench, guess, startOfTime } from '../../../test/support/service-bench.ts';
import { createKeyRing } from '../../crypto/keyring.ts';
import { anonymous } from '../account.ts';
import type { StoredReceipt } from '../secret.ts';
import { createService } from './service.ts';

describe('who may see a receipt (P16)', () => {
  it('of an account: its owner, and nobody else with an account or without', async () => {
    const bench = createBench();
    const [owner, other] = [await bench.signUp('jo@example.org'), await bench.signUp('al@example.org')];
    const { metadataKey, secretKey } = await bench.share('v', { caller: owner });
    expect(found(await bench.service.findReceipt(asOwner(metadataKey), owner))).toMatchObject({
      custid: 'jo@example.org',
      metadataKey,
      secretKey,
      state: 'new',
    });
    const unknown = await bench.service.findReceipt(asOwner('a'.repeat(31)), other);
    expect(unknown).toEqual({ outcome: 'unknown' });
    for (const look of [bench.service.findReceipt, bench.service.viewReceipt]) {
      for (const caller of [other, anonymous])
        expect(await look(asOwner(metadataKey), caller)).toEqual(unknown);
    }
    expect(found(await bench.service.findReceipt(asOwner(metadataKey), owner)).viewedAt).toBeNull();
  });

  it('made anonymously: any account that holds the key', async () => {
    const bench = createBench();
    const account = await bench.signUp('jo@example.org');
    const { metadataKey, secretKey } = await bench.share('v');
    expect(await bench.service.findReceipt(asOwner(metadataKey), anonymous)).toEqual({ outcome: 'unknown' });
    expect(found(await bench.service.findReceipt(asOwner(metadataKey), account))).toMatchObject({
      custid: 'anon',
      secretKey,
    });
  });

  it('by holding the key alone, where that is the rule', async () => {
    const bench = createBench();
    const owner = await bench.signUp('jo@example.org');
    const { metadataKey, secretKey } = await bench.share('v', {
      caller: owner,
      recipient: 'alan@example.com',
    });
    expect(found(await bench.service.findReceipt(asHolder(metadataKey), anonymous))).toMatchObject({
      custid: 'jo@example.org',
      secretKey,
      recipient: 'al*****@e*****.com',
    });
  });

  it('names its owner to whoever holds the key: with another account, or once the secret is gone', async () => {
    const bench = createBench();
    const [owner, other] = [await bench.signUp('jo@example.org'), await bench.signUp('al@example.org')];
    const { metadataKey, secretKey } = await bench.share('v', { caller: owner });
    const seen = found(await bench.service.findReceipt(asHolder(metadataKey), other));
    expect(seen).toMatchObject({ custid: 'jo@example.org', secretKey });
    await bench.service.reveal(guess(secretKey), anonymous);
    for (const caller of [other, anonymous]) {
      const gone = found(await bench.service.findReceipt(asHolder(metadataKey), caller));
      expect(gone).toMatchObject({
        custid: 'jo@example.org',
        secretKey: null,
        secretShortkey: secretKey.slice(0, 6),
        state: 'received',
      });
    }
  });

  it('with any other spelling of the key: nobody', async () => {
    const bench = createBench();
    const { metadataKey } = await bench.share('v');
    for (const spelling of [
      metadataKey.toUpperCase(),
      `${metadataKey} `,
      `${metadataKey}\n`,
      '',
      '../recent',
    ]) {
      expect(await bench.service.findReceipt(asHolder(spelling), anonymous)).toEqual({ outcome: 'unknown' });
    }
  });

  it('names nobody when the owner’s account is gone', async () => {
    const bench = createBench({ wrap: (store) => ({ ...store, findAccountById: async () => null }) });
    const owner = await bench.signUp('jo@example.org');
    const { metadataKey } = await bench.share('v', { caller: owner });
    expect(found(await bench.service.findReceipt(asHolder(metadataKey), anonymous)).custid).toBe('anon');
  });
});

describe('what a receipt tells (P6)', () => {
  it('is new until the creator looks, viewed from that first look on', async () => {
    const bench = createBench();
    const { metadataKey } = await bench.share('v');
    await bench.service.findReceipt(asHolder(metadataKey), anonymous);
    bench.advance(5);
    const first = found(await bench.service.viewReceipt(asHolder(metadataKey), anonymous));
    expect(first).toMatchObject({ state: 'viewed', viewedAt: startOfTime + 5, updatedAt: startOfTime + 5 });
    bench.advance(5);
    const second = found(await bench.service.viewReceipt(asHolder(metadataKey), anonymous));
    expect(second).toMatchObject({ state: 'viewed', viewedAt: startOfTime + 5 });
    const later = found(await bench.service.findReceipt(asHolder(metadataKey), anonymous));
    expect(later).toMatchObject({ state: 'viewed', viewedAt: startOfTime + 5, updatedAt: startOfTime + 5 });
  });

  it('is received from the moment of the read, with the time, and the key no more', async () => {
    const bench = createBench();
    const owner = await bench.signUp('jo@example.org');
    const made = await bench.share('v', { caller: owner, recipient: 'alan@example.com', ttlSeconds: 3_600 });
    bench.advance(7);
    await bench.service.reveal(guess(made.secretKey), anonymous);
    expect(found(await bench.service.viewReceipt(asOwner(made.metadataKey), owner))).toMatchObject({
      state: 'received',
      receivedAt: startOfTime + 7,
      updatedAt: startOfTime + 7,
      burnedAt: null,
      viewedAt: null,
      secretKey: null,
      secretShortkey: made.secretKey.slice(0, 6),
      secretTtlSeconds: null,
      metadataTtlSeconds: 7_193,
      recipient: 'al*****@e*****.com',
    });
  });

  it('is expired from the second of expiry, and unknown from the end of its own life', async () => {
    const bench = createBench();
    const { metadataKey, secretKey } = await bench.share('v', { ttlSeconds: 60 });
    bench.advance(59);
    expect(found(await bench.service.findReceipt(asHolder(metadataKey), anonymous))).toMatchObject({
      state: 'new',
      secretTtlSeconds: 1,
      metadataTtlSeconds: 61,
    });
    bench.advance(1);
    expect(found(await bench.service.findReceipt(asHolder(metadataKey), anonymous))).toMatchObject({
      state: 'expired',
      secretKey: null,
      secretShortkey: secretKey.slice(0, 6),
      secretTtlSeconds: null,
      updatedAt: startOfTime + 60,
    });
    bench.advance(59);
    expect(found(await bench.service.viewReceipt(asHolder(metadataKey), anonymous)).state).toBe('expired');
    bench.advance(1);
    expect(await bench.service.findReceipt(asHolder(metadataKey), anonymous)).toEqual({ outcome: 'unknown' });
  });

  it('keeps the shortkey after the end, for every record and whoever holds the key', async () => {
    const bench = createBench();
    const owner = await bench.signUp('jo@example.org');
    for (const options of [{}, { caller: owner }, { caller: owner, recipient: 'alan@example.com' }]) {
      const [read, burned] = [await bench.share('v', options), await bench.share('v', options)];
      await bench.service.reveal(guess(read.secretKey), anonymous);
      await bench.service.burn(
        { proof: null, ...asHolder(burned.metadataKey), isAbandoned: () => false },
        anonymous,
      );
      for (const { metadataKey, secretKey } of [read, burned]) {
        for (const caller of [owner, anonymous]) {
          const told = found(await bench.service.findReceipt(asHolder(metadataKey), caller));
          expect(told).toMatchObject({ secretKey: null, secretShortkey: secretKey.slice(0, 6) });
          expect(told.recipient).toBe('recipient' in options ? 'al*****@e*****.com' : null);
        }
      }
    }
  });

  it('is told as before of records that earlier versions made: their details end with the box', async () => {
    const bench = createBench({
      wrap: changing(({ detailsBox, ...receipt }) => {
        const box = detailsBox?.subarray(0, -6) ?? null;
        return { ...receipt, detailsBox: box?.length === 0 ? null : box };
      }),
    });
    const owner = await bench.signUp('jo@example.org');
    const own = await bench.share('v', { caller: owner, recipient: 'alan@example.com' });
    const plain = await bench.share('v', { caller: owner });
    const unowned = await bench.share('v');
    for (const { secretKey } of [own, plain, unowned])
      await bench.service.reveal(guess(secretKey), anonymous);
    const told = async ({ metadataKey }: { metadataKey: string }) =>
      found(await bench.service.findReceipt(asOwner(metadataKey), owner));
    expect(await told(own)).toMatchObject({
      recipient: 'al*****@e*****.com',
      secretShortkey: own.secretKey.slice(0, 6),
    });
    expect(await told(plain)).toMatchObject({ recipient: null, secretShortkey: plain.secretKey.slice(0, 6) });
    expect(await told(unowned)).toMatchObject({ recipient: null, secretShortkey: '' });
  });

  it('is still told when a box is damaged or its root is gone: what it held is left out', async () => {
    const bench = createBench({
      wrap: changing((receipt) => ({
        ...receipt,
        detailsBox: new Uint8Array(112),
        recentBox: new Uint8Array(5),
      })),
    });
    const owner = await bench.signUp('jo@example.org');
    const { metadataKey, secretKey } = await bench.share('v', {
      caller: owner,
      recipient: 'alan@example.com',
    });
    const told = found(await bench.service.findReceipt(asOwner(metadataKey), owner));
    expect(told).toMatchObject({ recipient: null, secretKey, state: 'new' });
    const ring = createKeyRing([{ kid: 2, key: seededRandom('other')(32) }]);
    const service = createService({ ...bench.deps, ring });
    expect(found(await service.findReceipt(asOwner(metadataKey), owner))).toMatchObject({
      secretKey: null,
      secretShortkey: '',
      state: 'new',
    });
  });

  it('holds no link of another record: what was exchanged stays closed', async () => {
    const boxes: StoredReceipt[] = [];
    const bench = createBench({
      wrap: changing((receipt) => {
        boxes.push(receipt);
        const other = boxes[0] ?? receipt;
        return { ...receipt, sealedSecret: other.sealedSecret, detailsBox: other.detailsBox };
      }),
    });
    const owner = await bench.signUp('jo@example.org');
    const one = await bench.share('one', { caller: owner, recipient: 'alan@example.com' });
    const two = await bench.share('two', { caller: owner, recipient: 'bob@example.com' });
    expect(found(await bench.service.findReceipt(asOwner(one.metadataKey), owner)).secretKey).toBe(
      one.secretKey as never,
    );
    const told = found(await bench.service.findReceipt(asOwner(two.metadataKey), owner));
    expect(told).toMatchObject({ secretKey: null, recipient: null });
  });
});
