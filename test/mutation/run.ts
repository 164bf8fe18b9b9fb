/**
 * Breaks the code on purpose and counts which breaks the tests notice: `npm test -- --mutants [N] [--seed N] [part of a path …]`.
 *
 * The same seed on the same code draws the same mutants. Exits with 1 below a score of 97 %.
 */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { API } from 'typescript/unstable/async';
import { createDice } from '../support/run-seed.ts';
import { type Equivalent, equivalents } from './equivalents.ts';
import { applied, linesOf, type Mutant, mutantsOf } from './mutants.ts';
import { createSandbox, type Sandbox } from './sandbox.ts';
import { scopes } from './scopes.ts';
import {
  judgesOf,
  listJudges,
  readImporters,
  type ScopedFile,
  scopedFiles,
  type TestTimes,
} from './selection.ts';

const root = resolve(import.meta.dir, '../..');
const leastScore = 97;
const usualCount = 200;
const usualSeed = 20_261_122;
/** Total time of the judges that run before the rest: a mutant that loops is caught right after these. */
const firstSeconds = 3;

type Verdict = 'killed' | 'survived' | 'equivalent';

interface Candidate extends ScopedFile {
  readonly mutant: Mutant;
}

const say = (words: string): void => void process.stdout.write(`${words}\n`);

function readArguments(args: readonly string[]) {
  const seedAt = args.indexOf('--seed');
  const given = args.filter((arg, n) => !arg.startsWith('--') && (seedAt < 0 || n !== seedAt + 1));
  const count = Number(given.find((arg) => /^\d+$/.test(arg)) ?? usualCount);
  const seed = Number((seedAt < 0 ? null : args[seedAt + 1]) ?? process.env.MAYFLY_SEED ?? usualSeed);
  return { count, seed, parts: given.filter((arg) => !/^\d+$/.test(arg)) };
}

/** Source texts as first read: the checkout may change during the run. */
const texts = new Map<string, string>();

function textOf(path: string): string {
  const text = texts.get(path) ?? readFileSync(join(root, path), 'utf8');
  texts.set(path, text);
  return text;
}

async function allCandidates(files: readonly ScopedFile[]): Promise<Candidate[]> {
  const api = new API({ cwd: root });
  try {
    const snapshot = await api.updateSnapshot({ openProjects: [join(root, 'tsconfig.json')] });
    const program = snapshot.getProjects()[0]?.program;
    const candidates: Candidate[] = [];
    for (const file of files) {
      const source = await program?.getSourceFile(join(root, file.path));
      if (source?.text !== textOf(file.path)) throw new Error(`${file.path} is not part of the project`);
      for (const mutant of mutantsOf(file.path, source)) candidates.push({ ...file, mutant });
    }
    return candidates;
  } finally {
    await api.close();
  }
}

function loads({ path, mutant }: Candidate): boolean {
  try {
    new Bun.Transpiler({ loader: 'ts' }).transformSync(applied(textOf(path), mutant));
    return true;
  } catch {
    return false;
  }
}

/** Draws the same number from each scope, as far as it has that many. */
function draw(candidates: readonly Candidate[], count: number, seed: number): Candidate[] {
  const dice = createDice(seed);
  const drawn: Candidate[] = [];
  const left = scopes.map(({ name }) => candidates.filter(({ scope }) => scope.name === name));
  while (drawn.length < count && left.some((each) => each.length > 0)) {
    for (const each of left) {
      const [candidate] = each.splice(dice(Math.max(1, each.length)), 1);
      if (candidate !== undefined && drawn.length < count && loads(candidate)) drawn.push(candidate);
    }
  }
  return drawn;
}

const isEntryOf =
  ({ path, mutant }: Candidate) =>
  (entry: Equivalent): boolean => {
    if (entry.path !== path) return false;
    const { before, after } = linesOf(textOf(path), mutant);
    return entry.before === before && entry.after.includes(after);
  };

/**
 * Runs every test on unchanged code. A test that fails there cannot judge anything; it gets a second try, in case the
 * machine was just busy.
 */
