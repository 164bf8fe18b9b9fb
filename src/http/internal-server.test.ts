import { describe, expect, it } from 'bun:test';
import { ServiceError } from '../core/errors.ts';
import { openMetrics } from '../ops/metrics.ts';
import { createInternalFetch, type InternalServerDeps, startInternalServer } from './internal-server.ts';

const verified = 'secrets.example.com';

function depsOf(changes: Partial<InternalServerDeps> = {}) {
  const asked: string[] = [];
  const faults: unknown[] = [];
  const deps: InternalServerDeps = {
    metrics: { render: async () => '' },
    isVerified: async (name) => {
      asked.push(name);
      return name === verified;
    },
    onFault: (error) => void faults.push(error),
    ...changes,
  };
  return { deps, asked, faults };
}

type Answer = (request: Request) => Promise<Response>;

const at = (path: string, method = 'GET') => new Request(`http://127.0.0.1:9090${path}`, { method });

const refusedQuestions: readonly string[] = [
  '/ask',
  '/ask?domain=',
  '/ask?domain=other.example.com',
  `/ask?domain=sub.${verified}`,
  `/ask?domain=${verified}.`,
  `/ask?domain=.${verified}`,
  `/ask?domain=*.${verified.slice(verified.indexOf('.') + 1)}`,
  `/ask?domain=${verified}:443`,
  `/ask?domain=https://${verified}/`,
  `/ask?domain=user@${verified}`,
  `/ask?domain=%20${verified}`,
  `/ask?domain=${verified}%00`,
  `/ask?domain=${verified}%0d%0aX-Echo:%201`,
  '/ask?domain=localhost',
  '/ask?domain=127.0.0.1',
  '/ask?domain=[::1]',
  '/ask?domain=::1',
  '/ask?domain=2130706433',
  '/ask?domain=b%C3%BCcher.example',
  '/ask?domain=-a.example',
  `/ask?domain=${'a'.repeat(64)}.example`,
  `/ask?domain=${'a.'.repeat(130)}example`,
  `/ask?domain=${verified}&domain=other.example.com`,
  `/ask?name=${verified}`,
];

describe('the internal port, by a name that somebody may have pointed at it', () => {
  it('answers nothing, and answers by an address, localhost, and the names of a network of one’s own', async () => {
    const answer = createInternalFetch(depsOf().deps);
    const statusAt = async (host: string) =>
      (await answer(new Request(`http://${host}:9090/metrics`))).status;
    const refused = [
      'evil.example',
      'localhost.evil.example',
      '127.0.0.1.evil.example',
      'a.b',
      'svc.example',
    ];
    for (const host of refused) expect([host, await statusAt(host)]).toEqual([host, 421]);
    const taken = [
      '127.0.0.1',
      '10.1.2.3',
      '[::1]',
      'localhost',
      'mayfly',
      'mayfly.prod.svc',
      'a.b.svc.cluster.local',
    ];
    const named = createInternalFetch(depsOf().deps, 'Metrics.example.com');
    expect((await named(new Request('http://metrics.example.com:9090/metrics'))).status).toBe(200);
    for (const host of taken) expect([host, await statusAt(host)]).toEqual([host, 200]);
  });
});

/** The questions that did not get a bare 404. */
async function misanswered(answer: Answer): Promise<string[]> {
  const wrong: string[] = [];
  for (const path of refusedQuestions) {
    const response = await answer(at(path));
    const said = JSON.stringify([...response.headers]) + (await response.text());
    const isEcho = /example|localhost|127\.0|X-Echo/i.test(said);
    if (response.status !== 404 || isEcho || response.body !== null) wrong.push(path);
  }
  return wrong;
}

