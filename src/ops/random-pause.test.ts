import { describe, expect, it } from 'bun:test';
import { createRandomPauses } from './jobs.ts';

/** Pauses on a fake clock, with these random draws in order. */
function bench(...draws: number[]) {
  const timers = new Map<number, () => void>();
  const pauses = createRandomPauses({
    maxMs: 2_000,
    random: (length) => {
      const bytes = Buffer.alloc(length);
      bytes.writeUInt32BE(draws.shift() ?? 0);
      return new Uint8Array(bytes);
    },
    after(milliseconds, run) {
      timers.set(milliseconds, run);
      return () => timers.delete(milliseconds);
    },
  });
  return { pauses, timers };
}

describe('a pause of random length', () => {
  it('is as long as was drawn, and never as long as its bound', async () => {
    const { pauses, timers } = bench(0, 0x8000_0000, 0xffff_ffff);
    const three = [pauses.pause(), pauses.pause(), pauses.pause()];
    expect([...timers.keys()]).toEqual([0, 1_000, 1_999]);
    for (const run of [...timers.values()]) run();
    await Promise.all(three);
  });

  it('is cut short by the end, and none is begun afterwards', async () => {
    const { pauses, timers } = bench(0x8000_0000);
    const pause = pauses.pause();
    pauses.end();
    await Promise.all([pause, pauses.pause()]);
    expect(timers.size).toBe(0);
  });
});
