/** A folder for PATH with the command, which notes its arguments. */
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repositoryRoot } from '../support/started-server.ts';

export interface CommandFolder extends AsyncDisposable {
  readonly path: string;
  /** Everything that any call had on its command line. */
  commandLines(): Promise<string>;
}

export async function openCommandFolder(): Promise<CommandFolder> {
  const folder = await mkdtemp(join(tmpdir(), 'mayfly-path-'));
  const script = join(folder, 'mayfly');
  const log = join(folder, 'arguments');
  await writeFile(log, '');
  const main = join(repositoryRoot, 'src', 'main.ts');
  await writeFile(
    script,
    `#!/bin/sh\nprintf '%s\\n' "$*" >>'${log}'\nexec '${process.execPath}' '${main}' "$@"\n`,
  );
  await chmod(script, 0o755);
  return {
    path: `${folder}:${process.env.PATH ?? ''}`,
    commandLines: () => readFile(log, 'utf8'),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
}
