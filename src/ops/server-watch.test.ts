import { expect, it } from 'bun:test';
import type { LogLine } from './log-lines.ts';
import { serverPollMs, watchServer } from './server-watch.ts';

it('P25: the log says once that a server may no longer be used, and once that it may again', () => {
  const lines: LogLine[] = [];
  let [isRefused, isOff] = [false, false];
  let poll = (): void => {};
  const watch = watchServer({
    isRefused: () => isRefused,
    log: (line) => void lines.push(line),
    after(milliseconds, run) {
      expect(milliseconds).toBe(serverPollMs);
      poll = run;
      return () => {
        isOff = true;
      };
    },
  });
  for (const now of [false, true, true, false, false]) {
    isRefused = now;
    poll();
  }
  expect(lines).toEqual([{ event: 'server_refused' }, { event: 'server_accepted' }]);
  watch.stop();
  expect(isOff).toBe(true);
});
