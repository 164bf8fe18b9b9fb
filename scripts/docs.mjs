/** `npm run docs`: regenerates the generated documents. Runs on Node 20 with nothing installed. */
import { install } from './install.mjs';
import { bunStep, runStep } from './run-step.mjs';

const limitMs = 120_000;
const generators = [
  'scripts/generate-configuration.ts',
  'scripts/generate-examples.ts',
  'scripts/generate-openapi.ts',
];

if (!install()) process.exit(1);

let failed = 0;
for (const path of generators) {
  if (!(await runStep(bunStep(path, [path], limitMs)))) failed += 1;
}
process.exit(failed === 0 ? 0 : 1);
