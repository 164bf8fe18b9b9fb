import { afterEach, describe, expect, it } from 'bun:test';
import { connect, type Socket } from 'node:net';
import { ListenError, type RunningServer, type ServerOptions, startServer } from './server.ts';

const running: RunningServer[] = [];

afterEach(async () => {
  for (const server of running.splice(0)) await server.stop(0);
});

async function start(
  fetch: ServerOptions['fetch'],
  given: Partial<ServerOptions> = {},
): Promise<RunningServer> {
  const server = await startServer({ fetch, hostname: '127.0.0.1', port: 0, onFault: () => {}, ...given });
  running.push(server);
  return server;
}

interface Line {
  readonly socket: Socket;
  /** Resolves with everything received once the text has arrived or the other side ends. */
  until(text: string): Promise<string>;
  readonly closed: Promise<string>;
}

function open(port: number): Line {
  const socket = connect(port, '127.0.0.1');
  let received = '';
  const wakers = new Set<() => void>();
  const closed = new Promise<string>((resolve) => {
    socket.on('close', () => resolve(received));
  });
  socket.on('error', () => {});
  socket.on('data', (data) => {
    received += data.toString('latin1');
    for (const wake of wakers) wake();
  });
  const until = (text: string) => {
    const come = new Promise<string>((resolve) => {
      const look = () => received.includes(text) && resolve(received);
      wakers.add(look);
      look();
    });
    return Promise.race([come, closed]);
  };
  return { socket, until, closed };
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

describe('startServer', () => {
  it('serves at the address it says', async () => {
    const server = await start(() => new Response('here'));
    expect(server.url).toBe(`http://127.0.0.1:${server.port}/`);
    expect(await (await fetch(server.url)).text()).toBe('here');
  });

  it("tells the handler the socket's address", async () => {
    const server = await start((request, peer) => new Response(peer.requestIP?.(request)?.address ?? 'none'));
    expect(await (await fetch(server.url)).text()).toBe('127.0.0.1');
  });

  it("refuses a port in use with a sentence and the system's code", async () => {
    const { port } = await start(() => new Response());
    const failure = await startServer({
      fetch: () => new Response(),
      hostname: '127.0.0.1',
      port,
      onFault: () => {},
    }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ListenError);
    expect(failure).toMatchObject({
      code: 'EADDRINUSE',
      message: `Port ${port} on 127.0.0.1 is in use: stop what listens there, or choose another port with PORT.`,
    });
  });

  it('answers what escapes a handler 500 without a detail, and reports it', async () => {
    const faults: unknown[] = [];
    const boom = new Error('row 7 of secrets');
    const fail = () => Promise.reject(boom);
    const server = await start(fail, { onFault: (error) => faults.push(error) });
    const answer = await fetch(server.url);
    expect([answer.status, await answer.text()]).toEqual([500, '{"message":"An unexpected error occurred"}']);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(faults).toEqual([boom]);
  });
});

describe('stop', () => {
  it('P23 lets a request in flight finish, and takes no new connection meanwhile', async () => {
    const arrived = Promise.withResolvers<void>();
    const finish = Promise.withResolvers<Response>();
    const server = await start(() => {
      arrived.resolve();
      return finish.promise;
    });
    const line = open(server.port);
    line.socket.write(get('/'));
    await arrived.promise;
    const stopped = server.stop(10_000);
    const late = open(server.port);
    late.socket.write(get('/late'));
    expect(await late.closed).toBe('');
    finish.resolve(new Response('done'));
    expect(await line.closed).toContain('done');
    expect(await stopped).toBe('finished');
  });

  it('P23 closes idle keep-alive connections at once', async () => {
    const server = await start(() => new Response('first'));
    const line = open(server.port);
    line.socket.write(get('/'));
    await line.until('first');
    const startedMs = performance.now();
    expect(await server.stop(10_000)).toBe('finished');
    await line.closed;
    expect(performance.now() - startedMs).toBeLessThan(2_000);
  });

  it('P23 cuts what is not finished after the grace', async () => {
    const arrived = Promise.withResolvers<void>();
    const server = await start(() => {
      arrived.resolve();
      return new Promise(() => {});
    });
    const line = open(server.port);
    line.socket.write(get('/'));
    await arrived.promise;
    expect(await server.stop(20)).toBe('cut');
    expect(await line.closed).toBe('');
  });

  it('P23 called again joins the first stop and cuts nothing', async () => {
    const arrived = Promise.withResolvers<void>();
    const finish = Promise.withResolvers<Response>();
    const server = await start(() => {
      arrived.resolve();
      return finish.promise;
    });
    const line = open(server.port);
    line.socket.write(get('/'));
    await arrived.promise;
    const both = [server.stop(10_000), server.stop(0)];
    // One timer turn: by now, an independent second stop would have cut the connection.
    await new Promise((resolve) => setTimeout(resolve, 1));
    finish.resolve(new Response('done'));
    expect(await Promise.all(both)).toEqual(['finished', 'finished']);
    expect(await line.closed).toContain('done');
    expect(await server.stop(0)).toBe('finished');
  });
});