async function timeTests(tests: readonly string[], sandboxes: readonly Sandbox[]): Promise<TestTimes> {
  const times = new Map<string, number>();
  const time = async (sandbox: Sandbox, some: readonly string[]) => {
    const report = join(sandbox.folder, 'report.xml');
    await sandbox.runTests(some, 30 * 60_000, ['--reporter=junit', `--reporter-outfile=${report}`]);
    for (const [, attributes = ''] of readFileSync(report, 'utf8').matchAll(/<testsuite ([^>]*)>/g)) {
      const value = (name: string) => new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1] ?? '';
      const isWholeFile = value('name') === value('file');
      if (isWholeFile && value('failures') === '0') times.set(value('file'), Number(value('time')));
    }
  };
  const half = (n: number) => tests.filter((_test, at) => at % sandboxes.length === n);
  await Promise.all(sandboxes.map((sandbox, n) => time(sandbox, half(n))));
  const [sandbox] = sandboxes;
  for (const test of tests.filter((each) => !times.has(each)))
    if (sandbox !== undefined) await time(sandbox, [test]);
  for (const test of tests.filter((each) => !times.has(each)))
    say(`Not a judge, because it fails without a mutant: ${test}`);
  return times;
}

async function judge(sandbox: Sandbox, candidate: Candidate, judges: readonly string[], times: TestTimes) {
  const { path, mutant } = candidate;
  const original = textOf(path);
  sandbox.write(path, applied(original, mutant));
  const secondsOf = (tests: readonly string[]) =>
    tests.reduce((sum, test) => sum + (times.get(test) ?? 0), 0);
  let first = 1;
  while (first < judges.length && secondsOf(judges.slice(0, first + 1)) <= firstSeconds) first += 1;
  try {
    for (const tests of [judges.slice(0, first), judges.slice(first)]) {
      const limitMs = 15_000 + 4_000 * secondsOf(tests);
      if (tests.length > 0 && (await sandbox.runTests(tests, limitMs)) !== 'passed') return 'killed';
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

function report(results: readonly { readonly candidate: Candidate; readonly verdict: Verdict }[]): number {
  const row = (name: string, among: typeof results) => {
    const count = (verdict: Verdict) => among.filter((each) => each.verdict === verdict).length;
    const [killed, survived, equivalent] = [count('killed'), count('survived'), count('equivalent')];
    const score = scoreOf(killed, survived);
    const cells = [killed, survived, equivalent, `${score.toFixed(1)} %`];
    say([name.padEnd(16), ...cells.map((cell) => String(cell).padStart(11))].join(''));
    return score;
  };
  say(
    [
      '\nscope'.padEnd(17),
      ...['killed', 'survived', 'equivalent', 'score'].map((cell) => cell.padStart(11)),
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
  const every = await allCandidates(scopedFiles(root));
  for (const entry of equivalents)
    for (const after of entry.after)
      if (!every.some((each) => isEntryOf(each)({ ...entry, after: [after] })))
        say(`No mutant makes this of ${entry.path} any more (equivalents.json): ${after}`);
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
  const times = await timeTests(listJudges(root), sandboxes);
  const importers = readImporters(root);
  say(`${times.size} files of tests judge them`);

  const results: { candidate: Candidate; verdict: Verdict }[] = [];
  const waiting = [...drawn];
  const work = async (sandbox: Sandbox) => {
    for (let candidate = waiting.shift(); candidate !== undefined; candidate = waiting.shift()) {
      const judges = judgesOf(candidate, importers, times, root);
      const isKnown = equivalents.some(isEntryOf(candidate));
      const verdict = isKnown ? 'equivalent' : await judge(sandbox, candidate, judges, times);
      results.push({ candidate, verdict });
      if (verdict === 'survived') say(`survived: ${show(candidate)}`);
      if (results.length % 10 === 0) say(`${results.length} of ${drawn.length}`);
    }
  };
  await Promise.all(sandboxes.map(work));
  return report(results);
}

process.exit((await main()) >= leastScore ? 0 : 1);
