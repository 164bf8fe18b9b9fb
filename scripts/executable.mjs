/**
 * Mayfly and its runtime as one executable, for this machine or another.
 *
 * The threads are further entries in the same folder, because the executable looks for a thread's code next to its own.
 * Bytecode, and chunks for what is loaded at first use, more than halve its start. The same sources give the same bytes, in
 * whatever folder they are (docs/decisions/032-the-same-bytes.md).
 */
import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { installFor, root } from './install.mjs';
import { bunStep, runStep } from './run-step.mjs';

const limitMs = 120_000;
const entries = ['scripts/entry.ts', 'src/store/sqlite/writer.ts', 'src/store/sqlite/copier.ts'];

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
  // The bundler would write the folder of the build in its place.
  '--define',
  '__dirname="/mayfly"',
  '--entry-naming',
  '[name].[ext]',
];

/** From the sources and packages in `cwd`. @returns whether it was made */
async function compile(name, outfile, cwd, more) {
  mkdirSync(dirname(outfile), { recursive: true });
  // The bundler also leaves source maps beside the executable, which holds them.
  const folder = mkdtempSync(`${outfile}-`);
  const made = join(folder, 'mayfly.exe');
  const step = bunStep(name, ['build', ...flags, ...more, ...entries, '--outfile', made], limitMs);
  const isWell = await runStep({ ...step, cwd, env: { NODE_ENV: 'production' } });
  if (isWell) renameSync(made, outfile);
  rmSync(folder, { recursive: true });
  return isWell;
}

/** @returns whether it was made */
export function buildHere(outfile) {
  return compile(`one executable: ${outfile}`, outfile, root, []);
}

const inputs = [
  'src',
  'sdk',
  'scripts',
  'package.json',
  'package-lock.json',
  '.npmrc',
  'tsconfig.json',
  'bunfig.toml',
];

/**
 * From a copy of the sources beside the target's own packages, which npm checks against package-lock.json. Nothing else is
 * downloaded. @returns whether it was made
 */
export async function buildFor({ name, runtime, npm, suffix }, outfile) {
  const folder = mkdtempSync(join(tmpdir(), `mayfly-${name}-`));
  try {
    for (const path of inputs) cpSync(join(root, path), join(folder, path), { recursive: true });
    process.stdout.write(`\n== packages for ${name}\n`);
    if (!installFor(folder, npm)) return false;
    const program = join(folder, 'node_modules', '@oven', runtime, 'bin', `bun${suffix}`);
    const more = [`--target=${runtime}`, `--compile-executable-path=${program}`];
    return await compile(`an executable for ${name}: ${outfile}`, outfile, folder, more);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
