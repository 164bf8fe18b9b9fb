/**
 * Breaks the code on purpose and counts which breaks the tests notice: `npm test -- --mutants [N] [--seed N] [part of a path …]`.
 *
 * The same seed on the same code draws the same mutants. Exits with 1 below a score of 97 %.
 */
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { allCandidates, type Candidate, draw, isEntryOf, staleEntries, textOf } from './candidates.ts';
import { costOf, type MeasuredJudge, measure } from './coverage.ts';
import { equivalents } from './equivalents.ts';
import { applied, linesOf } from './mutants.ts';
import { type Probes, placeProbes } from './probes.ts';
import { createSandbox, type Sandbox } from './sandbox.ts';
import { scopes } from './scopes.ts';
import { type Judge, judgesOf, readImporters, readSeconds } from './selection.ts';

const root = resolve(import.meta.dir, '../..');
const leastScore = 97;
const usualCount = 200;
const usualSeed = 20_261_122;

type Verdict = 'killed' | 'survived' | 'equivalent';

const say = (words: string): void => void process.stdout.write(`${words}\n`);

function readArguments(args: readonly string[]) {
  const seedAt = args.indexOf('--seed');
  const given = args.filter((arg, n) => !arg.startsWith('--') && (seedAt < 0 || n !== seedAt + 1));
  const count = Number(given.find((arg) => /^\d+$/.test(arg)) ?? usualCount);
  const seed = Number((seedAt < 0 ? null : args[seedAt + 1]) ?? process.env.MAYFLY_SEED ?? usualSeed);
  return { count, seed, parts: given.filter((arg) => !/^\d+$/.test(arg)) };
}

/** For a machine that is busy with other things. */
const stallMsOf = (slowestMs: number): number => 4_000 + 4 * slowestMs;

/** Of one file, for one mutant. */
const mostTests = 60;

/** One that breaks code, and one with probes in it. */
interface Bench {
  readonly broken: Sandbox;
  readonly measuring: Sandbox;
  readonly probes: Probes;
}

function createBench(drawn: readonly Candidate[]): Bench & Disposable {
  const [broken, measuring] = [createSandbox(root), createSandbox(root)];
  const probes = placeProbes(drawn, textOf, measuring.folder);
  for (const [path, text] of probes.texts) measuring.write(path, text);
  return {
    broken,
    measuring,
    probes,
    [Symbol.dispose]() {
      broken[Symbol.dispose]();
      measuring[Symbol.dispose]();
    },
  };
}

/** Each file of tests is measured once, when a mutant first asks for it. */
const measured = new Map<string, Promise<MeasuredJudge>>();
const known = new Map<string, MeasuredJudge>();

async function measuredBy({ measuring, probes }: Bench, test: string): Promise<MeasuredJudge> {
  const judge = measured.get(test) ?? measure(measuring, test, probes);
  measured.set(test, judge);
  known.set(test, await judge);
  return judge;
}

const onlyMarking = ({ tests, ...judge }: MeasuredJudge, wanted: readonly number[]): MeasuredJudge => ({
  ...judge,
  tests: tests.filter(({ marks }) => wanted.some((mark) => marks.has(mark))),
});

/** Of many tests that run the same code, an even spread. */
function spread({ tests, ...judge }: MeasuredJudge): MeasuredJudge {
  const step = Math.max(1, tests.length / mostTests);
  const roundOf = (n: number) => Math.floor(n / step);
  return { ...judge, tests: tests.filter((_, n) => roundOf(n) !== roundOf(n - 1)) };
}

/** Those of the judges' tests that execute a mutant, the closest and cheapest first. */
async function* judgesFor(bench: Bench, judges: readonly Judge[], marks: readonly number[]) {
  const rankOf = ({ test, distance, seconds }: Judge) => {
    const judge = known.get(test);
    return distance + (judge === undefined ? seconds : costOf(onlyMarking(judge, marks)) / 1_000);
  };
  const left = [...judges];
  while (left.length > 0) {
    const [next] = left.sort((a, b) => rankOf(b) - rankOf(a)).splice(-1);
    if (next !== undefined) yield onlyMarking(await measuredBy(bench, next.test), marks);
  }
}

