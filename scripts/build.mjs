/**
 * `npm run build`: Mayfly and its runtime as one executable, `dist/mayfly` or the given path. Runs on Node 20 with nothing installed.
 *
 * The writer thread is a second entry in the same folder, because the executable looks for the thread's code next to its own.
 */

import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { install, root } from './install.mjs';
import { bunStep, runStep } from './run-step.mjs';

const limitMs = 120_000;
const entries = ['src/main.ts', 'src/store/sqlite/writer.ts'];
const outfile = process.argv[2] ?? join(root, 'dist', 'mayfly');

if (!install()) process.exit(1);

mkdirSync(dirname(outfile), { recursive: true });
const flags = ['--compile', '--minify-syntax', '--minify-whitespace', '--entry-naming', '[name].[ext]'];
const step = bunStep(
  `one executable: ${outfile}`,
  ['build', ...flags, ...entries, '--outfile', outfile],
  limitMs,
);
process.exit((await runStep(step)) ? 0 : 1);
