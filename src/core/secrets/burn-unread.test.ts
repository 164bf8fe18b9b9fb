/**
 * Proves that the holder of a link may burn what a reveal would open, with the same proofs, guesses and refusals, and that the receipt
 * then says by whom (P6, P16).
 */
import { describe, expect, it } from 'bun:test';
import { clientStays } from '../../../test/stores/conformance/check.ts';
import { clientSecret } from '../../../test/support/sealed-wire.ts';
import { type Bench, createBench, guess, startOfTime } from '../../../test/support/service-bench.ts';
import { anonymous } from '../account.ts';
import { Sensitive } from '../sensitive.ts';
import type { ReceiptInput } from './outcomes.ts';

const holder = (metadataKey: string): ReceiptInput => ({ metadataKey, authority: 'holder' });

const receiptOf = async (bench: Bench, metadataKey: string) => {
  const found = await bench.service.findReceipt(holder(metadataKey), anonymous);
  return found.outcome === 'found' ? found.receipt : null;
};

describe('a burn by the recipient', () => {
  it('P16: takes the link alone where there is no passphrase, and the receipt says who and when', async () => {
    const bench = createBench();
    const { secretKey, metadataKey } = await bench.share('v');
    bench.advance(10);
    expect(await bench.service.burnByRecipient(guess(secretKey))).toEqual({ outcome: 'burned' });
    expect(await receiptOf(bench, metadataKey)).toMatchObject({
      state: 'burned',
      burnedBy: 'recipient',
      burnedAt: startOfTime + 10,
      updatedAt: startOfTime + 10,
      receivedAt: null,
      secretKey: null,
    });
    expect(await bench.service.reveal(guess(secretKey), anonymous)).toEqual({ outcome: 'unknown' });
    expect(bench.events).toMatchObject([{ event: 'concealed' }, { event: 'burned', by: 'recipient' }]);
  });

  it('P6: is told apart from a burn by the creator', async () => {
    const bench = createBench();
    const { metadataKey } = await bench.share('v');
    expect((await receiptOf(bench, metadataKey))?.burnedBy).toBeNull();
    const burned = await bench.service.burn(
      { ...holder(metadataKey), proof: null, isAbandoned: clientStays },
      anonymous,
    );
    expect(burned).toMatchObject({ outcome: 'burned', receipt: { burnedBy: 'creator' } });
    expect((await receiptOf(bench, metadataKey))?.burnedBy).toBe('creator');
  });

  it('P16: takes the passphrase where there is one', async () => {
    const bench = createBench();
    const { secretKey, metadataKey } = await bench.share('v', { passphrase: 'right' });
    const burn = (passphrase?: string) => bench.service.burnByRecipient(guess(secretKey, passphrase));
    expect(await burn()).toEqual({ outcome: 'passphrase_missing' });
    expect(await burn('')).toEqual({ outcome: 'passphrase_missing' });
    expect(await burn('wrong')).toMatchObject({ outcome: 'passphrase_wrong', attemptsLeft: 4 });
    expect(await receiptOf(bench, metadataKey)).toMatchObject({ state: 'new', burnedBy: null });
    expect(await burn('right')).toEqual({ outcome: 'burned' });
  });

  it('P14: shares its guesses with the reveal, and the sixth is not computed', async () => {
    const bench = createBench();
    const { secretKey } = await bench.share('v', { passphrase: 'right' });
    const before = bench.hasher.stretched;
    for (let count = 0; count < 3; count += 1) await bench.service.burnByRecipient(guess(secretKey, 'wrong'));
    for (let count = 0; count < 2; count += 1)
      await bench.service.reveal(guess(secretKey, 'wrong'), anonymous);
    const sixth = await bench.service.burnByRecipient(guess(secretKey, 'right'));
    expect(sixth).toEqual({ outcome: 'attempts_exhausted', retryAfterSeconds: 600, needsCreator: false });
    expect(bench.hasher.stretched - before).toBe(5);
    expect(await bench.service.reveal(guess(secretKey, 'right', '198.51.1.0/24'), anonymous)).toMatchObject({
      outcome: 'revealed',
    });
  });

  it('P16: takes the whole link of an end-to-end secret, and what a passphrase adds to it', async () => {
    for (const hasPassphrase of [false, true]) {
      const sealed = clientSecret({ hasPassphrase });
      const bench = createBench();
      const { secretKey, metadataKey } = await bench.share('', { sealed: sealed.input() });
      const burn = (proofs: typeof sealed.proofs | null) =>
        bench.service.burnByRecipient({ ...guess(secretKey), proofs });
      const { linkProof, proof } = sealed.proofs;
      expect(await burn(null)).toEqual({ outcome: 'incomplete_link' });
      expect(await burn({ linkProof: proof, proof })).toEqual({ outcome: 'incomplete_link' });
      expect(await burn({ linkProof, proof: linkProof })).toMatchObject({
        outcome: hasPassphrase ? 'passphrase_wrong' : 'incomplete_link',
      });
      expect(await receiptOf(bench, metadataKey)).toMatchObject({ state: 'new' });
      expect(await burn(sealed.proofs)).toEqual({ outcome: 'burned' });
      expect(await receiptOf(bench, metadataKey)).toMatchObject({ state: 'burned', burnedBy: 'recipient' });
    }
  });

  it('is refused where proofs come for a secret that the server encrypts', async () => {
    const bench = createBench();
    const { secretKey } = await bench.share('v');
    const { proofs } = clientSecret();
    expect(await bench.service.burnByRecipient({ ...guess(secretKey), proofs })).toEqual({
      outcome: 'not_sealed',
    });
    expect(await bench.service.reveal(guess(secretKey), anonymous)).toMatchObject({ outcome: 'revealed' });
  });

  const ends: ReadonlyArray<
    [string, (bench: Bench, keys: { secretKey: string; metadataKey: string }) => unknown]
  > = [
    ['received', (bench, { secretKey }) => bench.service.reveal(guess(secretKey), anonymous)],
    ['burned', (bench, { secretKey }) => bench.service.burnByRecipient(guess(secretKey))],
    ['expired', (bench) => bench.advance(60)],
  ];
  it.each(ends)(
    'P17: of what was %s is answered as an unknown one, and changes nothing',
    async (_state, end) => {
      const bench = createBench();
      const made = await bench.share('v', { ttlSeconds: 60 });
      await end(bench, made);
      const [told, before] = [bench.events.length, await receiptOf(bench, made.metadataKey)];
      expect(await bench.service.burnByRecipient(guess(made.secretKey))).toEqual({ outcome: 'unknown' });
      expect(await bench.service.burnByRecipient(guess('a'.repeat(31)))).toEqual({ outcome: 'unknown' });
      expect(await bench.service.burnByRecipient(guess('no key'))).toEqual({ outcome: 'unknown' });
      expect(bench.events).toHaveLength(told);
      expect(await receiptOf(bench, made.metadataKey)).toEqual(before);
    },
  );

  it('P16: does not take the metadata key in the link’s place', async () => {
    const bench = createBench();
    const { metadataKey } = await bench.share('v');
    expect(await bench.service.burnByRecipient(guess(metadataKey))).toEqual({ outcome: 'unknown' });
  });

  it('P3: burns nothing for a client that has left, whenever it leaves', async () => {
    for (const stays of [0, 1, 2]) {
      const bench = createBench();
      const { secretKey, metadataKey } = await bench.share('v', { passphrase: 'right' });
      let asked = 0;
      const isAbandoned = () => {
        asked += 1;
        return asked > stays;
      };
      const burned = await bench.service.burnByRecipient({ ...guess(secretKey, 'right'), isAbandoned });
      expect(burned).toEqual({ outcome: stays < 2 ? 'abandoned' : 'burned' });
      expect((await receiptOf(bench, metadataKey))?.state).toBe(stays < 2 ? 'new' : 'burned');
    }
  });

  it('P3: leaves a record alone that does not open', async () => {
    let isDamaged = true;
    const bench = createBench({
      wrap: (store) => ({
        ...store,
        async findSecret(id) {
          const found = await store.findSecret(id);
          if (found === null || !isDamaged) return found;
          const sealedSecret = found.sealedSecret.slice();
          sealedSecret[sealedSecret.length - 1] = (sealedSecret.at(-1) ?? 0) ^ 1;
          return { ...found, sealedSecret };
        },
      }),
    });
    const { secretKey, metadataKey } = await bench.share('v');
    const burned = bench.service.burnByRecipient(guess(secretKey));
    await expect(burned).rejects.toMatchObject({ name: 'ServiceError', code: 'damaged' });
    expect((await receiptOf(bench, metadataKey))?.state).toBe('new');
    isDamaged = false;
    expect(await bench.service.burnByRecipient(guess(secretKey))).toEqual({ outcome: 'burned' });
  });

  it('P7: that loses to a reveal is told what everybody is told of a secret that is gone', async () => {
    const bench: Bench = createBench({
      wrap: (store) => ({
        ...store,
        async burnFound(...given) {
          await bench.service.reveal(guess(secretKey), anonymous);
          return store.burnFound(...given);
        },
      }),
    });
    const { secretKey, metadataKey } = await bench.share('v');
    expect(await bench.service.burnByRecipient(guess(secretKey))).toEqual({ outcome: 'unknown' });
    expect(await receiptOf(bench, metadataKey)).toMatchObject({ state: 'received', burnedBy: null });
    expect(bench.events.map(({ event }) => event)).toEqual(['concealed', 'revealed']);
  });

  it('leaves the opener’s second look as it is', async () => {
    const bench = createBench();
    const { secretKey, metadataKey } = await bench.share('v');
    const look = new Uint8Array(16).fill(7);
    await bench.service.reveal({ ...guess(secretKey), look }, anonymous);
    expect(await bench.service.burnByRecipient(guess(secretKey))).toEqual({ outcome: 'unknown' });
    expect(await bench.service.reveal({ ...guess(secretKey), look }, anonymous)).toMatchObject({
      outcome: 'revealed',
    });
    expect(await receiptOf(bench, metadataKey)).toMatchObject({ state: 'received' });
  });

  it('mails its creator that it was burned, once', async () => {
    const bench = createBench();
    const caller = await bench.signUp('jo@example.org');
    const { secretKey } = await bench.share('v', { caller, notify: ['burned'] });
    for (let count = 0; count < 2; count += 1) await bench.service.burnByRecipient(guess(secretKey));
    await bench.service.settled();
    expect(bench.accountMails).toMatchObject([
      { kind: 'secret_burned', to: new Sensitive('jo@example.org'), at: startOfTime },
    ]);
  });
});