describe('the question before a certificate', () => {
  it('is answered 200 for a verified share domain, in any case of its letters, to GET and HEAD', async () => {
    const { deps, asked } = depsOf();
    const answer = createInternalFetch(deps);
    for (const request of [
      at(`/ask?domain=${verified}`),
      at(`/ask?domain=${verified}`, 'HEAD'),
      at('/ask?domain=Secrets.EXAMPLE.com'),
    ]) {
      const response = await answer(request);
      expect([response.status, await response.text()]).toEqual([200, '']);
    }
    expect(new Set(asked)).toEqual(new Set([verified]));
  });

  it('is answered 404, without a word, for every other name and everything that is none', async () => {
    const { deps, faults } = depsOf();
    expect(await misanswered(createInternalFetch(deps))).toEqual([]);
    expect(faults).toEqual([]);
  });

  it('self-test: saying yes to all, finding names in the question and echoing it are noticed', async () => {
    const yes: Answer = async () => new Response(null, { status: 200 });
    expect(await misanswered(yes)).toEqual([...refusedQuestions]);
    const loose: Answer = async ({ url }) =>
      new Response(null, { status: url.includes(verified) ? 200 : 404 });
    expect((await misanswered(loose)).length).toBeGreaterThan(5);
    const echo: Answer = async ({ url }) => new Response(`${url} is not served`, { status: 404 });
    expect((await misanswered(echo)).length).toBe(refusedQuestions.length);
  });

  it('asks the store nothing about what is no name', async () => {
    const { deps, asked } = depsOf();
    const answer = createInternalFetch(deps);
    for (const path of ['/ask', '/ask?domain=127.0.0.1', '/ask?domain=localhost', `/ask?domain=${verified}.`])
      await answer(at(path));
    expect(asked).toEqual([]);
  });

  it('is answered 503 while the store does not answer, and never 200', async () => {
    const down = depsOf({ isVerified: () => Promise.reject(new ServiceError('unavailable', 'no store')) });
    const response = await createInternalFetch(down.deps)(at(`/ask?domain=${verified}`));
    expect([response.status, await response.text(), down.faults]).toEqual([503, '', []]);
    const broken = depsOf({ isVerified: () => Promise.reject(new TypeError('a defect')) });
    expect((await createInternalFetch(broken.deps)(at(`/ask?domain=${verified}`))).status).toBe(503);
    expect(broken.faults).toHaveLength(1);
  });
});

describe('the internal port', () => {
  it('shows the counters at /metrics and answers nothing else but questions', async () => {
    const { deps } = depsOf({ metrics: await openMetrics() });
    const server = await startInternalServer({ hostname: '127.0.0.1', port: 0 }, deps);
    if (server.outcome === 'refused') throw new Error(server.problem);
    const ask = async (path: string, method = 'GET') =>
      (await fetch(`http://127.0.0.1:${server.port}${path}`, { method })).status;
    try {
      const shown = await fetch(`http://127.0.0.1:${server.port}/metrics`);
      expect(shown.headers.get('content-type')).toContain('text/plain; version=0.0.4');
      expect(await shown.text()).toContain('mayfly_revealed_total 0');
      expect([await ask(`/ask?domain=${verified}`), await ask(`/ask?domain=${verified}`, 'HEAD')]).toEqual([
        200, 200,
      ]);
      const others = ['/', '/ask/', '/metrics/', '/healthz', '/api/v2/status', '//ask', '/Ask'];
      expect(await Promise.all(others.map((path) => ask(path)))).toEqual(others.map(() => 404));
      expect([await ask('/ask', 'POST'), await ask('/metrics', 'DELETE')]).toEqual([405, 405]);
    } finally {
      await server.stop();
    }
  });

  it('that is taken, or on an address of another machine, is refused by its setting', async () => {
    const { deps } = depsOf();
    const first = await startInternalServer({ hostname: '127.0.0.1', port: 0 }, deps);
    if (first.outcome === 'refused') throw new Error(first.problem);
    const second = await startInternalServer({ hostname: '127.0.0.1', port: first.port }, deps);
    await first.stop();
    expect(second.outcome === 'refused' && second.problem).toBe(
      `Port ${first.port} of MAYFLY_INTERNAL_PORT is in use on 127.0.0.1: stop what listens there, or choose another.`,
    );
    const elsewhere = await startInternalServer({ hostname: '203.0.113.1', port: 0 }, deps);
    expect(elsewhere.outcome === 'refused' && elsewhere.problem).toContain(
      '203.0.113.1 of MAYFLY_INTERNAL_HOST',
    );
  });
});
