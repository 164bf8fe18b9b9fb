/** How a call ends early, and which calls are repeated. */
import { describe, expect, it } from 'bun:test';
import { getEventListeners } from 'node:events';
import { createDomainClient } from '../../sdk/domains.ts';
import { createClient, type Fetch, newLook } from '../../sdk/mayfly.ts';
import vectors from '../vectors/requests.json';
import { failure } from './observed.ts';

const key = 'abcdefghijklmnopqrstuvwxyz01234';
const server = 'https://x.example';
const revealed = { success: true, record: { key, secret_value: 'open sesame' } };
const waiting = {
  success: true,
  record: { key, has_passphrase: false, secret_ttl: 60, created: 1_790_000_000 },
};

/** The clients of all entries, with made-up answers; counts their requests. */
function scripted(answer: (nth: number) => Response | Promise<Response>, retries?: number) {
  let count = 0;
  const fetch: Fetch = async () => {
    count += 1;
    return answer(count);
  };
  const options = { server, fetch, ...(retries === undefined ? {} : { retries }) };
  return { client: createClient(options), domains: createDomainClient(options), count: () => count };
}

function busy(status: number, headers: Record<string, string>): Response {
  const error = status === 429 ? 'rate_limited' : 'unavailable';
  return Response.json({ success: false, error, message: 'Later.' }, { status, headers });
}

const [request] = vectors.cases;
const askLink = `https://x.example/ask/${key}#${request?.ask_end}`;
const answersLink = `https://x.example/answers/${key}#${request?.answers_end}`;

describe('a call that ends early', () => {
  it('is aborted by its signal while the server thinks, and says why', async () => {
    const controller = new AbortController();
    const reason = new Error('changed my mind');
    await using hanging = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: () => {
        controller.abort(reason);
        return new Promise<Response>(() => {});
      },
    });
    const client = createClient({ server: `http://127.0.0.1:${hanging.port}` });
    const error = await failure(client.generate({ signal: controller.signal }));
    expect(error).toMatchObject({ code: 'aborted', status: null, cause: reason });
  });

  it('sends nothing if its signal was aborted before', async () => {
    const { client, domains, count } = scripted(() => Response.json(waiting));
    const options = { signal: AbortSignal.abort() };
    const calls = [
      client.conceal({ value: 'x', ...options }),
      client.generate(options),
      client.batch([{ value: 'x' }], options),
      client.reveal(key, options),
      client.sendCode(key, newLook(), options),
      client.done(key, newLook(), options),
      client.inspect(key, options),
      client.status(key, options),
      client.note(key, options),
      client.receipt(key, options),
      client.burnUnread(key, options),
      client.burn(key, options),
      client.setMemo(key, 'x', options),
      client.setTtl(key, 60, options),
      client.allowMore(key, options),
      client.deliver(key, options),
      client.recent(options).next(),
      client.statuses([key], options),
      client.ask({ prompt: 'x', ...options }),
      client.inspectRequest(askLink, options),
      client.answer(askLink, { value: 'x', ...options }),
      client.reportRequest(askLink, options),
      client.answers(answersLink, options),
      client.watchAnswers(answersLink, options).next(),
      client.changeRequest(answersLink, { close: true }, options),
      client.discardAnswer(answersLink, key, options),
      client.account(options),
      client.serviceStatus(options),
      client.version(options),
      client.locales(options),
      domains.list(options),
      domains.add('x.example', options),
      domains.find('x.example', options),
      domains.verify('x.example', options),
      domains.remove('x.example', options),
      domains.setBrand('x.example', {}, options),
      domains.setLogo('x.example', null, options),
      domains.setLogo('x.example', new Blob(), options),
    ];
    const methods = [client, domains].flatMap((each) => Object.keys(each));
    expect(calls).toHaveLength(methods.length + 1);
    const codes = await Promise.all(calls.map(async (call) => (await failure(call)).code));
    expect([codes, count()]).toEqual([calls.map(() => 'aborted'), 0]);
  });

  it('ends at its own time limit, which may be shorter than that of the client', async () => {
    await using hanging = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: () => new Promise<Response>(() => {}),
    });
    const client = createClient({ server: `http://127.0.0.1:${hanging.port}` });
    expect(await failure(client.status(key, { timeoutMs: 20 }))).toMatchObject({
      code: 'timed_out',
      status: null,
    });
    // Longer than any timer takes: that must not mean at once.
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 20);
    const patient = client.status(key, { timeoutMs: Number.POSITIVE_INFINITY, signal: controller.signal });
    expect((await failure(patient)).code).toBe('aborted');
  });

  it('leaves nothing on a signal that lives longer', async () => {
    const { signal } = new AbortController();
    const { client } = scripted(() => Response.json(waiting));
    for (let calls = 0; calls < 3; calls += 1) await client.status(key, { signal });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('loses no answer that arrived before', async () => {
    const revealOf = (answer: Response) => {
      const controller = new AbortController();
      const { client } = scripted(() => {
        controller.abort();
        return answer;
      });
      return client.reveal(key, { signal: controller.signal });
    };
    expect((await revealOf(Response.json(revealed))).value).toBe('open sesame');
    const gone = { success: false, error: 'unknown_secret', message: 'Unknown secret' };
    expect((await failure(revealOf(Response.json(gone, { status: 404 })))).code).toBe('unknown_secret');
  });
});

