import { expect, it } from 'bun:test';
import { count, isLongRun, limitMs } from './counts.ts';

it('a test takes the usual count, and the long one only in a long run', () => {
  const taken = count({ usual: 1, long: 100 });
  expect(taken).toBe(isLongRun ? 100 : 1);
  expect(limitMs(5_000)).toBe(isLongRun ? 3_600_000 : 5_000);
  // For test/cli/test-script.test.ts, which runs this file through the script.
  console.log(`counts are ${taken === 100 ? 'long' : 'usual'}`);
});
