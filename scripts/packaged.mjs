#!/usr/bin/env node
/**
 * The `mayfly` command of the npm package. Its runtime is an optional dependency of its own, so that npm runs no script of any
 * package: newer versions would not, unless asked to.
 */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { passThrough } from './pass-through.mjs';

const folder = dirname(fileURLToPath(import.meta.url));
const { resolve } = createRequire(import.meta.url);

/** Only one of them is installed, except by an npm that knows no libc. */
function runtimeNames() {
  const cpu = process.arch === 'arm64' ? 'aarch64' : process.arch;
  if (process.platform === 'win32') return [`bun-windows-${cpu}/bin/bun.exe`];
  const own = `bun-${process.platform}-${cpu}`;
  if (process.platform !== 'linux') return [`${own}/bin/bun`];
  const isGlibc = process.report.getReport().header.glibcVersionRuntime !== undefined;
  const names = [`${own}/bin/bun`, `${own}-musl/bin/bun`];
  return isGlibc ? names : names.reverse();
}

function findRuntime() {
  for (const name of runtimeNames()) {
    try {
      return resolve(`@oven/${name}`);
    } catch {
      // Another system's.
    }
  }
  process.stderr.write(
    `Mayfly needs the package @oven/${runtimeNames()[0].split('/')[0]}, which npm did not install. Install again without ` +
      '--omit=optional, or use an executable: there is none for this system if npm knows no such package.\n',
  );
  return process.exit(1);
}

// Nothing is installed or read from the folder of the caller behind the operator's back.
const flags = ['--no-install', '--no-env-file', `--config=${join(folder, 'bunfig.toml')}`];
// As on a machine with 256 MiB the runtime collects garbage earlier: less memory at equal CPU.
const own = { NODE_ENV: 'production', BUN_JSC_forceRAMSize: '268435456' };
// A server without the compiler's last tier, which costs it more than it gains.
if (process.argv[2] === 'serve') own.BUN_JSC_useFTLJIT = '0';
passThrough(findRuntime(), [...flags, join(folder, 'lib', 'entry.js'), ...process.argv.slice(2)], {
  env: { ...process.env, ...own },
});
