/**
 * Proves that a burn destroys a waiting secret, says when it came too late, and asks for the passphrase where the
 * caller's dialect does.
 */
import { describe, expect, it } from 'bun:test';
import { clientStays } from '../../../test/stores/conformance/check.ts';
import { type Bench, createBench, guess, startOfTime } from '../../../test/support/service-bench.ts';
import { anonymous, type Caller } from '../account.ts';
import { Sensitive } from '../sensitive.ts';
import { burnAll } from './burn.ts';
import type { BurnInput } from './outcomes.ts';

const holder = (metadataKey: string): BurnInput => ({
  proof: null,
  metadataKey,
  authority: 'holder',
  isAbandoned: clientStays,
});
const withProof = (metadataKey: string, passphrase: string | null): BurnInput => ({
  ...holder(metadataKey),
  proof: {
    passphrase: passphrase === null ? null : new Sensitive(passphrase),
    clientPrefix: '192.0.2.0/24',
  },
});

describe('the burning of everything', () => {
  it('P10: ends all requests, goes on batch by batch, and ends only when the erased bytes are gone from the files', async () => {
    const scrubbed = Promise.withResolvers<boolean>();
    const batches = [
      { burned: 2, next: 'a' },
      { burned: 1, next: null },
    ];
    const [asked, progress]: [(string | null)[], number[]] = [[], []];
    const ends: number[] = [];
    let burned = -1;
    const burning = burnAll(
      {
        endRequests: async (limit) => {
          ends.push(asked.length);
          return ends.length < 3 ? limit : 0;
        },
        burnAll: async (after) => {
          asked.push(after);
          return batches[asked.length - 1] ?? { burned: 0, next: null };
        },
        scrub: () => scrubbed.promise,
      },
      (soFar) => progress.push(soFar),
    ).then((count) => {
      burned = count;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect([ends, asked, progress, burned]).toEqual([[0, 0, 0], [null, 'a'], [2], -1]);
    scrubbed.resolve(true);
    await burning;
    expect(burned).toBe(3);
  });
});

describe('a burn', () => {
  it('destroys what waits, and its answer says when', async () => {
    const bench = createBench();
    const { secretKey, metadataKey } = await bench.share('v');
    bench.advance(10);
    const burned = await bench.service.burn(holder(metadataKey), anonymous);
    expect(burned).toMatchObject({
      outcome: 'burned',
      receipt: {
        state: 'burned',
        burnedAt: startOfTime + 10,
        updatedAt: startOfTime + 10,
        receivedAt: null,
        secretKey: null,
        secretShortkey: secretKey.slice(0, 6),
        secretTtlSeconds: null,
      },
    });
    expect(await bench.service.reveal(guess(secretKey), anonymous)).toEqual({ outcome: 'unknown' });
    expect(bench.events.map(({ event }) => event)).toEqual(['concealed', 'burned']);
  });

  const ends: ReadonlyArray<
    [string, string, (bench: Bench, keys: { secretKey: string; metadataKey: string }) => unknown]
  > = [
    ['read', 'received', (bench, { secretKey }) => bench.service.reveal(guess(secretKey), anonymous)],
    ['burned', 'burned', (bench, { metadataKey }) => bench.service.burn(holder(metadataKey), anonymous)],
    ['expired', 'expired', (bench) => bench.advance(60)],
  ];
  it.each(ends)('P7: of what was %s before is told so, and changes nothing', async (_name, state, end) => {
    const bench = createBench();
    const made = await bench.share('v', { ttlSeconds: 60 });
    await end(bench, made);
    const told = bench.events.length;
    const burned = await bench.service.burn(holder(made.metadataKey), anonymous);
    expect(burned).toMatchObject({ outcome: 'already_gone', receipt: { state, secretKey: null } });
    expect(bench.events).toHaveLength(told);
    const found = await bench.service.findReceipt(holder(made.metadataKey), anonymous);
    expect(found).toMatchObject({ receipt: { state } });
  });

  it('P7: that loses the race is told what won, with the short key it had seen', async () => {
    const bench: Bench = createBench({
      wrap: (store) => ({
        ...store,
        async burn(id) {
          await bench.service.reveal(guess(kept), anonymous);
          return store.burn(id, clientStays);
        },
      }),
    });
    const { secretKey: kept, metadataKey } = await bench.share('v');
    expect(await bench.service.burn(holder(metadataKey), anonymous)).toMatchObject({
      outcome: 'already_gone',
      receipt: { state: 'received', secretShortkey: kept.slice(0, 6) },
    });
  });

  it('of a record that ends meanwhile is unknown', async () => {
    const bench: Bench = createBench({
      wrap: (store) => ({
        ...store,
        burn(id) {
          bench.advance(120);
          return store.burn(id, clientStays);
        },
      }),
    });
    const { metadataKey } = await bench.share('v', { ttlSeconds: 60 });
    expect(await bench.service.burn(holder(metadataKey), anonymous)).toEqual({ outcome: 'unknown' });
  });

  it('P16: is for the owner: another account’s, and an unknown key, are answered alike', async () => {
    const bench = createBench();
    const [owner, other] = [await bench.signUp('jo@example.org'), await bench.signUp('al@example.org')];
    const { metadataKey, secretKey } = await bench.share('v', { caller: owner });
    const asked = { metadataKey, authority: 'owner', isAbandoned: clientStays, proof: null } as const;
    for (const caller of [other, anonymous]) {
      expect(await bench.service.burn(asked, caller)).toEqual({ outcome: 'unknown' });
    }
    expect(await bench.service.burn({ ...asked, metadataKey: 'a'.repeat(31) }, other)).toEqual({
      outcome: 'unknown',
    });
    expect(await bench.service.secretStatus({ secretKey }, anonymous)).toMatchObject({ outcome: 'waiting' });
    expect(await bench.service.burn(asked, owner)).toMatchObject({
      outcome: 'burned',
      receipt: { custid: 'jo@example.org' },
    });
  });
});

describe('a burn that asks for the passphrase', () => {
  it('burns with the right one only', async () => {
    const bench = createBench();
    const { metadataKey } = await bench.share('v', { passphrase: 'right' });
    const burn = (passphrase: string | null) =>
      bench.service.burn(withProof(metadataKey, passphrase), anonymous);
    expect(await burn(null)).toEqual({ outcome: 'passphrase_missing' });
    expect(await burn('')).toEqual({ outcome: 'passphrase_missing' });
    expect(await burn('wrong')).toMatchObject({ outcome: 'passphrase_wrong' });
    expect(await burn('right')).toMatchObject({ outcome: 'burned' });
  });

  it('spares the owner alone where it says so, and a wrong one is wrong for everybody (P14)', async () => {
    for (const sparesOwner of [undefined, true] as const) {
      const bench = createBench();
      const [owner, other] = [await bench.signUp('jo@example.org'), await bench.signUp('al@example.org')];
      const ends = async (made: 'own' | 'anonymous', caller: Caller, passphrase: string | null) => {
        const own = made === 'own' ? { caller: owner } : {};
        const { metadataKey } = await bench.share('v', { passphrase: 'right', ...own });
        const input = withProof(metadataKey, passphrase);
        const proof = input.proof && { ...input.proof, ...(sparesOwner && { sparesOwner }) };
        return (await bench.service.burn({ ...input, proof }, caller)).outcome;
      };
      for (const caller of [anonymous, other, owner])
        expect(await ends('own', caller, 'wrong')).toBe('passphrase_wrong');
      for (const caller of [anonymous, other])
        expect(await ends('own', caller, null)).toBe('passphrase_missing');
      for (const caller of [anonymous, owner])
        expect(await ends('anonymous', caller, null)).toBe('passphrase_missing');
      expect(await ends('own', owner, null)).toBe(sparesOwner ? 'burned' : 'passphrase_missing');
    }
  });

  it('needs none where none was set', async () => {
    const bench = createBench();
    const { metadataKey } = await bench.share('v');
    const burned = await bench.service.burn(withProof(metadataKey, null), anonymous);
    expect(burned).toMatchObject({ outcome: 'burned' });
    expect(bench.hasher.stretched).toBe(0);
  });

  it('is refused, not let through, when the box that names the secret does not open', async () => {
    const bench = createBench({
      wrap: (store) => ({
        ...store,
        async findReceipt(...args) {
          const found = await store.findReceipt(...args);
          return found === null ? null : { ...found, sealedSecret: new Uint8Array(434) };
        },
      }),
    });
    const { metadataKey, secretKey } = await bench.share('v', { passphrase: 'right' });
    const burned = bench.service.burn(withProof(metadataKey, null), anonymous);
    await expect(burned).rejects.toMatchObject({ name: 'ServiceError', code: 'damaged' });
    expect(await bench.service.secretStatus({ secretKey }, anonymous)).toMatchObject({ outcome: 'waiting' });
  });
});
