/** `npm run pictures`: starts `generate-pictures.ts` with everything installed; needs Chromium and openssl. Runs on Node 20 with nothing installed. */
import { install } from './install.mjs';
import { bunStep, runStep } from './run-step.mjs';

const limitMs = 15 * 60_000;

if (!install()) process.exit(1);

const args = ['scripts/generate-pictures.ts', ...process.argv.slice(2)];
process.exit((await runStep(bunStep('pictures', args, limitMs))) ? 0 : 1);
