import { describe, expect, it } from 'bun:test';
import { createRequestWaits } from './waits.ts';

function setUp() {
  let now = 1_000;
  const waits = createRequestWaits(() => now);
  /** One call to the store, which ends when it is told to. */
  function begin() {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const call = waits.count(() => promise);
    const end = (afterMs: number) => {
      now += afterMs;
      resolve();
      return call;
    };
    const fail = (afterMs: number) => {
      now += afterMs;
      reject(new Error('The store is away.'));
      return call.catch(() => {});
    };
    return { end, fail };
  }
  const waited = () => now - waits.beganMs();
  const pass = (ms: number) => {
    now += ms;
  };
  return { waits, begin, waited, pass };
}

describe('what a request has waited for its store', () => {
  it('is the sum of its calls, successful or not, without the time between them', async () => {
    const { waits, begin, waited, pass } = setUp();
    await waits.during(async () => {
      expect(waited()).toBe(0);
      await begin().end(300);
      pass(5_000);
      await begin().fail(400);
      expect(waited()).toBe(700);
    });
  });

  it('grows while a call is under way, and counts calls at the same time once', async () => {
    const { waits, begin, waited, pass } = setUp();
    await waits.during(async () => {
      const [one, other] = [begin(), begin()];
      pass(100);
      expect(waited()).toBe(100);
      await one.end(100);
      expect(waited()).toBe(200);
      await other.end(100);
      expect(waited()).toBe(300);
    });
  });

  it('is nothing for another request, for work apart, and for work that goes on after the answer', async () => {
    const { waits, begin, waited } = setUp();
    let laterWaited = -1;
    const answered = Promise.withResolvers<void>();
    const later = await waits.during(async () => {
      await begin().end(300);
      expect(waits.apart(waited)).toBe(0);
      expect(await waits.during(waited)).toBe(0);
      const goesOn = answered.promise.then(() => {
        laterWaited = waited();
      });
      return { goesOn };
    });
    answered.resolve();
    await later.goesOn;
    expect(laterWaited).toBe(0);
    expect(waited()).toBe(0);
  });
});
