/**
 * Installs what package-lock.json names, if it is missing. The only place that calls npm. Runs on Node 20 with nothing installed.
 *
 * A correct installation is left alone, because `npm ci` starts by deleting it. As a script it does only this.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The checkout, wherever the command was called. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** The runtime: the npm package's own binary, named so on every system. */
export const bun = join(root, 'node_modules', 'bun', 'bin', 'bun.exe');

/** Until `placeRuntime` the package holds a text in the binary's place. */
const smallestBinaryBytes = 1_000_000;

function stat(path) {
  return statSync(path, { throwIfNoEntry: false });
}

function hasRuntime() {
  return (stat(bun)?.size ?? 0) > smallestBinaryBytes;
}

function readPackages(path) {
  return JSON.parse(readFileSync(path, 'utf8')).packages ?? {};
}

/** npm keeps a copy of what it installed; packages for other systems are in the lock only. */
function isSameTree(lockPath, installedPath) {
  const installed = readPackages(installedPath);
  return Object.entries(readPackages(lockPath)).every(([path, wanted]) => {
    if (path === '') return true;
    const found = installed[path];
    if (found === undefined) return wanted.optional === true || wanted.devOptional === true;
    return found.version === wanted.version && found.integrity === wanted.integrity;
  });
}

const lockPath = join(root, 'package-lock.json');
const installedPath = join(root, 'node_modules', '.package-lock.json');

/** Where npm unpacked the runtime for this system, having compared it with the hash in the lock. */
function checkedRuntimes() {
  if (stat(installedPath) === undefined) return [];
  const installed = readPackages(installedPath);
  return Object.entries(readPackages(lockPath)).flatMap(([path, { integrity }]) => {
    const isChecked = integrity !== undefined && installed[path]?.integrity === integrity;
    return isChecked && path.startsWith('node_modules/@oven/bun-') ? [join(root, path)] : [];
  });
}

/**
 * Moves the runtime's binary to its place, as its own install script does. That one never runs (.npmrc): where npm has unpacked no
 * binary, it downloads one and compares no hash.
 */
function placeRuntime() {
  if (hasRuntime()) return;
  const name = process.platform === 'win32' ? 'bun.exe' : 'bun';
  const binaries = checkedRuntimes().map((folder) => join(folder, 'bin', name));
  const found = binaries.find((path) => spawnSync(path, ['--version']).status === 0);
  if (found !== undefined) renameSync(found, bun);
}

export function isInstalled() {
  const installed = stat(installedPath);
  if (installed === undefined || !hasRuntime() || checkedRuntimes().length === 0) return false;
  // A copied or checked-out lock file is newer and yet the same.
  return installed.mtimeMs >= (stat(lockPath)?.mtimeMs ?? 0) || isSameTree(lockPath, installedPath);
}

function run(command, args, cwd = root) {
  // npm's report goes where words go: standard output is for results.
  const options = { cwd, stdio: ['ignore', 2, 2], shell: process.platform === 'win32' };
  return spawnSync(command, args, options).status ?? 1;
}

/** `npm` itself, or the very npm that runs this script. */
function runNpm(args, cwd) {
  const own = process.env.npm_execpath;
  return /npm-cli\.js$/.test(own ?? '') ? run(process.execPath, [own, ...args], cwd) : run('npm', args, cwd);
}

const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];

/** What the program needs on another system, in a folder that holds the lock. `flags` name the system. */
export function installFor(folder, flags) {
  // The packages' own scripts would run for this system.
  return runNpm(['ci', '--omit=dev', '--ignore-scripts', ...flags, ...quiet], folder) === 0;
}

/** What npm prints on standard output, which is a result. */
export function npmOutput(args, cwd = root) {
  const own = process.env.npm_execpath;
  const [command, first] = /npm-cli\.js$/.test(own ?? '') ? [process.execPath, [own]] : ['npm', []];
  const options = {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 2],
    shell: process.platform === 'win32',
  };
  const { status, stdout } = spawnSync(command, [...first, ...args], { ...options, maxBuffer: 100_000_000 });
  if (status !== 0) throw new Error(`npm ${args.join(' ')} ended with ${status}`);
  return stdout;
}

/** Tells `start.sh` that nothing is missing; newer than the files that say what is installed. */
function markInstalled() {
  try {
    const folder = join(root, 'node_modules', '.cache', 'mayfly');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'installed'), '');
  } catch {
    // A folder that cannot be written: the next start asks again.
  }
  return true;
}

/** Installs what is missing. Returns whether everything is there afterwards. */
export function install() {
  placeRuntime();
  if (isInstalled()) return markInstalled();
  process.stderr.write('Installing the packages that package-lock.json names; this happens once …\n');
  // Development packages too, whatever NODE_ENV says: `npm test` needs them, and a second installation is slow.
  const isDone = runNpm(['ci', '--include=dev', '--include=optional', '--ignore-scripts', ...quiet]) === 0;
  if (isDone) placeRuntime();
  if (isDone && isInstalled()) return markInstalled();
  process.stderr.write(
    isDone && checkedRuntimes().length === 0
      ? 'npm installed no runtime for this system (@oven/bun-…) whose hash is that of package-lock.json, and Mayfly runs no other.\n'
      : 'The packages could not be installed: see the lines above. Is the npm registry reachable?\n',
  );
  return false;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exit(install() ? 0 : 1);
