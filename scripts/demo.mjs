/** `npm run demo:mail|dns|regions|postgres`: starts `demo-<name>.ts` with everything installed. Runs on Node 20 with nothing installed. */
import { join } from 'node:path';
import { bun, install, root } from './install.mjs';
import { passThrough } from './pass-through.mjs';
import { prepareTools } from './system-tools.mjs';

const [name = '', ...args] = process.argv.slice(2);

if (!install()) process.exit(1);

const demo = join(root, 'scripts', `demo-${name}.ts`);
const [missing] = prepareTools([demo], false).skipped;
if (missing !== undefined) {
  process.stderr.write(`This demo needs ${missing.tool}: ${missing.reason}.\n`);
  process.exit(1);
}

passThrough(bun, ['--no-install', '--no-env-file', demo, ...args], { cwd: root });
