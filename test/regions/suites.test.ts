/**
 * The tests of both API versions again, with the router in front of every app they create.
 *
 * The same tests in the same files; exceptions are listed here with their reason. A router that misroutes keys fails
 * them.
 */
import { expect, test } from 'bun:test';
import { runProduct } from '../support/started-server.ts';

/**
 * Tests of the host that a request arrives on: a share domain points to its owner's region and never to the router,
 * which calls every region under that region's own host.
 */
const leftOut = ['the request arrives on', 'a request that arrives on', 'owner shares there alone'];
const pattern = `^(?!.*(${leftOut.join('|')}))`;

async function runSuites(front: string, paths: readonly string[]) {
  const args = ['test', ...paths, '--timeout=60000', '-t', pattern];
  const { code, stdout, stderr } = await runProduct(args, { MAYFLY_TEST_FRONT: front }, 120_000);
  const output = stdout + stderr;
  const count = (word: string) => Number(new RegExp(`^\\s*(\\d+) ${word}$`, 'm').exec(output)?.[1] ?? 0);
  const failed = [...output.matchAll(/^\(fail\) (.*)$/gm)].map(([, name]) => name);
  return { code, passed: count('pass'), failed };
}

test('every promise and answer of v1 and v2 holds through the router', async () => {
  const { code, passed, failed } = await runSuites('router', ['test/v1', 'test/v2']);
  console.log(`through the router: ${passed} tests of v1 and v2`);
  expect(failed).toEqual([]);
  expect(code).toBe(0);
  // Fewer would mean that the pattern excludes too much.
  expect(passed).toBeGreaterThan(650);
}, 180_000);

test('self-test: a router that leads keys to the wrong region fails them', async () => {
  const { code, failed } = await runSuites('astray', ['test/v1/promises.test.ts']);
  expect(code).not.toBe(0);
  expect(failed.length).toBeGreaterThan(3);
}, 60_000);
