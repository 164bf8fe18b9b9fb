/**
 * `npm run build:sdk`: the client as a package for `npm pack`, in `dist/sdk` or in the given folder, which must be new. Runs on
 * Node 20 with nothing installed. The same sources always give the same bytes.
 */
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { install, root } from './install.mjs';
import { bin, runStep } from './run-step.mjs';

const limitMs = 120_000;
const usual = join(root, 'dist', 'sdk');
const outdir = process.argv[2] ?? usual;
/** The names that a program imports, and the module of each. */
const entries = { '.': 'mayfly', './domains': 'domains' };

/**
 * A module for each file, neither bundled nor minified: what the entries share exists once, a bundler takes only what is used, and a
 * stack trace names files and functions without a source map. What is loaded later is a module of its own in a bundle too.
 */
function compileStep(folder) {
  const settings = ['--strict', '--exactOptionalPropertyTypes', '--target', 'es2022', '--module', 'nodenext'];
  // Only what browsers have too; Node's types would let anything of Node in.
  const surroundings = ['--lib', 'esnext,dom', '--types', '', '--rewriteRelativeImportExtensions'];
  const output = ['--rootDir', '.', '--declaration', '--outDir', folder];
  const files = Object.values(entries).map((name) => `sdk/${name}.ts`);
  const args = ['--ignoreConfig', ...settings, ...surroundings, ...output, ...files];
  return { name: 'the modules of the client and their types', command: bin('tsc'), args, limitMs };
}

/** The modules that are bundled, each with the package that it takes something from, so that this package needs none. */
const bundled = { stretch: ['hash-wasm', 'LICENSE'], hpke: ['hpke', 'LICENSE.md'] };

function bundleStep(folder, name) {
  const args = [
    'build',
    '--target=browser',
    '--format=esm',
    `sdk/${name}.ts`,
    '--outfile',
    join(folder, `${name}.js`),
  ];
  return { name: `the module with ${bundled[name][0]}`, command: bin('bun'), args, limitMs };
}

/**
 * What the client takes from `src/protocol` is a folder in the package. The compiler leaves `.ts` in declarations, which not every resolver
 * maps to `.d.ts`.
 */
function nameModules(folder) {
  for (const name of filesIn(folder)) {
    const path = join(folder, name);
    const text = readFileSync(path, 'utf8').replaceAll("'../src/protocol/", "'./protocol/");
    writeFileSync(path, name.endsWith('.d.ts') ? text.replace(/( from '\.[\w/-]+)\.ts'/g, "$1.js'") : text);
  }
}

function filesIn(folder) {
  const names = readdirSync(folder, { recursive: true }).filter((name) =>
    statSync(join(folder, name)).isFile(),
  );
  return names.map((name) => name.replaceAll('\\', '/')).sort();
}

function filesOf(name) {
  return { types: `./${name}.d.ts`, default: `./${name}.js` };
}

function manifest(files) {
  const { version, license } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return {
    name: '@mayfly/client',
    version,
    description: 'Share a secret once, read it once: the client of a Mayfly server.',
    license,
    type: 'module',
    engines: { node: '>=20' },
    exports: Object.fromEntries(Object.entries(entries).map(([path, name]) => [path, filesOf(name)])),
    sideEffects: false,
    files,
  };
}

function addDocuments(folder) {
  writeFileSync(join(folder, 'README.md'), readFileSync(join(root, 'sdk', 'README.md')));
  const licence = (...path) => readFileSync(join(root, ...path), 'utf8').trim();
  const others = Object.entries(bundled).map(
    ([name, [other, file]]) => `${name}.js contains ${other}:\n\n${licence('node_modules', other, file)}`,
  );
  writeFileSync(join(folder, 'LICENSE'), `${[licence('LICENSE'), ...others].join('\n\n\n')}\n`);
  const text = JSON.stringify(manifest(filesIn(folder)), null, 2);
  writeFileSync(join(folder, 'package.json'), `${text}\n`);
}

if (!install()) process.exit(1);

mkdirSync(dirname(outdir), { recursive: true });
const folder = mkdtempSync(`${outdir}-`);
const made = join(folder, 'sdk');
const steps = [compileStep(folder), ...Object.keys(bundled).map((name) => bundleStep(made, name))];
let isWell = true;
for (const step of steps) isWell &&= await runStep(step);
if (isWell) {
  renameSync(join(folder, 'src', 'protocol'), join(made, 'protocol'));
  nameModules(made);
  addDocuments(made);
  // A folder that was named by the caller is never emptied.
  if (outdir === usual) rmSync(usual, { recursive: true, force: true });
  renameSync(made, outdir);
}
rmSync(folder, { recursive: true });
process.exit(isWell ? 0 : 1);
