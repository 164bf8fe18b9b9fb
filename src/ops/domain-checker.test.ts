import { describe, expect, it } from 'bun:test';
import { firstRunMs, runIntervalMs, startDomainChecker } from './jobs.ts';
import type { LogLine } from './log-lines.ts';

/** Timers that run when the test says so. */
function setUp(checkDue: (until?: AbortSignal) => Promise<number>) {
  const timers: { milliseconds: number; run: () => void }[] = [];
  const lines: LogLine[] = [];
  const checker = startDomainChecker({
    domains: { checkDue },
    log: (line) => void lines.push(line),
    after(milliseconds, run) {
      const timer = { milliseconds, run };
      timers.push(timer);
      return () => void timers.splice(timers.indexOf(timer), timers.includes(timer) ? 1 : 0);
    },
  });
  const fire = async () => {
    timers.shift()?.run();
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  };
  return { checker, timers, lines, fire };
}

describe('the domain checker', () => {
  it('runs 30 s after the start and then every 10 minutes, counted from the end of a run', async () => {
    let runs = 0;
    const gate = Promise.withResolvers<number>();
    const { timers, fire } = setUp(() => {
      runs += 1;
      return gate.promise;
    });
    expect([runs, timers.map(({ milliseconds }) => milliseconds)]).toEqual([0, [firstRunMs]]);
    await fire();
    expect([runs, timers.length]).toEqual([1, 0]);
    gate.resolve(3);
    await fire();
    expect(timers.map(({ milliseconds }) => milliseconds)).toEqual([runIntervalMs]);
    expect([firstRunMs, runIntervalMs]).toEqual([30_000, 600_000]);
  });

  it('tells of a fault, and tries again at the next turn', async () => {
    const error = new Error('store');
    const { timers, fire, lines } = setUp(() => Promise.reject(error));
    await fire();
    expect(lines).toEqual([{ event: 'fault', where: 'domains', error }]);
    expect(timers).toHaveLength(1);
  });

  it('stops: the run is told, is waited for, and is the last', async () => {
    const gate = Promise.withResolvers<number>();
    let signal: AbortSignal | undefined;
    const { checker, timers, fire, lines } = setUp((until) => {
      signal = until;
      return gate.promise;
    });
    await fire();
    const stopping = checker.stop();
    expect(signal?.aborted).toBe(true);
    // A late run finds the store closed.
    gate.reject(new Error('closed'));
    await stopping;
    expect([timers.length, lines]).toEqual([0, []]);
  });

  it('does not wait longer than a moment for a run that hangs', async () => {
    const { checker, timers, fire } = setUp(() => new Promise(() => {}));
    await fire();
    const stopping = checker.stop();
    expect(timers.map(({ milliseconds }) => milliseconds)).toEqual([1_000]);
    await fire();
    await stopping;
    expect(timers).toHaveLength(0);
  });

  it('stops before its first run', async () => {
    const { checker, timers } = setUp(() => Promise.resolve(0));
    await checker.stop();
    expect(timers).toHaveLength(0);
  });
});
