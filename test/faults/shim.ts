/** Runs a script on the failing disk of `shim.c`, which is built into a temporary folder. */
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Shim extends AsyncDisposable {
  /** A folder for this run; the script's files belong here. */
  readonly folder: string;
  /** The path of the built library, for `LD_PRELOAD`. */
  readonly library: string;
  /** Runs a script from `test/faults` to its end; resolves to its output, rejects when it fails. */
  run(
    script: string,
    args: readonly string[],
    shimVariables: Readonly<Record<string, string>>,
  ): Promise<string>;
}

export async function buildShim(): Promise<Shim> {
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-'));
  const library = join(folder, 'shim.so');
  const source = join(import.meta.dir, 'shim.c');
  await finished(['gcc', '-shared', '-fPIC', '-O2', '-Wall', '-o', library, source, '-ldl', '-lpthread'], {});
  return {
    folder,
    library,
    run: (script, args, shimVariables) =>
      finished([process.execPath, join(import.meta.dir, script), ...args], {
        LD_PRELOAD: library,
        ...shimVariables,
      }),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

async function finished(command: string[], variables: Record<string, string>): Promise<string> {
  const child = Bun.spawn(command, { env: { ...process.env, ...variables }, stdout: 'pipe', stderr: 'pipe' });
  const [output, complaint, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (code !== 0) throw new Error(`${command[0]} ended with ${code}: ${complaint}`);
  return output;
}
