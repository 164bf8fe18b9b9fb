/** `npm run check`, the quick loop: format, lint, types and the unit tests next to their files. Runs on Node 20 with nothing installed. */
import { install } from './install.mjs';
import { bunStep, checkSteps, runStep } from './run-step.mjs';

const limitMs = 300_000;

if (!install()) process.exit(1);

let failed = 0;
for (const step of [
  ...checkSteps(limitMs),
  bunStep('unit tests', ['test', '--timeout=60000', './src', './sdk'], limitMs),
]) {
  if (!(await runStep(step))) failed += 1;
}
process.exit(failed === 0 ? 0 : 1);
