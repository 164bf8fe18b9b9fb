/** The shipped apache.conf in front of a started Mayfly; what every proxy has to do (P1, P18, P22) is in proxy-checks.ts. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { watch } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { apache } from './proxies.ts';
import { type Change, openBadServer, openClient, site, until } from './proxy.ts';
import { checkProxy } from './proxy-checks.ts';

setDefaultTimeout(60_000);

const ownLog = 'CustomLog /var/log/apache2/mayfly.log mayfly';
const noErrors = 'ErrorLog /dev/null';
const way = 'RequestHeader set X-Forwarded-For "expr=%{REMOTE_ADDR}"';
const emptied = ['X-Forwarded-Host', 'X-Forwarded-Port', 'X-Forwarded-Prefix', 'X-Forwarded-Proto'].map(
  (name): Change => [`RequestHeader unset ${name}`, ''],
);
const upstream = 'http://127.0.0.1:3000/';
const one = 'KeepAlive Off';

checkProxy({
  ...apache,
  addressFromHeader: [
    [noErrors, `${noErrors}\n\tRemoteIPHeader X-Test-Address\n\tRemoteIPInternalProxy 127.0.0.0/8`],
  ],
  abbreviated: ['2001:0:0:1234:5:6:7:8', '2001::'],
  once: { servers: [1], before: [0] },
  brokenOverHttp2: 500,
  hearsLeavers: false,
  unreadable: [400, 414],
  defects: {
    believesClients: [[way, ''], ...emptied],
    takesAnyLength: [['Redirect 413 /', '']],
    servesPlainHttp: [['Redirect 308 / https://secrets.example.com/', `ProxyPass / ${upstream}`]],
    compresses: [['SetEnv no-gzip 1', '']],
    ignoresLeavers: [],
    leaks: [
      { what: 'the usual access log', changes: [[ownLog, '# /var/log/apache2/mayfly.log']], finds: 'canary' },
      { what: 'an error log that others set', changes: [[noErrors, 'LogLevel info']], finds: 'canary' },
      { what: 'an error log for errors alone', changes: [[noErrors, 'LogLevel error']], finds: '.66' },
      {
        what: 'the method as it came',
        changes: [['%{mayfly_method}e %>s', '%m %>s']],
        finds: 'CANARY',
      },
      { what: 'the whole address', changes: [['"%{mayfly_client}e [', '"%a [']], finds: '.66' },
    ],
  },
});

/** Where Apache keeps what it does not keep in memory. */
const temporary = '/tmp';

/** How many files Apache makes for a body of 1 MB in chunks. */
async function filesForBody(changes: readonly Change[]): Promise<number> {
  await using server = await openBadServer();
  await using proxy = await apache.start({ servers: [server.address], changes });
  const made = new Set<string>();
  const last = `mayfly-last-${crypto.randomUUID()}`;
  const told = Promise.withResolvers<void>();
  const watcher = watch(temporary, (_event, name) => {
    if (name?.startsWith('modproxy.tmp')) made.add(name);
    if (name === last) told.resolve();
  });
  try {
    const client = await openClient(proxy.httpsPort);
    const head = `POST /page HTTP/1.1\r\nHost: ${site}\r\nTransfer-Encoding: chunked\r\n\r\n`;
    await client.write(`${head}f4240\r\n${'x'.repeat(1_000_000)}\r\n0\r\n\r\n`);
    await client.ended;
    expect(client.received()).toStartWith('HTTP/1.1 200');
    // A folder tells what happens in it in order.
    await writeFile(join(temporary, last), '');
    await told.promise;
    return made.size;
  } finally {
    watcher.close();
    await rm(join(temporary, last), { force: true });
  }
}

describe('apache.conf: temporary files', () => {
  test('a body is passed on without one', async () => {
    expect(await filesForBody([])).toBe(0);
  });

  test('self-test: a body that Apache collects first needs one', async () => {
    expect(await filesForBody([[one, `${one}\n\tSetEnv proxy-sendcl 1`]])).toBeGreaterThan(0);
  });
});

describe('apache.conf: one request for each connection over HTTP/1.1', () => {
  /** Sends a second request, whose server dies over it, on the same connection if there is one. */
  async function sendSecond(changes: readonly Change[]): Promise<string[]> {
    await using server = await openBadServer();
    await using proxy = await apache.start({ servers: [server.address], changes });
    const first = await openClient(proxy.httpsPort);
    await first.write(`GET /page HTTP/1.1\r\nHost: ${site}\r\n\r\n`);
    await until(
      () => first.hasEnded() || first.received().includes('</p>'),
      () => 'no page',
    );
    if (changes.length === 0) await first.ended;
    const client = first.hasEnded() ? await openClient(proxy.httpsPort) : first;
    const before = client.received().length;
    await client.write(`POST /dies HTTP/1.1\r\nHost: ${site}\r\nContent-Length: 5\r\n\r\nhello`);
    await client.ended;
    return [client.received().slice(before, before + 12), String(server.heads.length)];
  }

  test('a request whose server dies over it is answered, so that no browser sends it again (P1)', async () => {
    expect(await sendSecond([])).toEqual(['HTTP/1.1 502', '2']);
  });

  test('self-test: on a connection that had a request before, it gets no answer', async () => {
    expect(await sendSecond([[one, 'KeepAlive On']])).toEqual(['', '2']);
  });
});
