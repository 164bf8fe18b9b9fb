#!/usr/bin/env node
/**
 * The `mayfly` command in a checkout: `npm run mayfly -- …` and `npm run dev`. Runs on Node 20 with nothing installed.
 *
 * Arguments, streams, signals and the exit code pass through unchanged.
 */
import { join } from 'node:path';
import { bun, install, root } from './install.mjs';
import { passThrough } from './pass-through.mjs';

const given = process.argv.slice(2);

/**
 * Nothing is installed or read from an .env file behind the operator's back. The runtime would look for its settings in the
 * folder of the caller.
 */
const watching = [
  '--no-install',
  '--no-env-file',
  `--config=${join(root, 'bunfig.toml')}`,
  `--tsconfig-override=${join(root, 'tsconfig.json')}`,
  '--watch',
  '--no-clear-screen',
];

if (!install()) process.exit(1);

const [command, args] =
  given[0] === '--watch'
    ? [bun, [...watching, join(root, 'src', 'main.ts'), ...given.slice(1)]]
    : ['sh', [join(root, 'scripts', 'start.sh'), ...given]];
passThrough(command, args, { env: { ...process.env, NODE_ENV: 'production' } });
