/** What `npm run bench -- --against` concludes and how it refuses; its figures are not tested. */
import { describe, expect, it } from 'bun:test';
import { judgeRatios, ratiosOf } from '../../bench/against.ts';
import { repositoryRoot } from '../support/started-server.ts';

const verdictOf = (own: number[], other: number[]) => judgeRatios(ratiosOf({ own, other }));

describe('the verdict', () => {
  it('calls a checkout slower when the rounds agree on it', () => {
    expect(verdictOf([11, 11.2, 10.8, 11.1], [10, 10, 10, 10])).toBe('slower');
  });

  it('calls a checkout faster when the rounds agree on it', () => {
    expect(verdictOf([9, 9.2, 8.8, 9.1], [10, 10, 10, 10])).toBe('faster');
  });

  it('calls checkouts level when the rounds disagree, however far the medians are apart', () => {
    expect(verdictOf([8, 9, 12, 13], [10, 10, 10, 10])).toBe('level');
  });

  it('calls checkouts level when the difference is within the noise', () => {
    expect(verdictOf([10.2, 10.2, 10.2, 10.2], [10, 10, 10, 10])).toBe('level');
  });

  it('pairs the values of a round, so that a slow round does not count', () => {
    expect(verdictOf([100, 10, 10, 10], [100, 10, 10, 10])).toBe('level');
    expect(ratiosOf({ own: [30, 10], other: [20, 10] })).toEqual([1, 1.25, 1.5]);
  });
});

async function runBench(...args: string[]) {
  const child = Bun.spawn([process.execPath, 'bench/main.ts', ...args], {
    cwd: repositoryRoot,
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [code, stdout, stderr] = await Promise.all([
    child.exited,
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code, stdout, stderr };
}

describe('the command', () => {
  it('names a revision that does not exist', async () => {
    const { code, stderr } = await runBench('--against', 'no-such-revision');
    expect(code).toBe(2);
    expect(stderr).toContain('--against no-such-revision: no such revision here');
  });

  it('refuses an unknown option and shows what is allowed', async () => {
    const { code, stderr } = await runBench('--agianst', 'main');
    expect(code).toBe(2);
    expect(stderr).toContain('--agianst');
    expect(stderr).toContain('--against REVISION');
  });

  it('measures Yopass only with its database', async () => {
    const { code, stderr } = await runBench('--peers', '--yopass', '/nowhere/yopass-server');
    expect(code).toBe(2);
    expect(stderr).toContain('give both paths');
  });

  it('shows its options', async () => {
    const { code, stdout } = await runBench('--help');
    expect(code).toBe(0);
    expect(stdout).toContain('--quick');
  });
});
