/** Proves which ciphertexts are taken, and in what order proofs are compared, counted and claimed. */
import { describe, expect, it } from 'bun:test';
import { noOptions } from '../../../test/support/inputs.ts';
import { type ClientSecret, clientSecret } from '../../../test/support/sealed-wire.ts';
import { createBench, guess } from '../../../test/support/service-bench.ts';
import { anonymous } from '../account.ts';
import { builtInPlans } from '../plans.ts';
import type { AttemptStore } from '../ports/attempts.ts';
import { Sensitive } from '../sensitive.ts';
import { isCiphertextLength, maxCiphertextBytes, type Proofs } from './end-to-end.ts';
import type { ConcealInput, RevealInput } from './outcomes.ts';

/** As the protocol words it, from the content on. */
function paddedBytesOf(contentBytes: number): number {
  const unpadded = 4 + contentBytes;
  let power = 1;
  while (power * 2 <= unpadded) power *= 2;
  const step = Math.max(256, power / 16);
  let padded = 0;
  while (padded < unpadded) padded += step;
  return padded;
}

describe('the length of a ciphertext', () => {
  it('is taken where padding can make it, and at no other', () => {
    const possible = new Set<number>();
    for (let content = 1; content <= 70_000; content += 1) possible.add(paddedBytesOf(content) + 16);
    const taken = Array.from({ length: 70_000 }, (_, bytes) => bytes).filter(isCiphertextLength);
    expect(taken).toEqual([...possible].filter((bytes) => bytes < 70_000).sort((a, b) => a - b));
  });

  it('may be that of a file of just the plan’s size, with its name and its media type, and no longer', () => {
    for (const [plan, bytes] of [
      [builtInPlans.anonymous, 102_416],
      [builtInPlans.basic, 1_015_824],
      [{ maxSealedBytes: 1 }, 272],
      [{ maxSealedBytes: 248 }, 272],
      [{ maxSealedBytes: 249 }, 528],
      [{ maxSealedBytes: 67_108_864 }, 71_303_184],
    ] as const) {
      expect(maxCiphertextBytes(plan)).toBe(bytes);
      expect(paddedBytesOf(plan.maxSealedBytes + 4) + 16).toBe(bytes);
      expect(isCiphertextLength(bytes)).toBe(true);
    }
  });
});

describe('a creation', () => {
  const conceal = (changes: Partial<ConcealInput>) => {
    const bench = createBench();
    const input = { ...noOptions, value: new Sensitive(''), sealed: clientSecret().input(), ...changes };
    return { bench, made: bench.service.conceal(input, anonymous) };
  };

  it('takes nothing beside ciphertext that would show the server what is in it', async () => {
    for (const [field, changes] of [
      ['secret', { value: new Sensitive('v') }],
      ['passphrase', { passphrase: new Sensitive('p') }],
      ['recipient', { recipient: new Sensitive('joe@example.org') }],
    ] as const) {
      const { bench, made } = conceal(changes);
      expect(await made).toEqual({ outcome: 'sealed_beside', field });
      expect(bench.records).toEqual([]);
    }
  });

  it('refuses hashes that are none, and ciphertext over the plan’s limit', async () => {
    const sealed = clientSecret().input();
    for (const name of ['linkHash', 'proofHash'] as const) {
      const { made } = conceal({ sealed: { ...sealed, [name]: new Uint8Array(31) } });
      expect(await made).toEqual({ outcome: 'sealed_wrongly', flaw: 'hash' });
    }
    const { made } = conceal({ sealed: clientSecret({ paddedBytes: 106_496 }).input() });
    expect(await made).toEqual({ outcome: 'sealed_too_large', maxBytes: 100_000 });
  });

  it('hashes no passphrase of an end-to-end secret, and marks it in the record', async () => {
    for (const hasPassphrase of [false, true]) {
      const { bench, made } = conceal({ sealed: clientSecret({ hasPassphrase }).input() });
      expect(await made).toMatchObject({ outcome: 'created', receipt: { sealed: true, hasPassphrase } });
      expect(bench.records).toMatchObject([{ sealed: true, hasPassphrase, deliveryStaleAt: null }]);
      expect(bench.hasher.stretched).toBe(0);
    }
  });
});

/** What a reveal asks of the store, in order. */
async function asked(sealed: ClientSecret, proofs: Proofs | null, defect = (store: AttemptStore) => store) {
  const calls: string[] = [];
  const noting = (name: string) => {
    calls.push(name);
  };
  const bench = createBench({
    wrap: (store) => {
      const counted: AttemptStore = defect({
        ...store,
        reserve(...given) {
          noting('reserve');
          return store.reserve(...given);
        },
        refund(...given) {
          noting('refund');
          return store.refund(...given);
        },
      });
      return {
        ...store,
        ...counted,
        claim(...given) {
          noting('claim');
          return store.claim(...given);
        },
      };
    },
  });
  const { secretKey } = await bench.share('', { sealed: sealed.input() });
  const input: RevealInput = { ...guess(secretKey), proofs };
  const { outcome } = await bench.service.reveal(input, anonymous);
  return { outcome, calls };
}

describe('a reveal with proofs', () => {
  const other = clientSecret({ seed: 'other' }).proofs;

  it('of a secret without a passphrase claims for both proofs, and counts nothing', async () => {
    const sealed = clientSecret();
    const { linkProof, proof } = sealed.proofs;
    expect(await asked(sealed, sealed.proofs)).toEqual({ outcome: 'revealed', calls: ['claim'] });
    for (const proofs of [
      null,
      other,
      { linkProof, proof: other.proof },
      { linkProof: other.linkProof, proof },
    ])
      expect(await asked(sealed, proofs)).toEqual({ outcome: 'incomplete_link', calls: [] });
  });

  it('of a secret with a passphrase counts a guess before it compares, and gives a right one back (P14)', async () => {
    const sealed = clientSecret({ hasPassphrase: true });
    const { linkProof, proof } = sealed.proofs;
    const right = await asked(sealed, sealed.proofs);
    expect(right).toEqual({ outcome: 'revealed', calls: ['reserve', 'refund', 'claim'] });
    const guessed = await asked(sealed, { linkProof, proof: other.proof });
    expect(guessed).toEqual({ outcome: 'passphrase_wrong', calls: ['reserve'] });
    for (const proofs of [null, other, { linkProof: other.linkProof, proof }])
      expect(await asked(sealed, proofs)).toEqual({ outcome: 'incomplete_link', calls: [] });
  });

  it('is not computed where no guess is left (P14)', async () => {
    const sealed = clientSecret({ hasPassphrase: true });
    const exhausted = (store: AttemptStore): AttemptStore => ({
      ...store,
      reserve: async () => ({ outcome: 'exhausted', retryAfterSeconds: 9, needsCreator: false }),
    });
    const told = await asked(sealed, sealed.proofs, exhausted);
    expect(told).toEqual({ outcome: 'attempts_exhausted', calls: [] });
  });

  it('takes proofs of other lengths for wrong ones', async () => {
    const sealed = clientSecret();
    const { linkProof, proof } = sealed.proofs;
    for (const proofs of [
      { linkProof: new Uint8Array(0), proof },
      { linkProof: linkProof.subarray(0, 31), proof },
      { linkProof, proof: new Uint8Array([...proof, 0]) },
    ])
      expect(await asked(sealed, proofs)).toEqual({ outcome: 'incomplete_link', calls: [] });
  });
});
