/**
 * The client in `sdk/` as modules of JavaScript: the main one, its errors, and two that it loads when it needs them. Imported as a macro: it runs
 * when the file that uses it is transpiled, so that the executable holds the result. The package has the same modules unbundled
 * (`scripts/build-sdk.mjs`).
 */
import { join } from 'node:path';

/** Each with what it imports, but for what it takes from another: there is one class of errors. */
const modules = {
  error: {},
  mayfly: { 'sharing.ts': 'sharing.js', 'error.ts': 'error.js' },
  sharing: { 'stretch.ts': 'stretch.js', 'error.ts': 'error.js' },
  stretch: {},
} as const;

function bundle(name: keyof typeof modules): string {
  const others = Object.entries<string>(modules[name]);
  const external = others.flatMap(([source]) => ['--external', `*/${source}`]);
  // The bundler itself is busy while a macro runs, so another process bundles.
  const { stdout, stderr, success } = Bun.spawnSync(
    [process.execPath, 'build', '--target=browser', '--format=esm', ...external, `sdk/${name}.ts`],
    { cwd: join(import.meta.dir, '..', '..', '..') },
  );
  if (!success) throw new Error(`The client does not build: ${stderr.toString()}`);
  return others.reduce(
    (text, [source, module]) => text.replaceAll(`"./${source}"`, `"./${module}"`),
    stdout.toString(),
  );
}

/** @throws if the client does not build */
export function bundleSdk(): Record<string, string> {
  return Object.fromEntries(
    Object.keys(modules).map((name) => [`${name}.js`, bundle(name as keyof typeof modules)]),
  );
}
