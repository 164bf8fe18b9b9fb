import { describe, expect, it } from 'bun:test';
import { runCli } from '../../test/support/cli-world.ts';
import { readConfig } from '../config/read.ts';
import { statusOf } from './health.ts';

/** Runs the command with these settings, against a server that answers with the status. */
async function runHealth(environment: Record<string, string>, status: number | null, args: string[] = []) {
  const asked: string[] = [];
  const run = await runCli(['health', ...args], {
    readConfig: async () => readConfig(environment),
    statusOf: async (url) => {
      asked.push(url);
      return status;
    },
  });
  return { ...run, asked };
}

describe('mayfly health', () => {
  it('asks the server of these settings whether it is ready', async () => {
    for (const [environment, url] of [
      [{}, 'http://127.0.0.1:3000/readyz'],
      [{ HOST: '0.0.0.0', PORT: '8080' }, 'http://127.0.0.1:8080/readyz'],
      [{ HOST: '::', MAYFLY_BASE_URL: 'https://example.org/below' }, 'http://[::1]:3000/readyz'],
      [{ HOST: '::1' }, 'http://[::1]:3000/readyz'],
      [{ HOST: '192.0.2.4' }, 'http://192.0.2.4:3000/readyz'],
      [{ HOST: 'localhost' }, 'http://localhost:3000/readyz'],
    ] as const) {
      const { asked, code, out, err } = await runHealth(environment, 200);
      expect([code, out, err]).toEqual([0, 'ready\n', '']);
      expect(asked).toEqual([url]);
    }
  });

  it('ends with 1 when the server is not ready', async () => {
    const { code, out, err } = await runHealth({}, 503, ['--json']);
    expect([code, out]).toEqual([1, '{"error":"not_ready"}\n']);
    expect(err).toBe('http://127.0.0.1:3000 is not ready: see its log.\n');
  });

  it('ends with 1 when nothing answers', async () => {
    const { code, out, err } = await runHealth({}, null, ['--json']);
    expect([code, out]).toEqual([1, '{"error":"unreachable"}\n']);
    expect(err).toBe('http://127.0.0.1:3000 does not answer.\n');
  });

  it('says why a server would not start with these settings, which a router does without', async () => {
    const environment = { MAYFLY_SMTP_URL: 'smtps://u:100%@mail.example.com' };
    expect((await runHealth(environment, 200)).code).toBe(0);
    expect((await runHealth(environment, null)).err).toStartWith(
      'http://127.0.0.1:3000 does not answer. MAYFLY_SMTP_URL: User or password is not percent-encoded',
    );
  });

  it('ends with 2, and asks nobody, when the settings are wrong', async () => {
    const { code, asked } = await runHealth({ PORT: 'x' }, 200);
    expect([code, asked]).toEqual([2, []]);
  });
});

describe('the status of an answer', () => {
  const limitMs = 50;

  it('is what the server says', async () => {
    using server = Bun.serve({ port: 0, fetch: () => new Response('no', { status: 503 }) });
    expect(await statusOf(`http://127.0.0.1:${server.port}/readyz`, 5_000)).toBe(503);
  });

  it('is null when the server does not answer in time', async () => {
    using server = Bun.serve({ port: 0, fetch: () => new Promise<Response>(() => {}) });
    expect(await statusOf(`http://127.0.0.1:${server.port}/readyz`, limitMs)).toBeNull();
  });

  it('is null when nobody listens', async () => {
    const server = Bun.serve({ port: 0, fetch: () => new Response('') });
    const url = `http://127.0.0.1:${server.port}/readyz`;
    await server.stop(true);
    expect(await statusOf(url, 5_000)).toBeNull();
  });
});
