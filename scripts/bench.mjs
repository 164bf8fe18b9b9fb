/** Starts `bench/main.ts` with everything installed; `npm run bench -- --help`. Runs on Node 20 with nothing installed. */
import { install } from './install.mjs';
import { bunStep, runStep } from './run-step.mjs';

/** The long run makes a million requests. */
const limitMs = 120 * 60_000;

if (!install()) process.exit(1);

const isWell = await runStep(bunStep('benchmarks', ['bench/main.ts', ...process.argv.slice(2)], limitMs));
process.exit(isWell ? 0 : 1);
