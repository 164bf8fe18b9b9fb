/**
 * `npm run build`: Mayfly and its runtime as one executable, `dist/mayfly` or the given path. Runs on Node 20 with nothing installed.
 *
 * The threads are further entries in the same folder, because the executable looks for a thread's code next to its own.
 * Bytecode, and chunks for what is loaded at first use, more than halve its start.
 */

import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { install, root } from './install.mjs';
import { bunStep, runStep } from './run-step.mjs';

const limitMs = 120_000;
const entries = ['scripts/entry.ts', 'src/store/sqlite/writer.ts', 'src/store/sqlite/copier.ts'];
const outfile = process.argv[2] ?? join(root, 'dist', 'mayfly');

if (!install()) process.exit(1);

mkdirSync(dirname(outfile), { recursive: true });
// The bundler also leaves source maps beside the executable, which holds them.
const folder = mkdtempSync(`${outfile}-`);
const made = join(folder, 'mayfly');
const flags = [
  '--compile',
  '--bytecode',
  // The only format with chunks; unlike CommonJS it also keeps the address by which the thread's code is found.
  '--format=esm',
  '--splitting',
  '--minify-syntax',
  '--minify-whitespace',
  // A fault in the log still names the line of a source.
  '--sourcemap=inline',
  // Settings come from the environment alone, not from files in the folder of the caller.
  '--no-compile-autoload-dotenv',
  '--no-compile-autoload-bunfig',
  '--entry-naming',
  '[name].[ext]',
];
const step = bunStep(
  `one executable: ${outfile}`,
  ['build', ...flags, ...entries, '--outfile', made],
  limitMs,
);
const isWell = await runStep({ ...step, env: { NODE_ENV: 'production' } });
if (isWell) renameSync(made, outfile);
rmSync(folder, { recursive: true });
process.exit(isWell ? 0 : 1);
