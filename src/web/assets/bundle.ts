/**
 * The ready-made files in the executable: the pages' scripts, the client in `sdk/`, the icons and the display face. These functions are imported as macros,
 * which run when the importing file is transpiled. The bundler is busy then, so this file runs itself as a separate process to bundle.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dir, '..', '..', '..');

type Texts<Name extends string = string> = Readonly<Record<Name, string>>;

/** Bundles each module separately: a joint build would leave code in each module that only the others use. */
async function bundle(path: string, options: { minify?: boolean; external?: string[] }): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: [join(root, path)],
    target: 'browser',
    format: 'esm',
    ...options,
  });
  return (await outputs[0]?.text()) ?? '';
}

async function scripts(names: readonly string[]): Promise<Texts> {
  const bundled = names.map(async (name) => [
    name,
    await bundle(`src/web/client/${name}.ts`, { minify: true }),
  ]);
  return Object.fromEntries(await Promise.all(bundled));
}

/** The client's modules, each with the modules that it imports at run time instead of including, so that all share one error class. */
const sdkModules = {
  error: {},
  mayfly: { 'sharing.ts': 'sharing.js', 'asking.ts': 'asking.js', 'error.ts': 'error.js' },
  sharing: { 'stretch.ts': 'stretch.js', 'error.ts': 'error.js' },
  asking: { 'hpke.ts': 'hpke.js', 'stretch.ts': 'stretch.js', 'error.ts': 'error.js' },
  stretch: {},
  hpke: {},
} as const;

async function sdk(): Promise<Texts> {
  const bundled = Object.entries(sdkModules).map(async ([name, others]) => {
    const external = Object.keys(others).map((source) => `*/${source}`);
    const text = Object.entries<string>(others).reduce(
      (module, [source, loaded]) => module.replaceAll(`"./${source}"`, `"./${loaded}"`),
      await bundle(`sdk/${name}.ts`, { external }),
    );
    return [`${name}.js`, text];
  });
  return Object.fromEntries(await Promise.all(bundled));
}

function bundled(...options: readonly string[]): Texts {
  const { stdout, stderr, success } = Bun.spawnSync([process.execPath, import.meta.path, ...options], {
    cwd: root,
  });
  if (!success) throw new Error(`The scripts do not bundle: ${stderr.toString()}`);
  return JSON.parse(stdout.toString());
}

export function bundleScripts<Name extends string>(names: readonly Name[]): Texts<Name> {
  return bundled('scripts', ...names);
}

/** Returns the modules by file name. The package has the same modules unbundled (`scripts/build-sdk.mjs`). */
export function bundleSdk(): Texts {
  return bundled('sdk');
}

/** Returns files of this folder in base64, by path. `scripts/generate-icons.ts` draws the icons. */
export function embedded<Path extends string>(paths: readonly Path[]): Texts<Path> {
  const read = (path: Path) => readFileSync(join(import.meta.dir, path)).toString('base64');
  return Object.fromEntries(paths.map((path) => [path, read(path)])) as Texts<Path>;
}

if (import.meta.main) {
  const [kind, ...names] = process.argv.slice(2);
  await Bun.write(Bun.stdout, JSON.stringify(await (kind === 'sdk' ? sdk() : scripts(names))));
}
