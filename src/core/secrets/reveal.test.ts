/** Proves that a value is released once, only after a confirmed claim, and that no wrong request consumes the secret. */
import { describe, expect, it } from 'bun:test';
import { clientStays } from '../../../test/stores/conformance/check.ts';
import { giveDomain } from '../../../test/support/own-domain.ts';
import { sealedUnderTheRoot, underTheRoot } from '../../../test/support/sealed-sample.ts';
import { seededRandom } from '../../../test/support/seeded-random.ts';
import { createBench, guess, startOfTime } from '../../../test/support/service-bench.ts';
import { createKeyRing, type KeyRing } from '../../crypto/keyring.ts';
import { anonymous } from '../account.ts';
import { ServiceError } from '../errors.ts';
import type { NewRecord, StoredSecret } from '../secret.ts';
import type { RevealOutcome } from './outcomes.ts';
import { textOf } from './reveal.ts';
import { createService } from './service.ts';

function revealedBy(outcome: RevealOutcome): string {
  if (outcome.outcome !== 'revealed') throw new Error(outcome.outcome);
  return textOf(outcome.content);
}

describe('a reveal', () => {
  it.each([
    ['plain text', 'correct horse battery staple'],
    ['a byte order mark in front', '\ufeffvalue'],
    ['line ends of every kind', 'a\r\nb\nc\rd\u2028e'],
    ['NUL and control characters', '\u0000\u0001\u001b[31m'],
    ['blanks around it', '  value\t '],
    ['characters that could be composed', 'e\u0301 \u00e9 \u212b'],
    ['emoji', '🔑👩‍👩‍👧‍👦'],
    ['what looks like an envelope', '{"v":1,"ciphertext":"AQAB"}'],
  ])('gives %s back byte for byte', async (_name, value) => {
    const bench = createBench();
    const { secretKey } = await bench.share(value);
    expect(revealedBy(await bench.service.reveal(guess(secretKey), anonymous))).toBe(value);
  });

  it('P1: gives the value once and then knows nothing', async () => {
    const bench = createBench();
    const { secretKey } = await bench.share('once');
    expect(revealedBy(await bench.service.reveal(guess(secretKey), anonymous))).toBe('once');
    for (const ask of [bench.service.reveal, bench.service.inspect, bench.service.secretStatus]) {
      expect(await ask(guess(secretKey), anonymous)).toEqual({ outcome: 'unknown' });
    }
    expect(bench.events.map(({ event }) => event)).toEqual(['concealed', 'revealed']);
  });

  it('tells what the reader may know, and whether it is the maker', async () => {
    const bench = createBench();
    const caller = await bench.signUp('jo@example.org', 'identity');
    const other = await bench.signUp('al@example.org');
    await giveDomain(bench.deps.store, caller.account.id, 'secrets.example.org');
    const { secretKey } = await bench.share('v', {
      caller,
      ttlSeconds: 3_600,
      shareDomain: 'secrets.example.org',
    });
    bench.advance(100);
    const waiting = {
      secretKey,
      state: 'new',
      hasPassphrase: false,
      ttlSeconds: 3_600,
      secretTtlSeconds: 3_500,
      shareDomain: 'secrets.example.org',
      createdAt: startOfTime,
      updatedAt: startOfTime,
      sealed: false,
      verify: false,
      isOwner: false,
    };
    expect(await bench.service.secretStatus({ secretKey }, anonymous)).toEqual({
      outcome: 'waiting',
      secret: waiting as never,
      sender: { name: null, address: 'j*****@e*****.org' },
    });
    expect(await bench.service.inspect(guess(secretKey), other)).toMatchObject({
      secret: { isOwner: false },
    });
    expect(await bench.service.inspect(guess(secretKey), caller)).toMatchObject({
      secret: { isOwner: true },
    });
    expect(await bench.service.reveal(guess(secretKey), anonymous)).toMatchObject({
      secret: { ...waiting, state: 'received', updatedAt: startOfTime + 100 },
    });
  });

  it.each([
    ['nothing', ''],
    ['a key in upper case', 'A'.repeat(31)],
    ['30 characters', 'a'.repeat(30)],
    ['32 characters', 'a'.repeat(32)],
    ['a blank behind', `${'a'.repeat(31)} `],
    ['a line feed behind', `${'a'.repeat(31)}\n`],
    ['a key nobody has', 'a'.repeat(31)],
    ['a prototype’s name', '__proto__'],
    ['letters that only look right', 'а'.repeat(31)],
  ])('P13: answers unknown to %s', async (_name, secretKey) => {
    const bench = createBench();
    await bench.share('v');
    for (const ask of [bench.service.reveal, bench.service.inspect, bench.service.secretStatus]) {
      expect(await ask(guess(secretKey), anonymous)).toEqual({ outcome: 'unknown' });
    }
  });

  it('P13: knows a key in its one spelling only', async () => {
    const bench = createBench();
    const { secretKey } = await bench.share('v');
    for (const spelling of [secretKey.toUpperCase(), ` ${secretKey}`, `${secretKey}=`, `${secretKey}%20`]) {
      expect(await bench.service.reveal(guess(spelling), anonymous)).toEqual({ outcome: 'unknown' });
    }
    expect(revealedBy(await bench.service.reveal(guess(secretKey), anonymous))).toBe('v');
  });
});

