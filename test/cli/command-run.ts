/**
 * Runs the product's command as a process, with text on its standard input.
 *
 * Its environment holds only what a test names.
 */
import { repositoryRoot } from '../support/started-server.ts';

export interface CommandRun {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export async function mayfly(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  input: string | Uint8Array = '',
): Promise<CommandRun> {
  const { PATH = '', HOME = '' } = process.env;
  const child = Bun.spawn([process.execPath, 'src/main.ts', ...args], {
    cwd: repositoryRoot,
    env: { PATH, HOME, ...env },
    stdin: typeof input === 'string' ? new TextEncoder().encode(input) : input,
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, out, err };
}
