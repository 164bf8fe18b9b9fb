/** P21, P23: idle connections that use up every descriptor of a process keep nobody out for longer than about a second. */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { until } from '../support/postgres.ts';
import { requestBytes, sendOnce } from '../support/raw-client.ts';
import { freePort, makeDataDir, repositoryRoot, watch } from '../support/started-server.ts';

setDefaultTimeout(60_000);

const health = requestBytes({ method: 'GET', path: '/healthz' });
const descriptors = 256;

test('a server without a descriptor closes what is idle, answers, and says so once', async () => {
  const [port, dataDir] = [await freePort(), await makeDataDir()];
  const { PATH = '', HOME = '' } = process.env;
  const env = { PATH, HOME, PORT: String(port), HOST: '127.0.0.1', MAYFLY_DATA_DIR: dataDir };
  const serve = `ulimit -n ${descriptors}; exec "$0" src/main.ts serve`;
  const child = spawn('sh', ['-c', serve, process.execPath], { cwd: repositoryRoot, env });
  const { stdout, exited } = watch(child);
  const sockets: Socket[] = [];
  try {
    // The log has loaded its library by then, which takes a descriptor.
    await until('it has started', async () => stdout().includes('"started"'));
    for (let count = 0; count < descriptors + 44; count += 1) {
      const socket = connect(port, '127.0.0.1', () => socket.write(health));
      socket.on('error', () => {});
      sockets.push(socket);
    }
    await until('the log says so', async () => stdout().includes('descriptors_used_up'));
    expect((await sendOnce(port, health)).status).toBe(200);
    await until('each was answered', async () => sockets.every(({ bytesRead }) => bytesRead > 0));
    expect(stdout().split('descriptors_used_up')).toHaveLength(2);
  } finally {
    for (const socket of sockets) socket.destroy();
    child.kill('SIGKILL');
    await exited;
    rmSync(dataDir, { recursive: true, force: true });
  }
});