async function judge(bench: Bench, candidate: Candidate, judges: readonly Judge[]): Promise<Verdict> {
  const { path, mutant } = candidate;
  const { broken } = bench;
  const original = textOf(path);
  for (const marks of bench.probes.marksOf(candidate)) {
    let isExecuted = false;
    for await (const executing of judgesFor(bench, judges, marks)) {
      const { file, startMs, tests } = spread(executing);
      if (tests.length === 0) continue;
      isExecuted = true;
      broken.write(path, applied(original, mutant));
      const slowestMs = Math.max(startMs, ...tests.map(({ ms }) => ms));
      const names = tests.map(({ name }) => name);
      const { verdict } = await broken.runTests(file, { stallMs: stallMsOf(slowestMs), names });
      broken.write(path, original);
      if (verdict !== 'passed') return 'killed';
    }
    if (isExecuted) return 'survived';
  }
  return 'survived';
}

function show({ path, mutant }: Candidate): string {
  const { number, before, after } = linesOf(textOf(path), mutant);
  return `${path}:${number} (${mutant.kind})\n    - ${before}\n    + ${after}`;
}

const scoreOf = (killed: number, survived: number): number => (100 * killed) / Math.max(1, killed + survived);

interface Result {
  readonly candidate: Candidate;
  readonly verdict: Verdict;
  readonly seconds: number;
}

function report(results: readonly Result[]): number {
  const row = (name: string, among: readonly Result[]) => {
    const count = (verdict: Verdict) => among.filter((each) => each.verdict === verdict).length;
    const [killed, survived, equivalent] = [count('killed'), count('survived'), count('equivalent')];
    const score = scoreOf(killed, survived);
    const seconds = among.reduce((sum, each) => sum + each.seconds, 0) / Math.max(1, among.length);
    const cells = [killed, survived, equivalent, `${score.toFixed(1)} %`, seconds.toFixed(1)];
    say([name.padEnd(16), ...cells.map((cell) => String(cell).padStart(11))].join(''));
    return score;
  };
  say(
    [
      '\nscope'.padEnd(17),
      ...['killed', 'survived', 'equivalent', 'score', 'seconds'].map((cell) => cell.padStart(11)),
    ].join(''),
  );
  for (const { name } of scopes)
    row(
      name,
      results.filter(({ candidate }) => candidate.scope.name === name),
    );
  return row('all', results);
}

async function main(): Promise<number> {
  const { count, seed, parts } = readArguments(process.argv.slice(2));
  const every = await allCandidates();
  for (const stale of staleEntries(every)) say(`No mutant makes this any more (equivalents.json): ${stale}`);
  const among = every.filter(({ path }) => parts.length === 0 || parts.some((part) => path.includes(part)));
  const drawn = draw(among, count, seed);
  say(`${drawn.length} of ${among.length} mutants, drawn with MAYFLY_SEED=${seed}`);
  const benches = Array.from({ length: availableParallelism() }, () => createBench(drawn));
  const end = () => {
    for (const bench of benches) bench[Symbol.dispose]();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => {
      end();
      process.exit(1);
    });
  const [importers, secondsOf] = [readImporters(root), readSeconds(root)];
  const beganMs = performance.now();

  const results: Result[] = [];
  const waiting = [...drawn];
  const work = async (bench: Bench) => {
    for (let candidate = waiting.shift(); candidate !== undefined; candidate = waiting.shift()) {
      const isKnown = equivalents.some(isEntryOf(candidate));
      const judges = judgesOf(candidate, importers, secondsOf, root);
      const beganMs = performance.now();
      const verdict = isKnown ? 'equivalent' : await judge(bench, candidate, judges);
      const seconds = (performance.now() - beganMs) / 1_000;
      results.push({ candidate, verdict, seconds });
      if (verdict === 'survived') say(`survived: ${show(candidate)}`);
      if (results.length % 10 === 0) say(`${results.length} of ${drawn.length}`);
    }
  };
  await Promise.all(benches.map(work));
  end();
  say(`in ${((performance.now() - beganMs) / 60_000).toFixed(1)} minutes`);
  return report(results);
}

process.exit((await main()) >= leastScore ? 0 : 1);