describe('repeating', () => {
  type Clients = Pick<ReturnType<typeof scripted>, 'client' | 'domains'>;
  type Calls = Readonly<Record<string, (clients: Clients) => Promise<unknown>>>;
  const reads: Calls = {
    status: ({ client }) => client.status(key),
    statuses: ({ client }) => client.statuses([key]),
    note: ({ client }) => client.note(key),
    receipt: ({ client }) => client.receipt(key),
    recent: ({ client }) => client.recent().next(),
    inspectRequest: ({ client }) => client.inspectRequest(askLink),
    'answer, which begins with a look': ({ client }) => client.answer(askLink, { value: 'x' }),
    answers: ({ client }) => client.answers(answersLink),
    account: ({ client }) => client.account(),
    serviceStatus: ({ client }) => client.serviceStatus(),
    version: ({ client }) => client.version(),
    locales: ({ client }) => client.locales(),
    'list of domains': ({ domains }) => domains.list(),
    'find of domains': ({ domains }) => domains.find('x.example'),
  };
  const others: Calls = {
    conceal: ({ client }) => client.conceal({ value: 'x' }),
    generate: ({ client }) => client.generate(),
    batch: ({ client }) => client.batch([{ value: 'x' }]),
    reveal: ({ client }) => client.reveal(key, { strictlyOnce: true }),
    sendCode: ({ client }) => client.sendCode(key, newLook()),
    done: ({ client }) => client.done(key, newLook()),
    inspect: ({ client }) => client.inspect(key),
    burnUnread: ({ client }) => client.burnUnread(key),
    burn: ({ client }) => client.burn(key),
    setMemo: ({ client }) => client.setMemo(key, 'x'),
    setTtl: ({ client }) => client.setTtl(key, 60),
    allowMore: ({ client }) => client.allowMore(key),
    deliver: ({ client }) => client.deliver(key),
    ask: ({ client }) => client.ask({ prompt: 'x' }),
    reportRequest: ({ client }) => client.reportRequest(askLink),
    changeRequest: ({ client }) => client.changeRequest(answersLink, { answers: 2 }),
    discardAnswer: ({ client }) => client.discardAnswer(answersLink, key),
    'add of domains': ({ domains }) => domains.add('x.example'),
    'verify of domains': ({ domains }) => domains.verify('x.example'),
    'remove of domains': ({ domains }) => domains.remove('x.example'),
    'setBrand of domains': ({ domains }) => domains.setBrand('x.example', {}),
    'setLogo of domains': ({ domains }) => domains.setLogo('x.example', null),
  };

  it('is decided for every method', () => {
    const { client, domains } = scripted(() => busy(503, {}));
    const methods = [client, domains].flatMap((each) => Object.keys(each));
    // asking.test.ts has the pace of watchAnswers.
    expect(Object.keys({ ...reads, ...others, watchAnswers: 0 })).toHaveLength(methods.length);
  });

  for (const [name, call] of Object.entries(reads)) {
    it(`${name} is tried again as often as the client allows, and not at all by default`, async () => {
      for (const [retries, tries] of [
        [undefined, 1],
        [0, 1],
        [2, 3],
      ] as const) {
        const clients = scripted(() => busy(503, { 'Retry-After': '0' }), retries);
        expect(await failure(call(clients))).toMatchObject({ code: 'unavailable', retryAfterSeconds: 0 });
        expect(clients.count()).toBe(tries);
      }
    });
  }

  for (const [name, call] of Object.entries(others)) {
    it(`${name} is never sent twice, because it may have changed something (P1)`, async () => {
      for (const answer of [
        () => busy(503, { 'Retry-After': '0' }),
        () => busy(429, { 'Retry-After': '0' }),
        () => Promise.reject(new TypeError('the connection was lost')),
      ]) {
        const clients = scripted(answer, 5);
        await failure(call(clients));
        expect(clients.count()).toBe(1);
      }
    });
  }

  it('goes on after a lost connection, and ends with the first answer', async () => {
    const { client, count } = scripted((nth) => {
      if (nth === 1) throw new TypeError('the connection was lost');
      return nth === 2 ? busy(429, { 'Retry-After': '0' }) : Response.json(waiting);
    }, 5);
    expect((await client.status(key))?.secretKey).toBe(key);
    expect(count()).toBe(3);
  });

  it('does not happen without a waiting time, with one beyond the time limit, or after another refusal', async () => {
    for (const answer of [
      () => busy(503, {}),
      () => busy(503, { 'Retry-After': '31' }),
      () => busy(429, { 'Retry-After': '3600' }),
      () => busy(500, { 'Retry-After': '0' }),
      () => new Response('<html>', { headers: { 'Retry-After': '0' } }),
    ]) {
      const { client, count } = scripted(answer, 5);
      await failure(client.status(key));
      expect(count()).toBe(1);
    }
  });

  it('ends with the signal, also between two tries', async () => {
    const controller = new AbortController();
    const { client, count } = scripted(() => {
      const answer = busy(503, { 'Retry-After': '29' });
      // Read at once, so that the signal comes during the wait.
      Object.defineProperty(answer, 'text', { value: async () => '' });
      setTimeout(() => controller.abort(), 0);
      return answer;
    }, 5);
    const { code } = await failure(client.status(key, { signal: controller.signal }));
    expect([code, count()]).toEqual(['aborted', 1]);
  });

  it('is bounded', () => {
    for (const retries of [-1, 6, 1.5, Number.NaN])
      expect(() => createClient({ server, retries })).toThrow(RangeError);
  });
});
