/** A server of the benchmark is all its processes, and is started as npm starts it. */
import { describe, expect, it } from 'bun:test';
import { once } from 'node:events';
import { connect } from 'node:net';
import { startBareBun } from '../../bench/load.ts';
import { commandOfScript, startBenchServer, treeOf } from '../../bench/processes.ts';
import { requestBytes, sendOnce } from '../support/raw-client.ts';
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

describe('the bare Bun.serve', () => {
  it('answers a create once it has the whole body, and a page at once', async () => {
    await using server = await startBareBun();
    const create = requestBytes({ method: 'POST', path: '/', body: 'secret=open+sesame' });
    const page = requestBytes({ method: 'GET', path: '/' });
    const socket = connect({ port: server.port, host: '127.0.0.1' });
    let answer = '';
    socket.on('data', (bytes) => {
      answer += bytes.toString();
    });
    await once(socket, 'connect');
    socket.write(create.subarray(0, -1));
    // Each is answered after what arrived before it.
    for (const request of [page, page])
      expect(await sendOnce(server.port, request)).toMatchObject({ status: 200, body: 'hello world' });
    expect(answer).toBe('');
    socket.write(create.subarray(-1));
    await once(socket, 'data');
    expect(answer).toEndWith('hello world');
    socket.destroy();
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
