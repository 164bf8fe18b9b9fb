/** What is told of a secret's time, up to the instant of its expiry. */
import { describe, expect, it } from 'bun:test';
import { createBench, guess } from '../../../test/support/service-bench.ts';
import { anonymous } from '../accounts/accounts.ts';

describe('the time that is left to a secret', () => {
  /** `lateSeconds` pass between finding the secret, in its last second, and telling of it. */
  async function leftWhenTold(lateSeconds: number): Promise<number | null> {
    const bench = createBench({
      wrap: (store) => ({
        ...store,
        async findSecret(id) {
          const found = await store.findSecret(id);
          bench.advance(lateSeconds);
          return found;
        },
      }),
    });
    const { secretKey } = await bench.share('v', { ttlSeconds: 600 });
    bench.advance(599);
    const told = await bench.service.inspect(guess(secretKey), anonymous);
    return told.outcome === 'waiting' ? told.secret.secretTtlSeconds : null;
  }

  it('is counted to the second, is 0 at its expiry, and never less', async () => {
    expect([await leftWhenTold(0), await leftWhenTold(1), await leftWhenTold(60)]).toEqual([1, 0, 0]);
  });
});
