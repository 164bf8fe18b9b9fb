/**
 * Records whom processes talk to, with the library of `observer.c` preloaded into them.
 *
 * Builds the library into a temporary folder, once per test run, and reads what it recorded.
 */
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Observer extends AsyncDisposable {
  /** The environment for an observed process and those it starts; `label` keeps its records apart. */
  variables(label: string): Readonly<Record<string, string>>;
  /** In order: `to 127.0.0.1 53`, `lookup localhost`. */
  noted(label: string): readonly string[];
}

export async function buildObserver(): Promise<Observer> {
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-'));
  const library = join(folder, 'observer.so');
  const source = join(import.meta.dir, 'observer.c');
  const build = Bun.spawn(['gcc', '-shared', '-fPIC', '-O2', '-Wall', '-o', library, source, '-ldl'], {
    stderr: 'pipe',
  });
  if ((await build.exited) !== 0) throw new Error(await new Response(build.stderr).text());
  const fileOf = (label: string) => join(folder, `${label}.noted`);
  return {
    variables: (label) => ({ LD_PRELOAD: library, OBSERVER_FILE: fileOf(label) }),
    noted(label) {
      if (!existsSync(fileOf(label))) return [];
      return readFileSync(fileOf(label), 'utf8').trimEnd().split('\n');
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}
