/**
 * The client in `sdk/` as one module of JavaScript. Imported as a macro: it runs when the file that uses it is transpiled, so
 * that the executable holds the result. The package has the same modules unbundled (`scripts/build-sdk.mjs`).
 */
import { join } from 'node:path';

/** @throws if the client does not build */
export function bundleSdk(): string {
  const root = join(import.meta.dir, '..', '..', '..');
  // The bundler itself is busy while a macro runs, so another process bundles.
  const { stdout, stderr, success } = Bun.spawnSync(
    [process.execPath, 'build', '--target=browser', '--format=esm', 'sdk/mayfly.ts'],
    { cwd: root },
  );
  if (!success) throw new Error(`The client does not build: ${stderr.toString()}`);
  return stdout.toString();
}
