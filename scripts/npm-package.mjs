/**
 * The npm packages: the client, and `mayfly`, which is the program as a few modules, its launcher, the client's package to serve, and
 * dependencies on nothing but the runtime and the one native part, all at exact versions and none with a script to install it. The same
 * sources always give the same bytes.
 */
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { entries, portableFlags } from './executable.mjs';
import { root } from './install.mjs';
import { thirdPartyLicences } from './licences.mjs';
import { bunStep, runStep } from './run-step.mjs';
import { targets } from './targets.mjs';

const limitMs = 120_000;
const native = '@node-rs/argon2';

function manifest(files) {
  const { name, version, description, license, dependencies } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  );
  return {
    name,
    version,
    description,
    license,
    type: 'module',
    engines: { node: '>=20' },
    bin: { mayfly: 'mayfly.mjs' },
    files,
    dependencies: { [native]: dependencies[native] },
    optionalDependencies: Object.fromEntries(
      targets.map(({ runtime }) => [`@oven/${runtime}`, dependencies.bun]),
    ),
  };
}

/** Not minified: a fault in the log then names functions and lines of a module. */
function bundleStep(outdir) {
  const flags = ['--target=bun', ...portableFlags, '--external', native, '--outdir', outdir];
  const step = bunStep('the program as modules', ['build', ...flags, ...entries], limitMs);
  return { ...step, env: { NODE_ENV: 'production' } };
}

/** In an executable the runtime finds a thread's module by the name of its source, elsewhere not. */
function nameThreadsAsJs(folder) {
  let renamed = 0;
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const text = readFileSync(path, 'utf8');
    const now = text.replace(
      /new URL\("\.\/([\w-]+)\.ts", ?import\.meta\.url\)/g,
      'new URL("./$1.js", import.meta.url)',
    );
    if (now !== text) renamed += 1;
    writeFileSync(path, now);
  }
  const threads = entries.length - 1;
  if (renamed !== threads) throw new Error(`${renamed} of ${threads} threads were found in the modules`);
}

function filesIn(folder) {
  const names = readdirSync(folder, { recursive: true }).filter((name) =>
    statSync(join(folder, name)).isFile(),
  );
  return names.map((name) => name.replaceAll('\\', '/')).sort();
}

/** As the program packs itself, where it serves from this package. */
function packStep(folder, outfile) {
  const code = `import { packPackage } from ${JSON.stringify(join(root, 'src', 'web', 'about', 'downloads.ts'))};
    await Bun.write(process.argv[1], await packPackage(process.argv[2]));`;
  return bunStep(basename(outfile), ['--eval', code, outfile, folder], limitMs);
}

async function makeClientPackage(folder, outfile) {
  const made = join(folder, 'client');
  const args = [join(root, 'scripts', 'build-sdk.mjs'), made];
  if (!(await runStep({ name: 'the client', command: process.execPath, args, limitMs }))) return false;
  return runStep(packStep(made, outfile));
}

async function makeCommandPackage(folder, outfile, client) {
  const lib = join(folder, 'lib');
  if (!(await runStep(bundleStep(lib)))) return false;
  nameThreadsAsJs(lib);
  copyFileSync(client, join(lib, 'client.tgz'));
  writeFileSync(join(folder, 'LICENSES.txt'), thirdPartyLicences());
  for (const name of ['LICENSE', 'CHANGELOG.md', 'bunfig.toml'])
    copyFileSync(join(root, name), join(folder, name));
  copyFileSync(join(root, 'scripts', 'npm-readme.md'), join(folder, 'README.md'));
  copyFileSync(join(root, 'scripts', 'packaged.mjs'), join(folder, 'mayfly.mjs'));
  copyFileSync(join(root, 'scripts', 'pass-through.mjs'), join(folder, 'pass-through.mjs'));
  const text = JSON.stringify(manifest(filesIn(folder)), null, 2);
  writeFileSync(join(folder, 'package.json'), `${text}\n`);
  return runStep(packStep(folder, outfile));
}

/**
 * Named as an installation serves them.
 * @returns their paths in `outdir`, or null when they could not be made
 */
export async function makeNpmPackages(outdir) {
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-npm-'));
  const [command, client] = ['mayfly.tgz', 'client.tgz'].map((name) => join(outdir, name));
  try {
    mkdirSync(outdir, { recursive: true });
    if (!(await makeClientPackage(folder, client))) return null;
    const isWell = await makeCommandPackage(join(folder, 'command'), command, client);
    return isWell ? { command, client } : null;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
