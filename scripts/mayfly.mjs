#!/usr/bin/env node
/**
 * The `mayfly` command in a checkout: `npm start`, `npm run dev`, `npm run mayfly -- …`. Runs on Node 20 with nothing installed.
 *
 * Arguments, streams, signals and the exit code pass through unchanged.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { bun, install, root } from './install.mjs';
import { passThrough } from './pass-through.mjs';

const given = process.argv.slice(2);
const watch = given[0] === '--watch';
const args = watch ? given.slice(1) : given;

if (!install()) process.exit(1);

// Nothing is installed or read from an .env file behind the operator's back. The runtime would look for its settings in
// the folder of the caller.
const flags = [
  '--no-install',
  '--no-env-file',
  `--config=${join(root, 'bunfig.toml')}`,
  `--tsconfig-override=${join(root, 'tsconfig.json')}`,
  ...(watch ? ['--watch', '--no-clear-screen'] : []),
];
const child = spawn(bun, [...flags, join(root, 'src', 'main.ts'), ...args], {
  stdio: 'inherit',
  env: { ...process.env, NODE_ENV: 'production' },
});
passThrough(child);
