import { describe, expect, it } from 'bun:test';
import { ServiceError } from '../domain/errors.ts';
import { createBoundedQueue, createPassphraseHasher } from './slow-hashes.ts';

const passphrase = new TextEncoder().encode('correct horse');
const salt = new Uint8Array(16).fill(1);

/** The longest time during which the event loop did nothing else, while the work goes on. */
async function longestBlockMs(work: Promise<unknown>): Promise<number> {
  let longestMs = 0;
  let lastMs = performance.now();
  let isDone = false;
  void work.finally(() => {
    isDone = true;
  });
  while (!isDone) {
    await new Promise((resolve) => setImmediate(resolve));
    const nowMs = performance.now();
    longestMs = Math.max(longestMs, nowMs - lastMs);
    lastMs = nowMs;
  }
  return longestMs;
}

describe('the queue of slow hashes', () => {
  it('lets so many run at once, the others in the order they came', async () => {
    const queued = createBoundedQueue({ maxInFlight: 2, maxWaiting: 10 });
    const gates = Array.from({ length: 5 }, () => Promise.withResolvers<void>());
    const started: number[] = [];
    const runs = gates.map((gate, index) =>
      queued(async () => {
        started.push(index);
        await gate.promise;
      }),
    );
    expect(started).toEqual([0, 1]);
    gates[1]?.resolve();
    await runs[1];
    expect(started).toEqual([0, 1, 2]);
    for (const gate of gates) gate.resolve();
    await Promise.all(runs);
    expect(started).toEqual([0, 1, 2, 3, 4]);
  });

  it('refuses as busy what does not fit, at once and without running it (P21)', async () => {
    const queued = createBoundedQueue({ maxInFlight: 1, maxWaiting: 1 });
    const gate = Promise.withResolvers<void>();
    const kept = [queued(() => gate.promise), queued(() => gate.promise)];
    let hasRun = false;
    const refused = queued(async () => {
      hasRun = true;
    });
    expect(refused).rejects.toMatchObject({ name: 'ServiceError', code: 'busy' });
    gate.resolve();
    await Promise.all(kept);
    expect(hasRun).toBe(false);
  });

  it('frees the place of work that failed', async () => {
    const queued = createBoundedQueue({ maxInFlight: 1, maxWaiting: 0 });
    expect(queued(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await Promise.resolve();
    expect(await queued(async () => 'yes')).toBe('yes');
  });
});

describe('the passphrase hasher', () => {
  it('stretches as argon2id of 19 MiB, t = 2, p = 1 does: 32 bytes, equal for equal input', async () => {
    const hasher = createPassphraseHasher();
    const [one, two, other] = await Promise.all([
      hasher.stretch(passphrase, salt),
      hasher.stretch(passphrase, salt),
      hasher.stretch(passphrase, new Uint8Array(16).fill(2)),
    ]);
    // From the reference implementation: printf '%s' 'correct horse' | argon2 <16 bytes of 0x01> -id -t 2 -k 19456 -p 1 -l 32 -r
    expect(Buffer.from(one).toString('hex')).toBe(
      '814eaae124a49f221c6b800f6758b752d3f4fee1fee1cbdf75263e17930347f4',
    );
    expect(two).toEqual(one);
    expect(other).not.toEqual(one);
  });

  it('makes and checks bcrypt hashes of cost 10', async () => {
    const hasher = createPassphraseHasher();
    const input = Buffer.from('0123456789abcdef0123456789abcdef').toString('base64');
    const hash = await hasher.hashVerifier(input);
    expect(hash).toMatch(/^\$2[aby]\$10\$/);
    expect(await hasher.checkVerifier(input, hash)).toBe(true);
    expect(await hasher.checkVerifier(`${input.slice(0, -2)}x=`, hash)).toBe(false);
  });

  it('refuses what bcrypt would cut (P15)', async () => {
    const hasher = createPassphraseHasher();
    expect(hasher.hashVerifier('a'.repeat(73))).rejects.toThrow(RangeError);
    expect(hasher.hashVerifier('a\0b')).rejects.toThrow(RangeError);
    expect(hasher.hashVerifier('')).rejects.toThrow(RangeError);
  });

  it('takes 66 calls at once, and refuses the next (P21)', async () => {
    const hasher = createPassphraseHasher();
    const results = await Promise.allSettled(
      Array.from({ length: 67 }, () => hasher.stretch(passphrase, salt)),
    );
    expect(results.map(({ status }) => status).lastIndexOf('fulfilled')).toBe(65);
    expect(results.at(-1)).toMatchObject({ status: 'rejected', reason: { code: 'busy' } });
  });

  it('never blocks the event loop for 50 ms under 200 calls at once, and refuses those that do not fit (P24)', async () => {
    const hasher = createPassphraseHasher();
    await hasher.stretch(passphrase, salt);
    const calls = Array.from({ length: 200 }, () => hasher.stretch(passphrase, salt));
    const results = Promise.allSettled(calls);
    const blockedMs = await longestBlockMs(results);
    const refused = (await results).filter((result) => result.status === 'rejected');
    expect(refused).toHaveLength(200 - 2 - 64);
    expect(refused.every(({ reason }) => reason instanceof ServiceError && reason.code === 'busy')).toBe(
      true,
    );
    expect(blockedMs).toBeLessThan(50);
  });

  it('tooth check: a hash on the main thread is seen as a block', async () => {
    const { hashRawSync } = await import('@node-rs/argon2');
    const work = (async () => {
      await Promise.resolve();
      hashRawSync(passphrase, { salt, memoryCost: 65_536, timeCost: 8 });
    })();
    expect(await longestBlockMs(work)).toBeGreaterThan(50);
  });
});
