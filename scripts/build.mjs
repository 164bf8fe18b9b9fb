/** `npm run build`: Mayfly and its runtime as one executable. Runs on Node 20 with nothing installed. */
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildFor, buildHere } from './executable.mjs';
import { install, root } from './install.mjs';
import { targets } from './targets.mjs';

const names = targets.map(({ name }) => name);
const usage = `npm run build                      one executable for this machine, dist/mayfly
npm run build -- PATH              the same, as the given file
npm run build -- --target TARGET   for another system, in dist/; may be repeated
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
let isWell = true;
if (wanted.length === 0) isWell = await buildHere(resolve(positionals[0] ?? join(dist, 'mayfly')));
for (const target of targets.filter(({ name }) => wanted.includes(name)))
  isWell = isWell && (await buildFor(target, join(dist, `mayfly-${target.name}${target.suffix}`)));
process.exit(isWell ? 0 : 1);
