/** `npm run demo:mail|dns|regions`: starts `demo-<name>.ts` with everything installed. Runs on Node 20 with nothing installed. */
import { join } from 'node:path';
import { bun, install, root } from './install.mjs';
import { passThrough } from './pass-through.mjs';

const [name = '', ...args] = process.argv.slice(2);

if (!install()) process.exit(1);

passThrough(bun, ['--no-install', '--no-env-file', join(root, 'scripts', `demo-${name}.ts`), ...args], {
  cwd: root,
});
