/**
 * Whatever someone registers or publishes, the service talks only to its resolver.
 *
 * The product runs as a separate process under an observer of every connection, datagram and look-up; loopback
 * listeners wait where the names and the answers point.
 */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { freePort, repositoryRoot, type StartedServer, startServer } from '../support/started-server.ts';
import { type DomainClient, openDomainClient } from './client.ts';
import { type NameServer, openNameServer, type Records } from './name-server.ts';
import { buildObserver, type Observer } from './observer.ts';
import { addressesInDisguise, namesOfNobody, textsAroundNames } from './ssrf-corpus.ts';

const target = 'in.mayfly.example.com';

let observer: Observer;
let names: NameServer;
let listener: Server;
let listenerPort = 0;
const visits: string[] = [];
let server: StartedServer;
/** The address that it listens on is also looked up. */
let notedAtStart = 0;
let client: DomainClient;

beforeAll(async () => {
  observer = await buildObserver();
  names = await openNameServer({ [target]: { a: ['192.0.2.10'] } });
  listenerPort = await freePort();
  listener = createServer((socket) => {
    visits.push(socket.remoteAddress ?? 'somebody');
    socket.destroy();
  });
  await new Promise<void>((listening) => listener.listen(listenerPort, '127.0.0.1', listening));
  server = await startServer({
    env: {
      ...observer.variables('product'),
      MAYFLY_BASE_URL: 'https://mayfly.example.com',
      MAYFLY_DOMAIN_TARGET: target,
      MAYFLY_DNS_SERVERS: names.address,
    },
  });
  notedAtStart = observer.noted('product').length;
  client = await openDomainClient(server, 'alice@example.com');
}, 60_000);
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await new Promise((closed) => listener.close(closed));
  await names[Symbol.asyncDispose]();
  await observer[Symbol.asyncDispose]();
});

/** Records that try to lure the service to an internal machine. */
const lures: Readonly<Record<string, () => Records>> = {
  'an address of loopback': () => ({ a: ['127.0.0.1'], aaaa: ['::1'] }),
  'the address of a cloud’s metadata': () => ({ a: ['169.254.169.254'], aaaa: ['fd00:ec2::254'] }),
  'an address of a private network': () => ({ a: ['10.0.0.1', '192.168.0.1'] }),
  'a mapped address of loopback': () => ({ aaaa: ['::ffff:127.0.0.1'] }),
  'the address of everything': () => ({ a: ['0.0.0.0'] }),
  'an alias to localhost': () => ({ cname: 'localhost' }),
  'an alias to a metadata host': () => ({ cname: 'metadata.google.internal' }),
  'an alias to an address': () => ({ cname: '127.0.0.1' }),
  'an alias to the resolver’s own address': () => ({ cname: names.address.replace(':', '.') }),
  'our target beside loopback': () => ({ a: ['192.0.2.10', '127.0.0.1'] }),
};

describe('a domain that points inside', () => {
  it('is refused when its name does already, before anybody is asked', async () => {
    const before = names.questions.length;
    const corpus = [
      ...addressesInDisguise,
      ...namesOfNobody,
      ...textsAroundNames,
      `127.0.0.1:${listenerPort}`,
      `http://127.0.0.1:${listenerPort}/`,
      `user@127.0.0.1:${listenerPort}`,
      `localhost:${listenerPort}`,
    ];
    expect(corpus.length).toBeGreaterThan(60);
    for (const domain of corpus) {
      const { status, body } = await client.call('/domains', { domain });
      expect([domain, status, body.message]).toEqual([
        domain,
        422,
        expect.stringContaining('Not a valid public domain'),
      ]);
      // Names in a path are not looked up either; a single dot makes it a different path.
      const asked = await client.call(`/domains/${encodeURIComponent(domain)}/verify`, {});
      expect([domain, asked.status]).toEqual([domain, domain === '.' ? 405 : 404]);
    }
    expect(names.questions.length).toBe(before);
  }, 60_000);

  for (const [lure, records] of Object.entries(lures)) {
    it(`stays unverified when its answers are ${lure}`, async () => {
      const domain = `x${Object.keys(lures).indexOf(lure)}.example.org`;
      const { txt_validation_host: host, txt_validation_value: value } = await client.add(domain);
      names.set(host ?? '', { txt: [value ?? ''] });
      names.set(domain, records());
      expect(await client.verify(domain)).toEqual(['pending', 'not_pointing']);
      expect((await client.call(`/domains/${domain}`)).status).toBe(200);
    });
  }

  it('is never connected to: the process spoke to its resolver, and asked the system about no name', async () => {
    expect(names.questions.map(({ name }) => name)).toContain('localhost');
    expect(visits).toEqual([]);
    const noted = observer.noted('product').slice(notedAtStart);
    expect([...new Set(noted)]).toEqual([`to 127.0.0.1 ${names.port}`]);
  });

  it('self-test: the observer misses no way of speaking to somebody that the runtime has', async () => {
    const child = Bun.spawn([process.execPath, join('test', 'domains', 'talkative.ts')], {
      cwd: repositoryRoot,
      env: { ...process.env, ...observer.variables('talkative') },
    });
    expect(await child.exited).toBe(0);
    expect(observer.noted('talkative')).toEqual(
      expect.arrayContaining([
        'lookup looked-up.invalid',
        ...['to 127.0.0.1 1001', 'to ::1 1002', 'to 127.0.0.1 1003'],
        ...['to 127.0.0.1 1004', 'to 127.0.0.1 1005', 'to 127.0.0.1 1006'],
      ]),
    );
  });

  it('self-test: the listener sees a visit', async () => {
    await fetch(`http://127.0.0.1:${listenerPort}/`).catch(() => {});
    expect(visits).toHaveLength(1);
  });
});
