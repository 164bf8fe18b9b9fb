/**
 * The npm package `mayfly`: the program as a few modules, its launcher, and dependencies on nothing but the runtime and the one
 * native part, all at exact versions and none with a script to install it. The same sources always give the same bytes.
 */
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { entries, portableFlags } from './executable.mjs';
import { packFolder, root } from './install.mjs';
import { thirdPartyLicences } from './licences.mjs';
import { bunStep, runStep } from './run-step.mjs';
import { targets } from './targets.mjs';

const limitMs = 120_000;
const native = '@node-rs/argon2';

function manifest() {
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
      /new URL\("\.\/(\w+)\.ts", ?import\.meta\.url\)/g,
      'new URL("./$1.js", import.meta.url)',
    );
    if (now !== text) renamed += 1;
    writeFileSync(path, now);
  }
  const threads = entries.length - 1;
  if (renamed !== threads) throw new Error(`${renamed} of ${threads} threads were found in the modules`);
}

/** @returns the path of the tarball, or null when it could not be made */
export async function makeNpmPackage(outdir) {
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-npm-'));
  const lib = join(folder, 'lib');
  try {
    if (!(await runStep(bundleStep(lib)))) return null;
    nameThreadsAsJs(lib);
    writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`);
    writeFileSync(join(folder, 'LICENSES.txt'), thirdPartyLicences());
    for (const name of ['LICENSE', 'README.md', 'CHANGELOG.md', 'bunfig.toml'])
      copyFileSync(join(root, name), join(folder, name));
    copyFileSync(join(root, 'scripts', 'packaged.mjs'), join(folder, 'mayfly.mjs'));
    copyFileSync(join(root, 'scripts', 'pass-through.mjs'), join(folder, 'pass-through.mjs'));
    mkdirSync(outdir, { recursive: true });
    return packFolder(folder, outdir);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
