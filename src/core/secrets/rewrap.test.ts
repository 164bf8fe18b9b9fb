/** Proves that a rotation takes nothing from readers, loses no change, and leaves nothing out but what it reports. */
import { describe, expect, it } from 'bun:test';
import { clientStays, newRecord } from '../../../test/stores/conformance/check.ts';
import { createOldRecords } from '../../../test/support/old-records.ts';
import { asOwner, found } from '../../../test/support/receipts.ts';
import { createBench, guess, startOfTime } from '../../../test/support/service-bench.ts';
import { unwrapSecret } from '../../crypto/envelope.ts';
import { createKeyRing } from '../../crypto/keyring.ts';
import { anonymous } from '../account.ts';
import { epochKeyOf } from '../ports/epochs.ts';
import { textOf } from './reveal.ts';
import { type RewrapDeps, rewrapOlder } from './rewrap.ts';
import { createService } from './service.ts';

const day = 86_400;
const nothing = { rewrapped: 0, fixed: 0, fixedUntil: null, damaged: 0 };

/** Secrets are stored under root 1; a rotation puts them under root 2. */
function createVault(options: Parameters<typeof createBench>[0] = {}) {
  const bench = createBench(options);
  const older = bench.deps.ring.current;
  const newer = { kid: 2, key: bench.deps.random(32) };
  const ring = createKeyRing([older, newer]);
  const store: RewrapDeps['store'] = { ...bench.memory, findSecret: bench.deps.store.findSecret };
  const deps: RewrapDeps = { store, ring, random: bench.deps.random };
  return {
    bench,
    ring,
    deps,
    /** What a server does that has taken the new root. */
    served: createService({ ...bench.deps, ring }),
    /** What a server does that has the new root alone. */
    servedAfter: createService({ ...bench.deps, ring: createKeyRing([newer]) }),
    rotate: (over: Partial<RewrapDeps['store']> = {}, onProgress: (rewrapped: number) => void = () => {}) =>
      rewrapOlder({ ...deps, store: { ...store, ...over } }, onProgress),
  };
}

type Vault = ReturnType<typeof createVault>;

async function readValue(service: Vault['served'], secretKey: string, passphrase?: string): Promise<string> {
  const revealed = await service.reveal(guess(secretKey, passphrase), anonymous);
  return revealed.outcome === 'revealed' ? textOf(revealed.content) : revealed.outcome;
}