describe('looking', () => {
  it('P4: never consumes and changes nothing, however often', async () => {
    const bench = createBench();
    const { secretKey, metadataKey } = await bench.share('v', { passphrase: 'p' });
    for (let look = 0; look < 50; look += 1) {
      expect(await bench.service.inspect(guess(secretKey, 'p'), anonymous)).toMatchObject({
        outcome: 'waiting',
      });
      expect(await bench.service.inspect(guess(secretKey), anonymous)).toEqual({
        outcome: 'passphrase_missing',
      });
      await bench.service.secretStatus({ secretKey }, anonymous);
    }
    const found = await bench.service.findReceipt({ metadataKey, authority: 'holder' }, anonymous);
    expect(found).toMatchObject({ receipt: { state: 'new', updatedAt: startOfTime, viewedAt: null } });
    expect(revealedBy(await bench.service.reveal(guess(secretKey, 'p'), anonymous))).toBe('v');
  });
});

describe('the end of a secret’s life', () => {
  it('P8: is the very second: readable before it, unknown at it', async () => {
    const bench = createBench();
    const [one, two] = [
      await bench.share('one', { ttlSeconds: 60 }),
      await bench.share('two', { ttlSeconds: 60 }),
    ];
    bench.advance(59);
    expect(revealedBy(await bench.service.reveal(guess(one.secretKey), anonymous))).toBe('one');
    bench.advance(1);
    expect(await bench.service.reveal(guess(two.secretKey), anonymous)).toEqual({ outcome: 'unknown' });
    expect(await bench.service.inspect(guess(two.secretKey), anonymous)).toEqual({ outcome: 'unknown' });
  });

  it('P8: is not undone by a clock that steps back', async () => {
    const bench = createBench();
    const { secretKey } = await bench.share('v', { ttlSeconds: 60 });
    bench.advance(60);
    expect(await bench.service.reveal(guess(secretKey), anonymous)).toEqual({ outcome: 'unknown' });
    bench.advance(-3_600);
    expect(await bench.service.reveal(guess(secretKey), anonymous)).toEqual({ outcome: 'unknown' });
  });

  it('P8: is judged by the claim too: what expires between the look and the claim is not released', async () => {
    const bench = createBench({
      wrap: (store) => ({
        ...store,
        claim(secret) {
          bench.advance(60);
          return store.claim(secret, clientStays);
        },
      }),
    });
    const { secretKey } = await bench.share('v', { ttlSeconds: 60 });
    expect(await bench.service.reveal(guess(secretKey), anonymous)).toEqual({ outcome: 'unknown' });
    expect(bench.events.map(({ event }) => event)).toEqual(['concealed']);
  });
});

describe('a passphrase', () => {
  it('P14: wrong or missing never consumes', async () => {
    const bench = createBench();
    const { secretKey } = await bench.share('v', { passphrase: 'right' });
    for (const wrong of ['Right', 'right ', 'righ', 'right\u0000', 'ri\u200bght']) {
      const outcome = await bench.service.reveal(guess(secretKey, wrong), anonymous);
      expect(outcome).toMatchObject({ outcome: 'passphrase_wrong' });
      bench.advance(600);
    }
    expect(await bench.service.reveal(guess(secretKey), anonymous)).toEqual({
      outcome: 'passphrase_missing',
    });
    expect(await bench.service.reveal(guess(secretKey, ''), anonymous)).toEqual({
      outcome: 'passphrase_missing',
    });
    expect(revealedBy(await bench.service.reveal(guess(secretKey, 'right'), anonymous))).toBe('v');
  });

  it('P15: counts to its last byte, beyond 72 and beyond a NUL, as received and not normalised', async () => {
    const bench = createBench();
    const long = `${'p'.repeat(72)}\u0000${'q'.repeat(900)}é`;
    const { secretKey } = await bench.share('v', { passphrase: long });
    for (const wrong of [long.slice(0, 72), long.slice(0, -1), long.normalize('NFD')]) {
      const outcome = await bench.service.reveal(guess(secretKey, wrong), anonymous);
      expect(outcome).toMatchObject({ outcome: 'passphrase_wrong' });
    }
    expect(revealedBy(await bench.service.reveal(guess(secretKey, long), anonymous))).toBe('v');
  });

  it('P15: may have 1,024 bytes, and opens with all of them', async () => {
    const bench = createBench();
    const longest = `${'p'.repeat(1_022)}é`;
    const { secretKey } = await bench.share('v', { passphrase: longest });
    const short = await bench.service.reveal(guess(secretKey, longest.slice(0, -1)), anonymous);
    expect(short).toMatchObject({ outcome: 'passphrase_wrong' });
    expect(revealedBy(await bench.service.reveal(guess(secretKey, longest), anonymous))).toBe('v');
  });

  it('is not asked for, and not looked at, where none was set', async () => {
    const bench = createBench();
    const { secretKey } = await bench.share('v');
    expect(revealedBy(await bench.service.reveal(guess(secretKey, 'any'), anonymous))).toBe('v');
    expect(bench.hasher.stretched).toBe(0);
  });
});

