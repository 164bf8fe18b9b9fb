/** What each test of a judge executes and takes, measured on unchanged code with probes. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hooksFile, marksFile, type Probes, testsFile } from './probes.ts';
import type { Sandbox } from './sandbox.ts';

export interface MeasuredTest {
  /** As the runner's option `-t` matches it. */
  readonly name: string;
  readonly ms: number;
  /** What it executes, and what its file does outside of tests. */
  readonly marks: ReadonlySet<number>;
}

/** A file of tests. Those that fail on unchanged code are no judges. */
export interface MeasuredJudge {
  readonly file: string;
  /** Until its first test began. */
  readonly startMs: number;
  readonly tests: readonly MeasuredTest[];
}

const patienceMs = 120_000;

export async function measure(sandbox: Sandbox, file: string, { count }: Probes): Promise<MeasuredJudge> {
  mkdirSync(join(sandbox.folder, '.probes'), { recursive: true });
  writeFileSync(join(sandbox.folder, marksFile), new Uint8Array(count));
  writeFileSync(join(sandbox.folder, testsFile), '');
  const { said, ms } = await sandbox.runTests(file, { stallMs: patienceMs, preload: `./${hooksFile}` });
  const ended = [...said.matchAll(/^\((pass|fail)\) (.*?)(?: \[([\d.]+)(m?s)\])?$/gm)].map(
    ([, verdict, name = '', time = 0, unit]) => ({
      isSound: verdict === 'pass',
      name: name.replaceAll(' > ', ' '),
      ms: Number(time) * (unit === 's' ? 1_000 : 1),
    }),
  );
  const noted: { before: number[]; within: number[] }[] = readFileSync(
    join(sandbox.folder, testsFile),
    'utf8',
  )
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
  if (noted.length !== ended.length)
    process.stdout.write(`${file}: ${ended.length} tests ended, and ${noted.length} were noted\n`);
  const outside = noted.flatMap(({ before }) => before);
  const tests = ended.map(({ isSound, name, ms }, n) => ({
    isSound,
    name,
    ms,
    marks: new Set([...outside, ...(noted[n]?.within ?? [])]),
  }));
  for (const { name } of tests.filter(({ isSound }) => !isSound))
    process.stdout.write(`Not a judge, because it fails without a mutant: ${file} ${name}\n`);
  return {
    file,
    startMs: Math.max(0, ms - tests.reduce((sum, test) => sum + test.ms, 0)),
    tests: tests.filter(({ isSound }) => isSound),
  };
}

export const costOf = ({ startMs, tests }: MeasuredJudge): number =>
  tests.reduce((sum, { ms }) => sum + ms, startMs);
