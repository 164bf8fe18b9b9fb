/** A note goes where its secret goes, in both stores: to another root, another expiry, another store, and away (P10, P12). */
import { describe, expect, it } from 'bun:test';
import { anonymous } from '../../src/core/account.ts';
import { rewrapOlder } from '../../src/core/secrets/rewrap.ts';
import { createService, type SecretService } from '../../src/core/secrets/service.ts';
import { Sensitive } from '../../src/core/sensitive.ts';
import { createKeyRing } from '../../src/crypto/keyring.ts';
import type { Store } from '../../src/store/store.ts';
import { asHolder } from '../support/receipts.ts';
import { clientSecret } from '../support/sealed-wire.ts';
import { createBench, guess } from '../support/service-bench.ts';
import { clientStays } from './conformance/check.ts';
import { runMove } from './move-fixtures.ts';
import { clock, from, pairs, to, usePlaces } from './move-pairs.ts';

const line = 'For Ana: the Wi-Fi of ward 4';
const sealed = clientSecret({ hasNote: true });

async function shareEach(store: Store) {
  const bench = createBench({ wrap: () => store });
  const note = new Sensitive(line);
  return {
    bench,
    plain: await bench.share('value', { note, ttlSeconds: 3_600 }),
    guarded: await bench.share('value', { note, ttlSeconds: 3_600, passphrase: 'right' }),
    sealed: await bench.share('', { sealed: sealed.input(), ttlSeconds: 3_600 }),
  };
}

type Shared = Awaited<ReturnType<typeof shareEach>>;

async function notesOf(service: SecretService, shared: Shared): Promise<unknown[]> {
  const notes: unknown[] = [];
  for (const [{ secretKey }, linkProof] of [
    [shared.plain, null],
    [shared.guarded, null],
    [shared.sealed, sealed.proofs.linkProof],
  ] as const) {
    const found = await service.readNote({ secretKey, linkProof });
    notes.push('note' in found ? found.note?.expose() : found.outcome);
  }
  return notes;
}

const all = [line, line, sealed.wire.note];
const none = ['unknown', 'unknown', 'unknown'];

describe.each(pairs)('a note in %s', (...kinds) => {
  usePlaces(...kinds);

  it(`P12: goes to another root, another expiry, and to ${kinds[1]} in a move`, async () => {
    const store = await from.open();
    const shared = await shareEach(store);
    const { deps, service } = shared.bench;
    expect(await notesOf(service, shared)).toEqual(all);
    const newer = { kid: 2, key: deps.random(32) };
    const both = createKeyRing([deps.ring.current, newer]);
    const rotated = await rewrapOlder({ store, ring: both, random: deps.random }, () => {});
    expect(rotated).toMatchObject({ rewrapped: 3, damaged: 0 });
    const ring = createKeyRing([newer]);
    const served = createService({ ...deps, ring });
    expect(await notesOf(served, shared)).toEqual(all);
    const change = { ...asHolder(shared.plain.metadataKey), memo: undefined, ttlSeconds: 7_200 };
    expect((await served.change(change, anonymous)).outcome).toBe('found');
    await runMove(from, to);
    await store[Symbol.asyncDispose]();
    await using there = await to.open();
    const moved = createService({ ...deps, store: there, ring });
    expect(await notesOf(moved, shared)).toEqual(all);
    clock.advance(3_600);
    expect(await notesOf(moved, shared)).toEqual([line, 'unknown', 'unknown']);
  });

  it('P10: is gone once its secret is opened or burned', async () => {
    await using store = await from.open();
    const shared = await shareEach(store);
    const { service } = shared.bench;
    await service.reveal(guess(shared.plain.secretKey), anonymous);
    const burning = { ...asHolder(shared.guarded.metadataKey), proof: null, isAbandoned: clientStays };
    await service.burn(burning, anonymous);
    await service.burnByRecipient({ ...guess(shared.sealed.secretKey), proofs: sealed.proofs });
    expect(await notesOf(service, shared)).toEqual(none);
  });
});