/** A store whose `findSecret` returns a changed secret. */
function finding(change: (secret: StoredSecret) => StoredSecret) {
  const state = { damaged: true, claims: 0 };
  const bench = createBench({
    wrap: (store) => ({
      ...store,
      async findSecret(id) {
        const found = await store.findSecret(id);
        return found === null || !state.damaged ? found : change(found);
      },
      claim(secret) {
        state.claims += 1;
        return store.claim(secret, clientStays);
      },
    }),
  });
  return { bench, state };
}

const withByte = (bytes: Uint8Array, at: number): Uint8Array =>
  bytes.map((byte, index) => (index === at ? byte ^ 1 : byte));

describe('a fault', () => {
  it('P2: of the claim releases nothing, and is what the caller is told', async () => {
    const outage = new ServiceError('unavailable', 'the store did not confirm', { retryAfterSeconds: 5 });
    const state = { down: true };
    const bench = createBench({
      wrap: (store) => ({
        ...store,
        claim: (secret) => (state.down ? Promise.reject(outage) : store.claim(secret, clientStays)),
      }),
    });
    const { secretKey } = await bench.share('v');
    await expect(bench.service.reveal(guess(secretKey), anonymous)).rejects.toBe(outage);
    expect(bench.events.map(({ event }) => event)).toEqual(['concealed']);
    state.down = false;
    expect(revealedBy(await bench.service.reveal(guess(secretKey), anonymous))).toBe('v');
  });

  it('P2: of a claim that was done but not confirmed releases nothing either, then or later', async () => {
    const state = { down: true };
    const bench = createBench({
      wrap: (store) => ({
        ...store,
        async claim(secret) {
          const outcome = await store.claim(secret, clientStays);
          if (state.down) throw new ServiceError('unavailable', 'the answer was lost');
          return outcome;
        },
      }),
    });
    const { secretKey } = await bench.share('v');
    await expect(bench.service.reveal(guess(secretKey), anonymous)).rejects.toMatchObject({
      code: 'unavailable',
    });
    state.down = false;
    expect(await bench.service.reveal(guess(secretKey), anonymous)).toEqual({ outcome: 'unknown' });
  });

  const damages: ReadonlyArray<[string, (secret: StoredSecret) => StoredSecret]> = [
    ['a changed byte', (secret) => ({ ...secret, sealedSecret: withByte(secret.sealedSecret, 200) })],
    ['a lost end', (secret) => ({ ...secret, sealedSecret: secret.sealedSecret.slice(0, -1) })],
    ['nothing left of it', (secret) => ({ ...secret, sealedSecret: new Uint8Array(0) })],
    ['a later expiry', (secret) => ({ ...secret, expiresAt: secret.expiresAt + 1 })],
    ['its passphrase flag taken away', (secret) => ({ ...secret, hasPassphrase: !secret.hasPassphrase })],
    ['another owner', (secret) => ({ ...secret, owner: 7 as never })],
    ['another share domain', (secret) => ({ ...secret, shareDomain: 'evil.example' })],
  ];
  it.each(damages)(
    'P3: in the record (%s) is told, not claimed, and readable after its repair',
    async (_n, change) => {
      for (const passphrase of [undefined, 'p']) {
        const { bench, state } = finding(change);
        const { secretKey } = await bench.share('v', passphrase === undefined ? {} : { passphrase });
        const hashed = bench.hasher.stretched;
        for (const ask of [bench.service.reveal, bench.service.inspect]) {
          const asked = ask(guess(secretKey, passphrase), anonymous);
          await expect(asked).rejects.toMatchObject({ name: 'ServiceError', code: 'damaged' });
        }
        expect(bench.hasher.stretched).toBe(hashed);
        expect(state.claims).toBe(0);
        expect(bench.events.map(({ event }) => event)).toEqual([
          'concealed',
          'record_damaged',
          'record_damaged',
        ]);
        state.damaged = false;
        expect(revealedBy(await bench.service.reveal(guess(secretKey, passphrase), anonymous))).toBe('v');
      }
    },
  );

  it.each([
    ['with another root under the same key id', 1, 'damaged', 'its seal does not match', 'record_damaged'],
    ['without the root', 2, 'unavailable', 'root 1 is not in the key ring', 'root_missing'],
  ] as const)(
    'P3: of a key ring %s does not consume: the secret opens again with the right one',
    async (_n, kid, code, why, told) => {
      const bench = createBench();
      const { secretKey } = await bench.share('v');
      const ring = createKeyRing([{ kid, key: seededRandom('other ring')(32) }]);
      const wrong = createService({ ...bench.deps, ring });
      await expect(wrong.reveal(guess(secretKey), anonymous)).rejects.toMatchObject({
        code,
        message: expect.stringContaining(why),
      });
      expect(bench.events.map(({ event }) => event)).toEqual(['concealed', told]);
      expect(revealedBy(await bench.service.reveal(guess(secretKey), anonymous))).toBe('v');
    },
  );

  it('P12: does not come from a rotation: what the old root wrapped opens beside a new one', async () => {
    const bench = createBench();
    const caller = await bench.signUp('jo@example.org');
    const { secretKey, metadataKey } = await bench.share('v', { caller });
    const ring = createKeyRing([...bench.deps.ring.all, { kid: 2, key: seededRandom('next')(32) }]);
    const rotated = createService({ ...bench.deps, ring });
    const found = await rotated.findReceipt({ metadataKey, authority: 'owner' }, caller);
    expect(found).toMatchObject({ receipt: { secretKey } });
    expect(revealedBy(await rotated.reveal(guess(secretKey), anonymous))).toBe('v');
  });

  // Only someone with the root can make the next two: rows that unwrap but are damaged inside.
  it('P3: in the commitment under the seal is told, not claimed', async () => {
    const { reveal, state, events } = await forged(commitmentAt);
    await expect(reveal()).rejects.toMatchObject({ name: 'ServiceError', code: 'damaged' });
    expect(state.claims).toBe(0);
    expect(events.map(({ event }) => event)).toEqual(['record_damaged']);
    state.damaged = false;
    expect(revealedBy(await reveal())).toBe('v');
  });

  it('P1: that shows only after the claim forfeits the value: counted, never released by a second try', async () => {
    const { reveal, state, events } = await forged(commitmentAt + 40);
    await expect(reveal()).rejects.toThrow();
    expect(events.map(({ event }) => event)).toEqual(['reveal_forfeited']);
    state.damaged = false;
    expect(await reveal()).toEqual({ outcome: 'unknown' });
  });
});

