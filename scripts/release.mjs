/**
 * `npm run release`: everything that people install, in `dist/release` or the given folder, which must be new. The same commit
 * gives the same bytes. Needs what `npm run build -- --all` needs, and dpkg-deb.
 */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { architectures, makeDebianPackage } from './debian.mjs';
import { buildFor } from './executable.mjs';
import { install, root } from './install.mjs';
import { writeSbom, writeSums } from './inventory.mjs';
import { thirdPartyLicences } from './licences.mjs';
import { makeNpmPackages } from './npm-package.mjs';
import { targets } from './targets.mjs';

const usual = join(root, 'dist', 'release');
const usage = `npm run release                        everything that people install, in dist/release
npm run release -- FOLDER              the same in a new folder
npm run release -- --target TARGET     executables for these systems only; may be repeated

Files carry the time of the commit, or that of SOURCE_DATE_EPOCH.
`;

function refuse(words) {
  process.stderr.write(`${words}\n\n${usage}`);
  process.exit(2);
}

function readArguments() {
  const options = { target: { type: 'string', multiple: true }, help: { type: 'boolean' } };
  try {
    return parseArgs({ options, allowPositionals: true });
  } catch (error) {
    return refuse(error.message);
  }
}

function commitSeconds() {
  const given = process.env.SOURCE_DATE_EPOCH;
  const { stdout } = spawnSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' });
  const seconds = Number((given ?? stdout ?? '').trim() || Number.NaN);
  if (Number.isSafeInteger(seconds)) return seconds;
  return refuse(
    'There is no commit to take the time of files from. Set SOURCE_DATE_EPOCH to seconds since 1970.',
  );
}

async function makeAll(folder, wanted, seconds) {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const packages = await makeNpmPackages(folder);
  if (packages === null) return false;
  for (const [index, target] of wanted.entries()) {
    process.stdout.write(`\n== ${index + 1} of ${wanted.length} systems\n`);
    const executable = join(folder, `mayfly-${version}-${target.name}${target.suffix}`);
    if (!(await buildFor(target, executable, Object.values(packages)))) return false;
    const architecture = architectures[target.name];
    if (architecture === undefined) continue;
    process.stdout.write(`\n== a Debian package for ${architecture} (half a minute)\n`);
    makeDebianPackage({ executable, architecture, outdir: folder, seconds });
  }
  renameSync(packages.command, join(folder, `mayfly-${version}.tgz`));
  renameSync(packages.client, join(folder, `mayfly-client-${version}.tgz`));
  writeFileSync(join(folder, 'LICENSES.txt'), thirdPartyLicences());
  writeSbom(join(folder, `mayfly-${version}.cdx.json`), seconds);
  writeSums(folder);
  return true;
}

const { values, positionals } = readArguments();
if (values.help) {
  process.stdout.write(usage);
  process.exit(0);
}
const names = targets.map(({ name }) => name);
const unknown = (values.target ?? []).filter((name) => !names.includes(name));
if (unknown.length > 0) refuse(`There is no target ${unknown.join(', ')}: there are ${names.join(', ')}.`);
if (positionals.length > 1) refuse(`What is ${positionals[1]}?`);
const outdir = resolve(positionals[0] ?? usual);
// A folder that was named by the caller is never emptied.
if (outdir !== usual && existsSync(outdir)) refuse(`${outdir} exists already.`);
const seconds = commitSeconds();

if (!install()) process.exit(1);

mkdirSync(dirname(outdir), { recursive: true });
const folder = mkdtempSync(`${outdir}-`);
let isWell = false;
try {
  isWell = await makeAll(
    folder,
    targets.filter(({ name }) => values.target?.includes(name) ?? true),
    seconds,
  );
  if (isWell) {
    rmSync(outdir, { recursive: true, force: true });
    chmodSync(folder, 0o755);
    renameSync(folder, outdir);
    process.stdout.write(`\n${readFileSync(join(outdir, 'SHA256SUMS'), 'utf8')}\nIn ${outdir}\n`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exit(isWell ? 0 : 1);