describe('a rotation', () => {
  it('P12: puts everything that waits under the new root, where it opens without the older one', async () => {
    const { bench, servedAfter, rotate } = createVault();
    const caller = await bench.signUp('jo@example.org');
    const mailed = await bench.share('mailed', { caller, recipient: 'alan@example.com' });
    const guarded = await bench.share('guarded', { passphrase: 'right' });
    await bench.service.settled();
    expect(await bench.memory.rootKidsInUse()).toEqual([1]);
    expect(await rotate()).toEqual({ ...nothing, rewrapped: 2 });
    expect(await bench.memory.rootKidsInUse()).toEqual([2]);
    const receipt = found(await servedAfter.findReceipt(asOwner(mailed.metadataKey), caller));
    expect(receipt).toMatchObject({
      secretKey: mailed.secretKey,
      state: 'new',
      recipient: 'al*****@e*****.com',
    });
    expect(await readValue(servedAfter, guarded.secretKey, 'wrong')).toBe('passphrase_wrong');
    expect(await readValue(servedAfter, guarded.secretKey, 'right')).toBe('guarded');
    expect(await readValue(servedAfter, mailed.secretKey)).toBe('mailed');
    expect(await readValue(servedAfter, mailed.secretKey)).toBe('unknown');
  });

  it('P9: carries the inner layer over as it is', async () => {
    const { bench, ring, rotate } = createVault();
    await bench.share('the value');
    const [record] = bench.records;
    if (record === undefined) throw new Error('nothing was stored');
    await rotate();
    const after = await bench.memory.findSecret(record.secretId);
    if (after === null) throw new Error('the secret is gone');
    expect(after.sealedSecret).not.toEqual(record.sealedSecret);
    const epochKey = await epochKeyOf(bench.memory, record.sealedSecret);
    expect(unwrapSecret(after.sealedSecret, after, ring, epochKey)).toEqual(
      unwrapSecret(record.sealedSecret, record, ring, epochKey),
    );
  });

  it('has nothing to do the second time, and writes nothing', async () => {
    const { bench, rotate } = createVault();
    await bench.share('the value');
    await rotate();
    const replaceWrapping = () => Promise.reject(new Error('it was re-wrapped again'));
    expect(await rotate({ replaceWrapping })).toEqual(nothing);
  });

  it('goes through a large store in batches, past what is gone, and says how far it is', async () => {
    const { bench, servedAfter, rotate } = createVault();
    const made: { readonly secretKey: string }[] = [];
    for (let at = 0; at < 1_203; at += 1) made.push(await bench.share(`value ${at}`));
    const isRead = (at: number) => at % 3 === 1;
    for (const { secretKey } of made.filter((_, at) => isRead(at))) await readValue(bench.service, secretKey);
    const progress: number[] = [];
    const report = await rotate({}, (rewrapped) => progress.push(rewrapped));
    expect(report).toEqual({ ...nothing, rewrapped: 802 });
    expect(progress.length).toBeGreaterThan(2);
    expect(progress).toEqual(progress.toSorted((a, b) => a - b));
    expect(progress.at(-1)).toBe(802);
    const values = await Promise.all(made.map(({ secretKey }) => readValue(servedAfter, secretKey)));
    expect(values).toEqual(made.map((_, at) => (isRead(at) ? 'unknown' : `value ${at}`)));
  });

  it('leaves what a server stores under the older root meanwhile to the next run', async () => {
    const { bench, servedAfter, rotate, deps } = createVault();
    await bench.share('first');
    const late: { readonly secretKey: string }[] = [];
    const report = await rotate({
      async replaceWrapping(...given) {
        late.push(await bench.share('late'));
        return deps.store.replaceWrapping(...given);
      },
    });
    expect(report).toEqual({ ...nothing, rewrapped: 1 });
    expect(await rotate()).toEqual({ ...nothing, rewrapped: 1 });
    expect(await Promise.all(late.map(({ secretKey }) => readValue(servedAfter, secretKey)))).toEqual([
      'late',
    ]);
  });

  it('reports secrets of version 1, which open as before, and until when the last of them waits', async () => {
    const { wrap, turnOld } = createOldRecords();
    const { bench, served, rotate } = createVault({ wrap });
    const old = [
      await bench.share('-', { ttlSeconds: 2 * day }),
      await bench.share('-', { ttlSeconds: 5 * day }),
      await bench.share('-', { ttlSeconds: day }),
    ];
    for (const keys of old) turnOld(bench, { ...keys, value: 'of before', address: '' });
    await bench.share('new', { ttlSeconds: 7 * day });
    const report = { rewrapped: 1, fixed: 3, fixedUntil: startOfTime + 5 * day, damaged: 0 };
    expect(await rotate()).toEqual(report);
    expect(await rotate()).toEqual({ ...report, rewrapped: 0 });
    expect(await bench.memory.rootKidsInUse()).toEqual([1, 2]);
    const values = await Promise.all(old.map(({ secretKey }) => readValue(served, secretKey)));
    expect(values).toEqual(old.map(() => 'of before'));
    expect(await rotate()).toEqual(nothing);
  });

  it('counts what no root opens, leaves it as it is, and goes on', async () => {
    const { bench, servedAfter, rotate } = createVault();
    const damaged = newRecord(bench.memory.now(), {}, 1);
    await bench.memory.put(damaged);
    const { secretKey } = await bench.share('the value');
    expect(await rotate()).toEqual({ ...nothing, rewrapped: 1, damaged: 1 });
    expect((await bench.memory.findSecret(damaged.secretId))?.sealedSecret).toEqual(damaged.sealedSecret);
    expect(await readValue(servedAfter, secretKey)).toBe('the value');
  });

  it('ends with a fault when another rotation has closed its root, and takes nothing', async () => {
    const { bench, served, rotate } = createVault();
    const { secretKey } = await bench.share('the value');
    await bench.memory.closeRootsBefore(3);
    await expect(rotate()).rejects.toMatchObject({ name: 'ServiceError', code: 'unavailable' });
    expect(await bench.memory.rootKidsInUse()).toEqual([1]);
    expect(await readValue(served, secretKey)).toBe('the value');
  });
});

const steps = ['before it is read', 'after it is read', 'after it is re-wrapped'] as const;

/** Runs `meanwhile` once, at this step of the rotation's work on the one secret. */
function rotateWith(vault: Vault, step: (typeof steps)[number], meanwhile: () => Promise<unknown>) {
  const { store } = vault.deps;
  let isDone = false;
  const at = async (now: typeof step) => {
    if (isDone || now !== step) return;
    isDone = true;
    await meanwhile();
  };
  return vault.rotate({
    async findSecret(id) {
      await at('before it is read');
      return store.findSecret(id);
    },
    async replaceWrapping(...given) {
      await at('after it is read');
      const isReplaced = await store.replaceWrapping(...given);
      await at('after it is re-wrapped');
      return isReplaced;
    },
  });
}

