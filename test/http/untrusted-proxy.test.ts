/** A started server behind an unconfigured proxy: the operator is told once, without the header's content. */
import { expect, it } from 'bun:test';
import { startServer } from '../support/started-server.ts';

it('warns once that a proxy forwards requests and is not trusted, without the header’s content (P22, P18)', async () => {
  await using server = await startServer({ env: { MAYFLY_LOG_LEVEL: 'info' } });
  const ask = (headers: Record<string, string>) =>
    fetch(`http://127.0.0.1:${server.port}/api/v1/secret/unknown`, { method: 'POST', headers });
  await ask({});
  for (const name of ['x-forwarded-for', 'forwarded', 'x-forwarded-for']) {
    await ask({ [name]: '198.51.100.77, canary' });
  }
  server.kill('SIGTERM');
  await server.exited;
  const lines = server.stdout().trim().split('\n');
  const warnings = lines.map((line) => JSON.parse(line)).filter(({ event }) => event === 'proxy_untrusted');
  expect(warnings).toEqual([expect.objectContaining({ level: 'warn' })]);
  expect(server.stdout() + server.stderr()).not.toMatch(/canary|198\.51/);
}, 60_000);
