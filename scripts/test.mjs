/** `npm test`. Runs on Node 20 with nothing installed; its last line counts what passed and what failed. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { install, root } from './install.mjs';
import { bunStep, checkSteps, runStep } from './run-step.mjs';
import { listTests, prepareTools } from './system-tools.mjs';

const usage = `npm test                      installs what is missing, then checks format, lint, types and every test
npm test -- PART ...          only the tests whose path contains one of these parts, such as faults/kill or test/web

  --long              the same tests with larger counts: hundreds of kills, thousands of races, a million requests
  --strict            a test that cannot run here counts as failed
  --mutants [N] [--seed N] [PART ...]
                      breaks the code N times instead (200) and names what no test notices
  --help              this text

MAYFLY_SEED=N npm test ...    repeats a run by the seed that it printed
`;

/** Outside the gate. */
const mutantsLimitMs = 4 * 60 * 60_000;
const args = process.argv.slice(2);
const isLong = args.includes('--long');
const isStrict = args.includes('--strict');
const wanted = args.filter((arg) => !arg.startsWith('--'));
const unknown = args.filter((arg) => arg.startsWith('--') && !['--long', '--strict'].includes(arg));

if (args.includes('--help')) {
  process.stdout.write(usage);
  process.exit(0);
}
if (unknown.length > 0 && !args.includes('--mutants')) {
  process.stderr.write(`There is no option ${unknown.join(', ')}.\n\n${usage}`);
  process.exit(2);
}

/** Long enough for a slow machine, short enough to notice that something hangs. */
const limitMs = (isLong ? 90 : 45) * 60_000;
const startMs = Date.now();
const leftMs = () => Math.max(1_000, limitMs - (Date.now() - startMs));

/** The totals that Bun writes into the root element of its JUnit report; `null` when there is no report. */
function readTotals(path) {
  try {
    const [, attributes = ''] = /<testsuites ([^>]*)>/.exec(readFileSync(path, 'utf8')) ?? [];
    const number = (name) => Number(new RegExp(`\\b${name}="(\\d+)"`).exec(attributes)?.[1] ?? Number.NaN);
    const totals = { tests: number('tests'), failures: number('failures'), skipped: number('skipped') };
    return Number.isNaN(totals.tests) ? null : totals;
  } catch {
    return null;
  }
}

async function runTests(tests) {
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-report-'));
  const report = join(folder, 'report.xml');
  const paths = tests.map((test) => `./${relative(root, test)}`);
  // Two more than there are cores, because many tests wait: with one more, a quarter of two cores was idle. The slowest files begin
  // first: `bun test --parallel --timings=test/timings.json --update-timings` measures them anew.
  const workers = [`--parallel=${availableParallelism() + 2}`, '--timings=test/timings.json'];
  const flags = ['test', '--timeout=60000', ...workers, '--reporter=junit', `--reporter-outfile=${report}`];
  const step = bunStep(`${tests.length} files of tests`, [...flags, ...paths], leftMs());
  const isWell = await runStep({ ...step, env: isLong ? { MAYFLY_LONG: '1' } : {} });
  const totals = readTotals(report);
  rmSync(folder, { recursive: true });
  if (totals === null) return { passed: 0, failed: 1 };
  const { tests: all, failures, skipped } = totals;
  // A run can fail without a failing test: a file that does not load, an error between tests.
  const failed = Math.max(failures, isWell ? 0 : 1);
  return { passed: Math.max(0, all - failures - skipped), failed };
}

if (!install()) {
  process.stdout.write('0 passed, 1 failed\n');
  process.exit(1);
}

if (args.includes('--mutants')) {
  prepareTools(listTests(), false);
  const run = ['test/mutation/run.ts', ...args.filter((arg) => arg !== '--mutants')];
  process.exit((await runStep(bunStep('mutants', run, mutantsLimitMs))) ? 0 : 1);
}

const tests = listTests().filter((test) => wanted.length === 0 || wanted.some((part) => test.includes(part)));
const { runnable, skipped } = prepareTools(tests, isLong);
let passed = 0;
let failed = 0;
for (const step of wanted.length === 0 ? checkSteps(leftMs()) : []) {
  if (await runStep(step)) passed += 1;
  else failed += 1;
}
if (runnable.length > 0) {
  const result = await runTests(runnable);
  passed += result.passed;
  failed += result.failed;
}
for (const { test, tool, reason } of skipped) {
  process.stdout.write(`Not run: ${relative(root, test)} needs ${tool}; ${reason}.\n`);
}
if (isStrict) failed += skipped.length;
process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);
