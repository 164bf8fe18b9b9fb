/** A TCP connection between two programs that a test can stall, cut and point elsewhere. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface TcpLink extends AsyncDisposable {
  /** Where it listens, on 127.0.0.1. */
  readonly port: number;
  /** From now on nothing arrives, in either direction. The connections stay open, and new ones are accepted. */
  stall(): void;
  /** Delivers what was held, and everything after it. */
  resume(): void;
  /** Ends every connection. What was held never arrives. */
  cut(): void;
  /** Those that are open stay so and hear nothing any more, as if the other side had lost its power. New ones work. */
  lose(): void;
  /** New connections lead to this port; those that are open are cut. */
  pointTo(port: number): void;
}

export async function openTcpLink(port: number): Promise<TcpLink> {
  let target = port;
  let isStalled = false;
  const ends = new Set<{ deliver: () => void; destroy: () => void; lose: () => void }>();

  /** One direction. Bytes are held here and not in the sockets, where they would still arrive after a server's end. */
  const pass = (from: Socket, to: Socket, isHeld: () => boolean) => {
    let held: Buffer[] = [];
    let hasEnded = false;
    const deliver = () => {
      if (isHeld()) return;
      for (const bytes of held) to.write(bytes);
      held = [];
      if (hasEnded) to.end();
    };
    from.on('data', (bytes: Buffer) => {
      held.push(bytes);
      deliver();
    });
    from.on('end', () => {
      hasEnded = true;
      deliver();
    });
    return deliver;
  };

  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect({ port: target, host: '127.0.0.1', allowHalfOpen: true });
    let isLost = false;
    const isHeld = () => isStalled || isLost;
    const forth = pass(client, upstream, isHeld);
    const back = pass(upstream, client, isHeld);
    const end = {
      deliver: () => {
        forth();
        back();
      },
      destroy: () => {
        ends.delete(end);
        client.destroy();
        upstream.destroy();
      },
      lose: () => {
        isLost = true;
      },
    };
    ends.add(end);
    for (const socket of [client, upstream]) {
      socket.setNoDelay(true);
      socket.on('error', end.destroy);
    }
    // A side that is gone for good ends the other, except that a stalled link keeps that to itself.
    for (const socket of [client, upstream]) socket.on('close', () => (isHeld() ? undefined : end.destroy()));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const cut = () => {
    for (const end of [...ends]) end.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    stall() {
      isStalled = true;
    },
    resume() {
      isStalled = false;
      for (const end of ends) end.deliver();
    },
    cut,
    lose() {
      for (const end of ends) end.lose();
    },
    pointTo(next) {
      target = next;
      cut();
    },
    async [Symbol.asyncDispose]() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
