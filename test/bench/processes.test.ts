/** A server of the benchmark is all its processes, and is started as npm starts it. */
import { describe, expect, it } from 'bun:test';
import { commandOfScript, startBenchServer, treeOf } from '../../bench/processes.ts';
import { sendOnce } from '../support/raw-client.ts';
import { repositoryRoot } from '../support/started-server.ts';

/** A shell that stays the server's parent. */
const underShell = ['sh', '-c', `"${process.execPath}" bench/bare-bun.ts; true`] as const;

describe('a server under a shell', () => {
  it('is counted with the processes below it', async () => {
    await using server = await startBenchServer('bare', underShell);
    expect(treeOf(server.pid)).toHaveLength(2);
  });

  it('ends with all of them', async () => {
    const server = await startBenchServer('bare', underShell);
    await server[Symbol.asyncDispose]();
    await expect(sendOnce(server.port, Buffer.from('GET / HTTP/1.1\r\n\r\n'))).rejects.toThrow();
  });
});

describe('a script of package.json', () => {
  it("is run as its line, with npm's variables and without npm", () => {
    const { command, env, cwd } = commandOfScript(repositoryRoot, 'start');
    expect(command.slice(0, 2)).toEqual(['sh', '-c']);
    expect(command[2]).not.toContain('npm ');
    expect(env).toMatchObject({ npm_lifecycle_event: 'start', INIT_CWD: repositoryRoot });
    expect(env.PATH).toStartWith(`${repositoryRoot}/node_modules/.bin:`);
    expect(cwd).toBe(repositoryRoot);
  });

  it('gets its arguments', () => {
    const { command } = commandOfScript(repositoryRoot, 'mayfly', 'router');
    expect(command[2]).toEndWith(' router');
  });
});
