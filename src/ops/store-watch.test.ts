import { expect, it } from 'bun:test';
import { ServiceError, StoreMovedError } from '../core/errors.ts';
import type { LogLine } from './log-lines.ts';
import { storePollMs, watchStore } from './store-watch.ts';

const coded = (code: string) => Object.assign(new Error('of the engine'), { code });
const outage = (code: string) => new ServiceError('unavailable', 'not confirmed', { cause: coded(code) });

/** A watch whose seconds pass when they are told to, and what becomes of the store in each. */
function setUp(patienceMs: number) {
  const lines: LogLine[] = [];
  let [fault, nowMs, isOff, poll]: [Error | null, number, boolean, () => void] = [null, 0, false, () => {}];
  const watch = watchStore({
    patienceMs,
    nowMs: () => nowMs,
    assertAble: async () => {
      if (fault !== null) throw fault;
    },
    log: (line) => void lines.push(line),
    after(milliseconds, run) {
      expect(milliseconds).toBe(storePollMs);
      poll = run;
      return () => {
        isOff = true;
      };
    },
  });
  return {
    watch,
    lines,
    isOff: () => isOff,
    async second(found: Error | null) {
      // The look before, which is under way.
      await Promise.resolve().then(() => {});
      fault = found;
      nowMs += storePollMs;
      poll();
      await Promise.resolve().then(() => {});
      return watch.isAble();
    },
  };
}

it('P23: the log says once that the store fails, with the word of what failed first, and once that it is back', async () => {
  const { second, lines, watch, isOff } = setUp(0);
  const seen = [];
  for (const fault of [
    null,
    outage('SQLITE_IOERR_FSYNC'),
    outage('SQLITE_IOERR'),
    null,
    null,
    new StoreMovedError(),
    null,
  ])
    seen.push(await second(fault));
  expect(seen).toEqual([true, false, false, true, true, false, true]);
  expect(lines).toEqual([
    { event: 'store_failed', code: 'SQLITE_IOERR_FSYNC' },
    { event: 'store_back' },
    { event: 'store_moved' },
    { event: 'store_back' },
  ]);
  watch.stop();
  expect(isOff()).toBe(true);
});

it('P23: an outage shorter than a failover of the database is none', async () => {
  const { second, lines } = setUp(2_000);
  const seen = [];
  for (const fault of [
    outage('57P03'),
    outage('57P03'),
    null,
    outage('57P03'),
    outage('ECONNREFUSED'),
    outage('57P03'),
  ])
    seen.push(await second(fault));
  expect(seen).toEqual([true, true, true, true, true, false]);
  expect(lines).toEqual([{ event: 'store_failed', code: '57P03' }]);
});

it('P23: says that another process holds the store, and P25 why a server is refused', async () => {
  const { second, lines, watch } = setUp(0);
  await second(outage('SQLITE_BUSY'));
  expect([watch.isAble(), watch.isLocked()]).toEqual([false, true]);
  await second(null);
  expect(watch.isLocked()).toBe(false);
  const refusal = Object.assign(new Error('set fsync=on'), { reason: 'unsafe_setting' });
  await second(new ServiceError('unavailable', 'no connection', { cause: refusal }));
  await second(null);
  await second(new ServiceError('unavailable', 'No answer in time.'));
  expect(lines.map((line) => ('code' in line ? line.code : line.event))).toEqual([
    'SQLITE_BUSY',
    'store_back',
    'UNSAFE_SETTING',
    'store_back',
    'UNAVAILABLE',
  ]);
});
