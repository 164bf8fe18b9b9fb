import { describe, expect, it } from 'bun:test';
import type { HashPlace } from '../core/account.ts';
import { ServiceError } from '../core/errors.ts';
import { createPassphraseHasher, hashLimitsFor } from './slow-hashes.ts';

const passphrase = new TextEncoder().encode('correct horse');
const salt = new Uint8Array(16).fill(1);
const place: HashPlace = { client: '192.0.2.0/24', purpose: 'prove' };

/** Event-loop turns while the work runs: a count, which a busy machine lowers but never to zero. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  let isDone = false;
  void work.finally(() => {
    isDone = true;
  });
  while (!isDone) {
    await new Promise((resolve) => setImmediate(resolve));
    turns += 1;
  }
  return turns;
}

/** A hash on the event loop's own thread leaves it one or two turns; one on another thread leaves hundreds. */
const leastTurnsPerHash = 20;

describe('the passphrase hasher', () => {
  it('stretches as argon2id of 19 MiB, t = 2, p = 1 does: 32 bytes, equal for equal input', async () => {
    const hasher = createPassphraseHasher();
    const [one, two, other] = await Promise.all([
      hasher.stretch(passphrase, salt, place),
      hasher.stretch(passphrase, salt, place),
      hasher.stretch(passphrase, new Uint8Array(16).fill(2), place),
    ]);
    // From the reference implementation: printf '%s' 'correct horse' | argon2 <16 bytes of 0x01> -id -t 2 -k 19456 -p 1 -l 32 -r
    expect(Buffer.from(one).toString('hex')).toBe(
      '814eaae124a49f221c6b800f6758b752d3f4fee1fee1cbdf75263e17930347f4',
    );
    expect(two).toEqual(one);
    expect(other).not.toEqual(one);
  });

  it('makes bcrypt hashes of the least cost', async () => {
    const hasher = createPassphraseHasher();
    const input = Buffer.from('0123456789abcdef0123456789abcdef').toString('base64');
    const hash = await hasher.hashVerifier(input);
    expect(hash).toMatch(/^\$2[aby]\$04\$/);
    expect(await Bun.password.verify(input, hash, 'bcrypt')).toBe(true);
    expect(await Bun.password.verify(`${input.slice(0, -2)}x=`, hash, 'bcrypt')).toBe(false);
  });

  it('refuses what bcrypt would cut (P15)', async () => {
    const hasher = createPassphraseHasher();
    expect(await hasher.hashVerifier('a'.repeat(72))).toBeString();
    expect(hasher.hashVerifier('a'.repeat(73))).rejects.toThrow(RangeError);
    expect(hasher.hashVerifier('a\0b')).rejects.toThrow(RangeError);
    expect(hasher.hashVerifier('')).rejects.toThrow(RangeError);
  });

  it('hashes on all cores but one, and on two at least (P24)', () => {
    const inFlight = [1, 2, 3, 4, 16].map((cores) => hashLimitsFor(cores).maxInFlight);
    expect(inFlight).toEqual([2, 2, 2, 3, 15]);
    expect(hashLimitsFor(2)).toMatchObject({ maxWaiting: 64, maxWaitingPerClient: 8, maxProofsInARow: 4 });
  });

  it('leaves the event loop free under 200 calls at once, and refuses those that do not fit (P24)', async () => {
    const hasher = createPassphraseHasher(hashLimitsFor(2));
    await hasher.stretch(passphrase, salt, place);
    const calls = Array.from({ length: 200 }, (_, n) =>
      hasher.stretch(passphrase, salt, { ...place, client: `192.0.${n % 20}.0/24` }),
    );
    const results = Promise.allSettled(calls);
    const turns = await turnsDuring(results);
    const refused = (await results).filter((result) => result.status === 'rejected');
    expect(refused).toHaveLength(200 - 2 - 64);
    const isBusy = ({ reason }: PromiseRejectedResult) =>
      reason instanceof ServiceError && reason.code === 'busy';
    expect(refused.every(isBusy)).toBe(true);
    expect(turns).toBeGreaterThan(leastTurnsPerHash * (200 - refused.length));
  }, 60_000);

  it('self-test: hashes on the main thread are seen as too few turns', async () => {
    const { hashRawSync } = await import('@node-rs/argon2');
    const hashes = 10;
    const work = (async () => {
      for (let n = 0; n < hashes; n += 1) {
        await new Promise((resolve) => setImmediate(resolve));
        hashRawSync(passphrase, { salt, memoryCost: 19_456, timeCost: 2 });
      }
    })();
    expect(await turnsDuring(work)).toBeLessThan(leastTurnsPerHash * hashes);
  });
});
