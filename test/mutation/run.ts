/**
 * Breaks the code on purpose and counts which breaks the tests notice: `npm test -- --mutants [N] [--seed N] [part of a path …]`.
 *
 * The same seed on the same code draws the same mutants. Exits with 1 below a score of 97 %.
 */
import { resolve } from 'node:path';
import { allCandidates, type Candidate, draw, isEntryOf, staleEntries, textOf } from './candidates.ts';
import { equivalents } from './equivalents.ts';
import { applied, linesOf } from './mutants.ts';
import { createSandbox, type Sandbox } from './sandbox.ts';
import { scopes } from './scopes.ts';
import { asPattern, type JudgeGroup, judgesOf, readImporters, readSeconds } from './selection.ts';

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

/** Files of tests that failed once, and whether they pass on unchanged code. */
const soundness = new Map<string, Promise<boolean>>();
/** Those that do not: they cannot judge. */
const unsound = new Set<string>();

/** Asked with the one test of it that failed, and then with all: the machine may just have been busy, or what failed was no test. */
function isSound(sandbox: Sandbox, { file, name }: { file: string; name: string }): Promise<boolean> {
  const passes = async (names?: string) =>
    (await sandbox.runTests([file], patienceMs, names)).verdict === 'passed';
  const known = soundness.get(file) ?? passes(asPattern(name)).then((isPassed) => isPassed || passes());
  soundness.set(file, known);
  return known;
}

const patienceMs = 60_000;
const limitMsOf = (seconds: number): number => 15_000 + 4_000 * seconds;

async function judge(sandbox: Sandbox, { path, mutant }: Candidate, groups: readonly JudgeGroup[]) {
  const original = textOf(path);
  try {
    for (const group of groups) {
      let files = group.files.filter((file) => !unsound.has(file));
      while (files.length > 0) {
        sandbox.write(path, applied(original, mutant));
        const { verdict, failed } = await sandbox.runTests(files, limitMsOf(group.seconds), group.names);
        if (verdict === 'passed') break;
        sandbox.write(path, original);
        if (failed === null || (await isSound(sandbox, failed))) return 'killed';
        say(`Not a judge, because it fails without a mutant: ${failed.file}`);
        unsound.add(failed.file);
        files = files.filter((file) => file !== failed.file);
      }
    }
    return 'survived';
  } finally {
    sandbox.write(path, original);
  }
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
  using one = createSandbox(root);
  using two = createSandbox(root);
  const sandboxes = [one, two];
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => {
      for (const sandbox of sandboxes) sandbox[Symbol.dispose]();
      process.exit(1);
    });
  const [importers, secondsOf] = [readImporters(root), readSeconds(root)];
  const beganMs = performance.now();

  const results: Result[] = [];
  const waiting = [...drawn];
  const work = async (sandbox: Sandbox) => {
    for (let candidate = waiting.shift(); candidate !== undefined; candidate = waiting.shift()) {
      const isKnown = equivalents.some(isEntryOf(candidate));
      const judges = judgesOf(candidate, importers, secondsOf, root);
      const beganMs = performance.now();
      const verdict = isKnown ? 'equivalent' : await judge(sandbox, candidate, judges);
      const seconds = (performance.now() - beganMs) / 1_000;
      results.push({ candidate, verdict, seconds });
      if (verdict === 'survived') say(`survived: ${show(candidate)}`);
      if (results.length % 10 === 0) say(`${results.length} of ${drawn.length}`);
    }
  };
  await Promise.all(sandboxes.map(work));
  say(`in ${((performance.now() - beganMs) / 60_000).toFixed(1)} minutes`);
  return report(results);
}

process.exit((await main()) >= leastScore ? 0 : 1);
