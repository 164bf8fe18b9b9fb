/** The README's examples are run as they stand, against a server of this test's own. */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAccount, repositoryRoot, type StartedServer, startServer } from '../support/started-server.ts';

const shell = 'bash';
/** What the examples call: the machine brings it. */
const tool = 'curl';

/** The commands of the `sh` block under a heading: comments out, continued lines joined. */
function examplesUnder(heading: string): string[] {
  const readme = readFileSync(join(repositoryRoot, 'README.md'), 'utf8');
  const section = readme.slice(readme.indexOf(`## ${heading}\n`));
  const block = /```sh\n([\s\S]*?)```/.exec(section)?.[1] ?? '';
  const lines = block.replaceAll('\\\n', ' ').split('\n');
  return lines.filter((line) => line.trim() !== '' && !line.startsWith('#'));
}

let server: StartedServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server[Symbol.asyncDispose]());

/** Runs one example with its placeholders filled in. */
function runExample(line: string, known: Readonly<Record<string, string>>): Record<string, unknown> {
  let command = line.replaceAll('http://localhost:3000', `http://127.0.0.1:${server.port}`);
  for (const [placeholder, value] of Object.entries(known)) command = command.replaceAll(placeholder, value);
  const { stdout } = spawnSync(shell, ['-c', command], { encoding: 'utf8' });
  return JSON.parse(stdout) as Record<string, unknown>;
}

describe('the examples of the README', () => {
  it('share a secret through both versions, read it once, and find it gone', () => {
    const [v1, v2, first, second, ...rest] = examplesUnder('Share a secret, read it once');
    expect([v1, v2, first, second].every((line) => line?.startsWith(tool))).toBe(true);
    expect(rest).toEqual([]);
    const shared = runExample(v1 ?? '', {});
    expect(shared).toMatchObject({ custid: 'anon', ttl: 3600, state: 'new' });
    expect(runExample(v2 ?? '', {})).toMatchObject({ success: true, record: { secret: { state: 'new' } } });
    const key = { SECRET_KEY: String(shared.secret_key) };
    expect(runExample(first ?? '', key)).toMatchObject({ value: 'open sesame' });
    expect(runExample(second ?? '', key)).toMatchObject({ message: 'Unknown secret' });
  });

  it('make an account, mail a link, list it and burn it', async () => {
    const { token } = await createAccount(server.dataDir, 'you@example.com');
    const [create, mail, recent, burn] = examplesUnder('Accounts');
    expect(create).toBe('npm run -s mayfly -- account create you@example.com');
    const known = { TOKEN: token };
    const sent = runExample(mail ?? '', known);
    expect(sent).toMatchObject({ custid: 'you@example.com', recipient: 'fr*****@e*****.org' });
    expect(runExample(recent ?? '', known)).toMatchObject([{ metadata_key: sent.metadata_key }]);
    const burned = runExample(burn ?? '', { ...known, METADATA_KEY: String(sent.metadata_key) });
    expect(burned).toMatchObject({ status: 'burned', secret_key: null });
  });
});