/** R(32) ‖ the creator's key(31) ‖ lp("") ‖ lp(""), then the commitment. */
const commitmentAt = 32 + 31 + 4 + 4;

/** The record's row with one byte changed under its outer layer, sealed again with the root. */
function forge(record: NewRecord, ring: KeyRing, epochKey: Uint8Array, offset: number): Uint8Array {
  const inner = underTheRoot(record.sealedSecret, record, ring.current, epochKey);
  if (inner === null) throw new Error('the row does not open');
  const changed = withByte(new Uint8Array(inner), offset);
  return sealedUnderTheRoot(changed, record.sealedSecret, record, ring.current, epochKey);
}

/** A secret whose row was changed by someone with the root, and a service that finds it. */
async function forged(offset: number) {
  const made = createBench();
  const { secretKey } = await made.share('v');
  const record = made.records[0];
  if (record === undefined) throw new Error('nothing stored');
  const { findEpochKey, epochFor } = made.deps.store;
  const { key } = await epochFor(record.expiresAt);
  const sealedSecret = forge(record, made.deps.ring, key, offset);
  const { bench, state } = finding((secret) => ({ ...secret, sealedSecret }));
  await bench.deps.store.put(record);
  const store = { ...bench.deps.store, findEpochKey };
  const service = createService({ ...bench.deps, store, ring: made.deps.ring });
  return { reveal: () => service.reveal(guess(secretKey), anonymous), events: bench.events, state };
}
