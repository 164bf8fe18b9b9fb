/** Whom the driver tells the password as it is: a server that it meets over TLS, and what listens on this machine. */
import { describe, expect, it } from 'bun:test';
import { openConnection } from '../../../src/store/postgres/connection.ts';

const password = 'canary-4f2a9c';
/** AuthenticationCleartextPassword (PostgreSQL's protocol, "Message Formats"). */
const asksForIt = Uint8Array.of(0x52, 0, 0, 0, 8, 0, 0, 0, 3);
/** ErrorResponse: FATAL, invalid_password. */
const refuses = Buffer.concat([Buffer.of(0x45, 0, 0, 0, 18), Buffer.from('SFATAL\0C28P01\0\0', 'latin1')]);

/** What a client tells a server that asks for its password as it is. */
async function toldTo(host: string) {
  const heard: Buffer[] = [];
  using server = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      data(socket, bytes) {
        heard.push(Buffer.from(bytes));
        socket.write(heard.length === 1 ? asksForIt : refuses);
      },
    },
  });
  const url = `postgres://mayfly:${password}@${host}:${server.port}/mayfly`;
  const error = await openConnection({ url, tls: false }).then(
    () => null,
    (reason: unknown) => String(reason),
  );
  server.stop(true);
  return { error, isTold: Buffer.concat(heard).includes(password), trips: heard.length };
}

describe('a password that is asked for as it is, without TLS', () => {
  it('is told on the loopback', async () => {
    expect(await toldTo('127.0.0.1')).toMatchObject({ isTold: true, trips: 2 });
  });

  it('is told to no other host', async () => {
    // Leads to this machine, and is no name of it.
    const { error, isTold, trips } = await toldTo('0.0.0.0');
    expect({ isTold, trips }).toEqual({ isTold: false, trips: 1 });
    expect(error).toContain('PostgreSQL asks for the password without encryption.');
  });
});
