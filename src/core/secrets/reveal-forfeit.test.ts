/** A value that cannot be shown although the claim was won: lost, counted, and never shown in part or repaired. */
import { describe, expect, it } from 'bun:test';
import { createBench, guess } from '../../../test/support/service-bench.ts';
import { sealSecret } from '../../crypto/envelope.ts';
import { anonymous } from '../account.ts';
import { parseSecretKey } from '../keys.ts';

describe('a sealed value that is no text', () => {
  it('P3: is lost and counted, not shown with its bytes replaced', async () => {
    let sealedSecret = new Uint8Array(0);
    const bench = createBench({
      wrap: (store) => ({
        ...store,
        async findSecret(id) {
          const found = await store.findSecret(id);
          return found && { ...found, sealedSecret };
        },
      }),
    });
    const { secretKey, metadataKey } = await bench.share('v');
    const [record] = bench.records;
    const key = parseSecretKey(secretKey);
    if (record === undefined || key === null) throw new Error('nothing was stored');
    const { ring, random } = bench.deps;
    sealedSecret = new Uint8Array(
      sealSecret({
        value: Uint8Array.of(0x61, 0xff, 0x62),
        secretKey: key,
        metadataKey,
        addressBox: null,
        salt: random(32),
        passphrase: null,
        proofs: null,
        note: null,
        codeAddress: null,
        context: record,
        expiryLimit: record.expiresAt,
        root: ring.current,
        epoch: await bench.deps.store.epochFor(record.expiresAt),
        random,
      }),
    );
    await expect(bench.service.reveal(guess(secretKey), anonymous)).rejects.toThrow();
    expect(bench.events.map(({ event }) => event)).toEqual(['concealed', 'reveal_forfeited']);
    expect(await bench.service.reveal(guess(secretKey), anonymous)).toEqual({ outcome: 'unknown' });
  });
});
