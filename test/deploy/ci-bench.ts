/** A CI job beside a started server: a folder for PATH with the command, which records its arguments, and a folder for files. */
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '../../sdk/mayfly.ts';
import { repositoryRoot, startServer } from '../support/started-server.ts';

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

/** To be opened when a test file loads. */
export async function openCiBench() {
  const server = await startServer({ env: { MAYFLY_REQUESTS: 'anyone' } });
  const address = `http://127.0.0.1:${server.port}`;
  const client = createClient({ server: address });
  const command = await openCommandFolder();
  const folder = await mkdtemp(join(tmpdir(), 'mayfly-'));
  return {
    ...{ server, address, client, command, folder },
    linkOf: async (value: string, passphrase?: string): Promise<string> =>
      (await client.conceal({ value, ...(passphrase === undefined ? {} : { passphrase }) })).link,
    async fileWith(content: string): Promise<string> {
      const path = join(folder, `${crypto.randomUUID()}.txt`);
      await writeFile(path, content);
      return path;
    },
    async close(): Promise<void> {
      await server[Symbol.asyncDispose]();
      await command[Symbol.asyncDispose]();
      await rm(folder, { recursive: true });
    },
  };
}
