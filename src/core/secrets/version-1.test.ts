/** Records that were sealed under version 1 of the envelope keep every promise until they expire. */
import { describe, expect, it } from 'bun:test';
import { clientStays } from '../../../test/stores/conformance/check.ts';
import { createOldRecords } from '../../../test/support/old-records.ts';
import { asOwner, found } from '../../../test/support/receipts.ts';
import { createBench, guess } from '../../../test/support/service-bench.ts';
import { createKeyRing } from '../../crypto/keyring.ts';
import { anonymous } from '../account.ts';
import { textOf } from './reveal.ts';
import { createService } from './service.ts';

const address = 'alan@example.com';

async function oldRecord() {
  const { wrap, turnOld } = createOldRecords();
  const bench = createBench({ wrap });
  const caller = await bench.signUp('jo@example.org');
  const keys = await bench.share('the value', { caller, recipient: address });
  await bench.service.settled();
  turnOld(bench, { ...keys, value: 'the value of before', address });
  return { bench, caller, ...keys };
}

describe('a record of version 1', () => {
  it('P1: gives its value to one reader, and then to nobody', async () => {
    const { bench, secretKey } = await oldRecord();
    const outcome = await bench.service.reveal(guess(secretKey), anonymous);
    expect(outcome.outcome === 'revealed' && textOf(outcome.content)).toBe('the value of before');
    expect(await bench.service.reveal(guess(secretKey), anonymous)).toEqual({ outcome: 'unknown' });
  });

  it('shows its creator the link while it waits, and mails it to the same address again', async () => {
    const { bench, caller, metadataKey, secretKey } = await oldRecord();
    const receipt = found(await bench.service.findReceipt(asOwner(metadataKey), caller));
    expect(receipt).toMatchObject({ secretKey, state: 'new', recipient: 'al*****@e*****.com' });
    const again = { ...asOwner(metadataKey), locale: 'en', recipient: null };
    expect((await bench.service.deliver(again, caller)).outcome).toBe('queued');
    await bench.service.settled();
    expect(bench.mails.map(({ to }) => to.expose())).toEqual([address, address]);
  });

  it('P7: is burned, and shows its link to nobody from then on', async () => {
    const { bench, caller, metadataKey, secretKey } = await oldRecord();
    const burn = { ...asOwner(metadataKey), proof: null, isAbandoned: clientStays };
    expect((await bench.service.burn(burn, caller)).outcome).toBe('burned');
    const receipt = found(await bench.service.findReceipt(asOwner(metadataKey), caller));
    expect(receipt).toMatchObject({ secretKey: null, state: 'burned' });
    expect(await bench.service.reveal(guess(secretKey), anonymous)).toEqual({ outcome: 'unknown' });
  });

  it('P16: is burned by its link', async () => {
    const { bench, caller, metadataKey, secretKey } = await oldRecord();
    expect(await bench.service.burnByRecipient(guess(secretKey))).toEqual({ outcome: 'burned' });
    const receipt = found(await bench.service.findReceipt(asOwner(metadataKey), caller));
    expect(receipt).toMatchObject({ secretKey: null, state: 'burned', burnedBy: 'recipient' });
  });

  it('P3: is reported under another root, and not claimed', async () => {
    const { bench, secretKey } = await oldRecord();
    const ring = createKeyRing([{ kid: bench.deps.ring.current.kid, key: new Uint8Array(32) }]);
    const service = createService({ ...bench.deps, ring });
    for (const ask of [
      () => service.reveal(guess(secretKey), anonymous),
      () => service.burnByRecipient(guess(secretKey)),
    ])
      await expect(ask()).rejects.toMatchObject({ name: 'ServiceError', code: 'damaged' });
    expect((await bench.service.reveal(guess(secretKey), anonymous)).outcome).toBe('revealed');
  });
});
