/** `npm run build`: Mayfly and its runtime as one executable. Runs on Node 20 with nothing installed. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildFor, buildHere } from './executable.mjs';
import { install, root } from './install.mjs';
import { makeNpmPackages } from './npm-package.mjs';
import { targets } from './targets.mjs';

const names = targets.map(({ name }) => name);
const usage = `npm run build                      one executable for this machine, dist/mayfly
npm run build -- PATH              the same, as the given file
npm run build -- --target TARGET   for another system, in dist/; may be repeated
npm run build -- --no-packages     without the npm packages that it serves
npm run build -- --all             for all of these:

  ${names.slice(0, 4).join(', ')}
  ${names.slice(4).join(', ')}

npm run release                    all of them, with packages, a list of what is inside, and checksums
`;

function refuse(words) {
  process.stderr.write(`${words}\n\n${usage}`);
  process.exit(2);
}

function readArguments() {
  const options = {
    all: { type: 'boolean' },
    'no-packages': { type: 'boolean' },
    target: { type: 'string', multiple: true },
    help: { type: 'boolean' },
  };
  try {
    return parseArgs({ options, allowPositionals: true });
  } catch (error) {
    return refuse(error.message);
  }
}

const { values, positionals } = readArguments();
if (values.help) {
  process.stdout.write(usage);
  process.exit(0);
}
const wanted = values.all ? names : [...new Set(values.target)];
const unknown = wanted.filter((name) => !names.includes(name));
if (unknown.length > 0) refuse(`There is no target ${unknown.join(', ')}.`);
if (positionals.length > (wanted.length > 0 ? 0 : 1)) refuse(`What is ${positionals.at(-1)}?`);

if (!install()) process.exit(1);

const dist = join(root, 'dist');

async function build(folder) {
  const made = values['no-packages'] ? {} : await makeNpmPackages(folder);
  if (made === null) return false;
  const packages = Object.values(made);
  if (wanted.length === 0) return buildHere(resolve(positionals[0] ?? join(dist, 'mayfly')), packages);
  for (const target of targets.filter(({ name }) => wanted.includes(name)))
    if (!(await buildFor(target, join(dist, `mayfly-${target.name}${target.suffix}`), packages)))
      return false;
  return true;
}

const folder = mkdtempSync(join(tmpdir(), 'mayfly-packages-'));
const isWell = await build(folder).finally(() => rmSync(folder, { recursive: true }));
process.exit(isWell ? 0 : 1);
