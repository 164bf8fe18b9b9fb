/** Talks to loopback in every way the runtime offers: the process that the observer must not miss. */
import { createSocket } from 'node:dgram';
import { lookup, Resolver } from 'node:dns/promises';
import { connect } from 'node:net';

const nobodyThere = () => {};

await fetch('http://127.0.0.1:1001/').catch(nobodyThere);
await fetch('http://[::1]:1002/').catch(nobodyThere);
await Bun.connect({ hostname: '127.0.0.1', port: 1003, socket: { data: nobodyThere } }).catch(nobodyThere);
await new Promise<void>((done) => void connect(1004, '127.0.0.1').once('error', () => done()));
await new Promise<void>((done) => {
  const socket = createSocket('udp4');
  socket.send('x', 1005, '127.0.0.1', () => socket.close(() => done()));
});
await lookup('looked-up.invalid').catch(nobodyThere);
const resolver = new Resolver({ timeout: 50, tries: 1 });
resolver.setServers(['127.0.0.1:1006']);
await resolver.resolve4('asked.invalid').catch(nobodyThere);