describe('what happens to a secret during a rotation', () => {
  it.each(steps)('P1, P3: a reveal %s gives the value to that one reader', async (step) => {
    const vault = createVault();
    const { secretKey, metadataKey } = await vault.bench.share('the value');
    let value = '';
    const report = await rotateWith(vault, step, async () => {
      value = await readValue(vault.served, secretKey);
    });
    expect(value).toBe('the value');
    expect(report).toEqual({ ...nothing, rewrapped: step === 'after it is re-wrapped' ? 1 : 0 });
    expect(await readValue(vault.served, secretKey)).toBe('unknown');
    const receipt = await vault.served.findReceipt({ metadataKey, authority: 'holder' }, anonymous);
    expect(found(receipt).state).toBe('received');
  });

  it.each(steps)('P7, P10: a burn %s leaves nothing', async (step) => {
    const vault = createVault();
    const caller = await vault.bench.signUp('jo@example.org');
    const { secretKey, metadataKey } = await vault.bench.share('the value', { caller });
    const burn = { ...asOwner(metadataKey), proof: null, isAbandoned: clientStays };
    await rotateWith(vault, step, async () => {
      expect((await vault.served.burn(burn, caller)).outcome).toBe('burned');
    });
    expect(await readValue(vault.served, secretKey)).toBe('unknown');
    const [record] = vault.bench.records;
    const stored = record && (await vault.bench.memory.findReceipt(record.receiptId));
    expect([stored?.state, stored?.sealedSecret]).toEqual(['burned', null]);
  });

  it.each(steps)('P8: an expiry changed %s holds, and the secret comes under the new root', async (step) => {
    const vault = createVault();
    const { bench, servedAfter } = vault;
    const caller = await bench.signUp('jo@example.org');
    const { secretKey, metadataKey } = await bench.share('the value', { caller, ttlSeconds: 7 * day });
    const shorten = { ...asOwner(metadataKey), memo: undefined, ttlSeconds: day };
    const report = await rotateWith(vault, step, async () => {
      expect((await vault.served.change(shorten, caller)).outcome).toBe('found');
    });
    expect(report).toEqual({ ...nothing, rewrapped: 1 });
    expect(await bench.memory.rootKidsInUse()).toEqual([2]);
    const [record] = bench.records;
    const stored = record && (await bench.memory.findSecret(record.secretId));
    expect(stored?.expiresAt).toBe(startOfTime + day);
    bench.advance(day - 1);
    expect(await readValue(servedAfter, secretKey)).toBe('the value');
  });

  it.each(steps)('another rotation %s is not done again', async (step) => {
    const vault = createVault();
    const { secretKey } = await vault.bench.share('the value');
    let other = 0;
    const report = await rotateWith(vault, step, async () => {
      other = (await vault.rotate()).rewrapped;
    });
    expect([other + report.rewrapped, report.damaged]).toEqual([1, 0]);
    expect(await readValue(vault.servedAfter, secretKey)).toBe('the value');
  });

  it('P3: a reader who has proven the link before it is re-wrapped takes the secret after', async () => {
    const hooks = { beforeClaim: async () => {} };
    const vault = createVault({
      wrap: (store) => ({
        ...store,
        async claim(...args) {
          await hooks.beforeClaim();
          return store.claim(...args);
        },
      }),
    });
    const { secretKey } = await vault.bench.share('the value');
    let rewrapped = 0;
    hooks.beforeClaim = async () => {
      rewrapped = (await vault.rotate()).rewrapped;
    };
    // This server has not taken the new root yet.
    expect(await readValue(vault.bench.service, secretKey)).toBe('the value');
    expect(rewrapped).toBe(1);
  });

  it('P8: an expiry that was worked out before it is re-wrapped is worked out again', async () => {
    const hooks = { beforeChange: async () => {} };
    const vault = createVault({
      wrap: (store) => ({
        ...store,
        async setExpiry(...args) {
          const { beforeChange } = hooks;
          hooks.beforeChange = async () => {};
          await beforeChange();
          return store.setExpiry(...args);
        },
      }),
    });
    const { bench, served, servedAfter } = vault;
    const caller = await bench.signUp('jo@example.org');
    const { secretKey, metadataKey } = await bench.share('the value', { caller, ttlSeconds: 7 * day });
    hooks.beforeChange = async () => {
      await vault.rotate();
    };
    const change = { ...asOwner(metadataKey), memo: undefined, ttlSeconds: day };
    expect(await served.change(change, caller)).toMatchObject({ grantedTtlSeconds: day });
    expect(await bench.memory.rootKidsInUse()).toEqual([2]);
    bench.advance(day - 1);
    expect(await readValue(servedAfter, secretKey)).toBe('the value');
  });

  it('P12: two rotations at once both end, and everything opens', async () => {
    const { bench, servedAfter, rotate } = createVault();
    const made = await Promise.all(Array.from({ length: 70 }, (_, at) => bench.share(`value ${at}`)));
    const reports = await Promise.all([rotate(), rotate()]);
    expect(reports.reduce((sum, { rewrapped }) => sum + rewrapped, 0)).toBe(70);
    const values = await Promise.all(made.map(({ secretKey }) => readValue(servedAfter, secretKey)));
    expect(values).toEqual(made.map((_, at) => `value ${at}`));
  });
});
