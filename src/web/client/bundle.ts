/**
 * The pages' scripts, each as one module of JavaScript with everything that it imports. Imported as a macro: it runs when the file
 * that uses it is transpiled, so that the executable holds the result.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** @throws if a script does not build */
export function bundleScripts<Name extends string>(names: readonly Name[]): Readonly<Record<Name, string>> {
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-scripts-'));
  try {
    const entries = names.map((name) => `./${name}.ts`);
    // The bundler itself is busy while a macro runs, so another process bundles.
    const { stderr, success } = Bun.spawnSync(
      [
        process.execPath,
        'build',
        '--target=browser',
        '--format=esm',
        '--minify',
        '--outdir',
        folder,
        ...entries,
      ],
      { cwd: import.meta.dir },
    );
    if (!success) throw new Error(`The pages' scripts do not build: ${stderr.toString()}`);
    const texts = names.map((name) => [name, readFileSync(join(folder, `${name}.js`), 'utf8')]);
    return Object.fromEntries(texts) as Record<Name, string>;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
