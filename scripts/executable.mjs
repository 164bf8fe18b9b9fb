/**
 * Mayfly and its runtime as one executable, for this machine or another.
 *
 * The threads are further entries in the same folder, because the executable looks for a thread's code next to its own.
 * Bytecode, and chunks for what is loaded at first use, more than halve its start. The same sources give the same bytes, in
 * whatever folder they are (docs/decisions/032-the-same-bytes.md).
 */
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { installFor, root } from './install.mjs';
import { bunStep, runStep } from './run-step.mjs';
import { targets } from './targets.mjs';

const limitMs = 120_000;
export const entries = ['scripts/entry.ts', 'src/store/sqlite/disk-thread.ts', 'src/store/sqlite/copier.ts'];

/** What every form of the program is bundled with. */
export const portableFlags = [
  // The only format with chunks; unlike CommonJS it also keeps the address by which the thread's code is found.
  '--format=esm',
  '--splitting',
  // The bundler would write the folder of the build in its place.
  '--define',
  '__dirname="/mayfly"',
  '--entry-naming',
  '[name].[ext]',
];

const flags = [
  '--compile',
  '--asset-naming',
  '[name].[ext]',
  '--bytecode',
  ...portableFlags,
  '--minify-syntax',
  '--minify-whitespace',
  // A fault in the log still names the line of a source.
  '--sourcemap=inline',
  // Settings come from the environment alone, not from files in the folder of the caller.
  '--no-compile-autoload-dotenv',
  '--no-compile-autoload-bunfig',
];

/**
 * Settings of the bundler by which every name of the native part leads to the target's own. Its package looks for signs of musl
 * at each start, and would not find them on every system.
 */
function writeSettings(folder, cwd, native) {
  const path = join(folder, 'tsconfig.json');
  const own = join(cwd, 'node_modules', native);
  const names = ['gnu', 'musl'].map((libc) => native.replace(/gnu$|musl$/, libc));
  const paths = Object.fromEntries(
    names.flatMap((name) => [
      [name, [own]],
      [`${name}/*`, [`${own}/*`]],
    ]),
  );
  // Not by `extends`, which the bundler does not follow in node_modules, where `npm start` builds.
  const { compilerOptions } = JSON.parse(readFileSync(join(cwd, 'tsconfig.json'), 'utf8'));
  writeFileSync(path, JSON.stringify({ compilerOptions: { ...compilerOptions, paths } }));
  return path;
}

/** Where the bundler finds the npm packages: their path from here is part of the executable. */
const embeddedFrom = join('node_modules', '.cache', 'mayfly', 'npm');

/** Whole at any time, also for another build that runs here. @returns paths from `cwd` */
function placeEmbedded(packages, cwd) {
  mkdirSync(join(cwd, embeddedFrom), { recursive: true });
  return packages.map((path) => {
    const placed = join(embeddedFrom, basename(path));
    const draft = join(cwd, `${placed}.${process.pid}`);
    copyFileSync(path, draft);
    renameSync(draft, join(cwd, placed));
    return placed;
  });
}

/** From the sources in `cwd`, and the packages installed there. @param packages that it can serve to npm @returns whether it was made */
async function compile(name, outfile, cwd, { native, packages, more = [] }) {
  mkdirSync(dirname(outfile), { recursive: true });
  // The bundler also leaves source maps beside the executable, which holds them.
  const folder = mkdtempSync(`${outfile}-`);
  const made = join(folder, 'mayfly.exe');
  const settings = `--tsconfig-override=${writeSettings(folder, cwd, native)}`;
  const inside = [...entries, ...placeEmbedded(packages, cwd)];
  const args = ['build', settings, ...flags, ...more, ...inside, '--outfile', made];
  const step = bunStep(name, args, limitMs);
  const isWell = await runStep({ ...step, cwd, env: { NODE_ENV: 'production' } });
  if (isWell) renameSync(made, outfile);
  rmSync(folder, { recursive: true });
  return isWell;
}

/** The target that npm installed packages for. */
function targetHere() {
  const here = targets.find(({ native }) => existsSync(join(root, 'node_modules', native)));
  if (here === undefined)
    throw new Error(`there are no packages for this system: ${process.platform} ${process.arch}`);
  return here;
}

/** @param packages that it can serve to npm @returns whether it was made */
export function buildHere(outfile, packages) {
  return compile(`one executable: ${outfile}`, outfile, root, { ...targetHere(), packages });
}

const inputs = [
  'src',
  'sdk',
  'docs',
  'scripts',
  'package.json',
  'package-lock.json',
  '.npmrc',
  'tsconfig.json',
  'bunfig.toml',
];

/** A package for development that the build runs, and nothing of it is in the executable: the one that is installed here. */
const buildTool = 'node_modules/marked';

/**
 * From a copy of the sources beside the target's own packages, which npm checks against package-lock.json. Nothing else is
 * downloaded. @returns whether it was made
 */
export async function buildFor({ name, runtime, native, npm, suffix }, outfile, packages) {
  const folder = mkdtempSync(join(tmpdir(), `mayfly-${name}-`));
  try {
    for (const path of inputs) cpSync(join(root, path), join(folder, path), { recursive: true });
    process.stdout.write(`\n== packages for ${name}\n`);
    if (!installFor(folder, npm)) return false;
    cpSync(join(root, buildTool), join(folder, buildTool), { recursive: true });
    const program = join(folder, 'node_modules', '@oven', runtime, 'bin', `bun${suffix}`);
    const more = [`--target=${runtime}`, `--compile-executable-path=${program}`];
    const given = { native, packages, more };
    return await compile(`an executable for ${name}: ${outfile}`, outfile, folder, given);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
