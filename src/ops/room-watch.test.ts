import { describe, expect, it } from 'bun:test';
import { ServiceError } from '../core/errors.ts';
import type { NewRecord } from '../core/secret.ts';
import type { LogLine } from './log-lines.ts';
import { createRoomWatch } from './store-watch.ts';

const noRoom = new ServiceError('storage_full', 'no room');
const away = new ServiceError('unavailable', 'away');
const record = {} as NewRecord;

function setUp() {
  const lines: LogLine[] = [];
  let fault: ServiceError | null = null;
  const answer = () => (fault === null ? Promise.resolve() : Promise.reject(fault));
  const watch = createRoomWatch({ put: answer, assertRoom: answer }, (line) => void lines.push(line));
  const become = (next: ServiceError | null) => {
    fault = next;
  };
  return { watch, lines, become };
}

describe('the watch on room (P23)', () => {
  it('reports once when room runs out and once when it returns', async () => {
    const { watch, lines, become } = setUp();
    await watch.check();
    expect([watch.isFull(), lines]).toEqual([false, []]);
    become(noRoom);
    for (let n = 0; n < 3; n++) await watch.check();
    expect(watch.isFull()).toBe(true);
    become(null);
    for (let n = 0; n < 3; n++) await watch.check();
    expect([watch.isFull(), lines]).toEqual([false, [{ event: 'storage_full' }, { event: 'storage_free' }]]);
  });

  it('reports a refused secret at once; a stored one proves nothing, since a small one may still fit', async () => {
    const { watch, lines, become } = setUp();
    become(noRoom);
    expect(await watch.put(record).catch((error: unknown) => error)).toBe(noRoom);
    become(null);
    await watch.put(record);
    expect([watch.isFull(), lines]).toEqual([true, [{ event: 'storage_full' }]]);
  });

  it('reports nothing when the store does not answer', async () => {
    const { watch, lines, become } = setUp();
    for (const before of [null, noRoom]) {
      become(before);
      await watch.check();
      become(away);
      await watch.check();
      expect(await watch.put(record).catch((error: unknown) => error)).toBe(away);
      expect(watch.isFull()).toBe(before !== null);
    }
    expect(lines).toEqual([{ event: 'storage_full' }]);
  });
});
