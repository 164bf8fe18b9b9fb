/** The router as a process: starting, refusing to start, what it logs, and stopping. */
import { describe, expect, it } from 'bun:test';
import { requestBytes, sendOnce } from '../support/raw-client.ts';
import { freePort, type StartedServer, startServer } from '../support/started-server.ts';
import { mayfly } from './command-run.ts';

const regions = 'us=http://us.localhost,eu=http://eu.localhost';

async function startRouter(env: Readonly<Record<string, string>> = {}): Promise<StartedServer> {
  const dead = await freePort();
  const upstreams = `us=http://127.0.0.1:${dead},eu=http://127.0.0.1:${dead}`;
  return startServer({
    command: ['src/main.ts', 'router'],
    readyWords: 'routes on',
    env: { MAYFLY_REGIONS: regions, MAYFLY_ROUTER_UPSTREAMS: upstreams, MAYFLY_LOG_LEVEL: 'info', ...env },
  });
}

describe('mayfly router', () => {
  it.each([
    [{}, /^MAYFLY_REGIONS is not set: the router needs to know all regions/],
    [{ MAYFLY_REGIONS: 'us' }, /^MAYFLY_REGIONS is "us": it must be labels/],
    [
      { MAYFLY_REGIONS: regions, MAYFLY_ROUTER_WEIGHTS: 'ap=1' },
      /^MAYFLY_ROUTER_WEIGHTS names the region "ap"/,
    ],
    [
      { MAYFLY_REGIONS: regions, MAYFLY_ROUTER_UPSTREAMS: 'ap=http://a' },
      /^MAYFLY_ROUTER_UPSTREAMS names the region "ap"/,
    ],
    [{ MAYFLY_REGIONS: regions, MAYFLY_ROUTER_DEPRECATION: 'soon' }, /^MAYFLY_ROUTER_DEPRECATION is "soon"/],
  ])('ends with code 2 and a sentence for %o', async (env, sentence) => {
    const { code, out, err } = await mayfly(['router'], env);
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(sentence);
  });

  it('ends with code 1 and a sentence when its port is taken', async () => {
    await using other = await startRouter();
    const env = { MAYFLY_REGIONS: regions, PORT: String(other.port) };
    const { code, err } = await mayfly(['router'], env);
    expect(code).toBe(1);
    expect(err).toStartWith(`The router does not start. Port ${other.port} on 127.0.0.1 is in use`);
  });

  it('says what it leads to, tells of lost regions by their labels, and writes no file', async () => {
    await using router = await startRouter({ MAYFLY_ROUTER_WEIGHTS: 'us=3,eu=1' });
    const words = router.stderr();
    expect(words).toContain(`routes on 127.0.0.1, port ${router.port}\n`);
    expect(words).toContain('us       http://us.localhost, reached at http://127.0.0.1:');
    expect(words).toContain('spread by weight: us 3, eu 1');
    const key = 'a'.repeat(31);
    const path = `/api/v1/secret/${key}?canary-query=1`;
    const headers = { Authorization: `Basic ${btoa('canary@example.org:canary-token')}` };
    const refused = await sendOnce(
      router.port,
      requestBytes({ method: 'POST', path, headers, body: 'canary-value' }),
    );
    expect(refused.status).toBe(503);
    expect(refused.body).not.toContain('canary');
    router.kill('SIGTERM');
    expect(await router.exited).toEqual({ code: 0, signal: null });
    const written = router.stdout() + router.stderr();
    const events = router
      .stdout()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).event);
    expect(events).toEqual(['region_lost', 'region_lost', 'started', 'stopping', 'stopped']);
    expect(router.stdout()).toContain('"event":"region_lost","region":"us"');
    for (const secret of ['canary', key, btoa('canary@example.org')]) expect(written).not.toContain(secret);
    expect([...new Bun.Glob('**').scanSync({ cwd: router.dataDir })]).toEqual([]);
  });

  it('counts its answers by region and status on the internal port, and nothing there is on its own', async () => {
    const port = await freePort();
    await using router = await startRouter({ MAYFLY_INTERNAL_PORT: String(port) });
    const get = (path: string) => requestBytes({ method: 'GET', path });
    await sendOnce(router.port, get(`/api/v1/private/${'c'.repeat(31)}`));
    await sendOnce(router.port, get('/api/v1/status'));
    const { body } = await sendOnce(port, get('/metrics'));
    expect(body).toContain('mayfly_router_answers_total{region="us",status="503"} 1');
    expect(body).toContain('mayfly_router_answers_total{region="none",status="503"} 1');
    expect(body).toContain('mayfly_router_region_up{region="eu"} 0');
    expect(body).not.toContain('ccc');
    expect((await sendOnce(port, get('/ask?domain=secrets.example.com'))).status).toBe(404);
    expect((await sendOnce(router.port, get('/metrics'))).status).toBe(503);
    const { code, err } = await mayfly(['router'], {
      ...{ MAYFLY_REGIONS: regions, PORT: String(await freePort()) },
      MAYFLY_INTERNAL_PORT: String(port),
    });
    expect([code, err]).toEqual([
      1,
      `The router does not start. Port ${port} of MAYFLY_INTERNAL_PORT is in use on 127.0.0.1: stop what listens there, or choose another.\n`,
    ]);
  });

  it('shows a page, in the reader’s language, where a link leads to a region that is lost, without a script or a key in it', async () => {
    await using router = await startRouter();
    const key = 'b'.repeat(31);
    const ask = (path: string) =>
      sendOnce(router.port, requestBytes({ method: 'GET', path, headers: { 'Accept-Language': 'en' } }));
    const page = await ask(`/secret/${key}`);
    expect([page.status, page.headers.get('retry-after')]).toEqual([503, '5']);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(page.body).toContain('This link belongs to the region us');
    expect(page.body).not.toContain('<script');
    expect(page.body).not.toContain(key);
    expect((await ask('/')).body).toContain('None of our regions can be reached');
  });
});
