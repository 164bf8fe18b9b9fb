/**
 * What each shipped proxy has to do, and for each of these that a file which does not is noticed.
 *
 * Proves that a request is passed on once (P1) and ends with its client (P3), that no key, credential or whole address is
 * logged (P18), and that clients are counted by the address that the proxy saw (P22).
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { freePort, type StartedServer, startServer } from '../support/started-server.ts';
import { visit } from './curl.ts';
import { leaksIn, sendHostile } from './hostile.ts';
import {
  answerBy,
  type BadServer,
  type Change,
  openBadServer,
  openClient,
  type ShippedProxy,
  type StartedProxy,
  site,
  until,
  visitBy,
} from './proxy.ts';

type Changes = readonly Change[];

export interface Leak {
  readonly what: string;
  readonly changes: Changes;
  /** What its log then holds. */
  readonly finds: string;
}

export interface Checked extends ShippedProxy {
  /** Lets a test say in `X-Test-Address` where a request comes from. */
  readonly addressFromHeader: Changes;
  /** How many servers it knows and how many requests a connection takes before one; the usual ones when absent. */
  readonly once?: { readonly servers: readonly number[]; readonly before: readonly number[] };
  /** What a client gets over HTTP/2 whose server dies; 502 when absent. */
  readonly brokenOverHttp2?: number;
  /** `true` when absent: with what `ignoresLeavers` changes, it does not notice a client that leaves. */
  readonly hearsLeavers?: boolean;
  /** The statuses of requests that it logs without an address, because it could not read them. */
  readonly unreadable?: readonly number[];
  /** The address of which the proxy may log less than /56, and what it logs. */
  readonly abbreviated: readonly [address: string, logged: string];
  readonly defects: {
    readonly believesClients: Changes;
    /** Absent where `once` is narrower: the same check finds it in the other proxies. */
    readonly sendsAgain?: Changes;
    readonly takesAnyLength: Changes;
    readonly servesPlainHttp: Changes;
    readonly compresses: Changes;
    readonly ignoresLeavers: Changes;
    readonly leaks: readonly Leak[];
  };
}

interface Mayfly {
  readonly server: StartedServer;
  readonly address: string;
}

async function startMayfly(baseUrl: string): Promise<Mayfly> {
  const env = { MAYFLY_BASE_URL: baseUrl, MAYFLY_TRUSTED_PROXIES: '127.0.0.1' };
  const server = await startServer({ env });
  return { server, address: `127.0.0.1:${server.port}` };
}

const form = (fields: Readonly<Record<string, string>>) => new URLSearchParams(fields).toString();

interface Made {
  readonly secret_key: string;
  readonly metadata_key: string;
}

async function make(
  proxy: StartedProxy,
  fields: Readonly<Record<string, string>>,
  below = '',
): Promise<Made> {
  const answer = await answerBy(proxy, { path: `${below}/api/v1/share`, body: form(fields) });
  expect(answer.status).toBe(200);
  return JSON.parse(answer.body) as Made;
}

async function expectOneReader(proxy: StartedProxy, below = ''): Promise<Made> {
  const made = await make(proxy, { secret: 'through the proxy' }, below);
  const page = await answerBy(proxy, { path: `${below}/secret/${made.secret_key}` });
  expect([page.status, page.head]).toEqual([200, expect.stringContaining('content-type: text/html')]);
  expect(page.head).toContain('strict-transport-security: max-age=31536000');
  const read = { path: `${below}/api/v1/secret/${made.secret_key}`, method: 'POST' };
  expect(JSON.parse((await answerBy(proxy, read)).body)).toMatchObject({ value: 'through the proxy' });
  expect((await answerBy(proxy, read)).status).toBe(404);
  return made;
}

/** Per client and secret, in ten minutes. */
const guessesAllowed = 5;

/** The statuses of one more wrong guess than allowed, by one client that claims another address each time. */
async function guessAsOthers(proxy: StartedProxy): Promise<number[]> {
  const { secret_key } = await make(proxy, { secret: 'guarded', passphrase: 'right' });
  const statuses: number[] = [];
  for (let nth = 0; nth <= guessesAllowed; nth += 1) {
    const said = `198.51.${nth}.1`;
    const headers = { 'X-Forwarded-For': said, 'X-Real-IP': said, Forwarded: `for=${said}` };
    const guess = { path: `/api/v1/secret/${secret_key}`, from: '127.0.8.1', headers };
    statuses.push((await answerBy(proxy, { ...guess, body: 'passphrase=wrong' })).status);
  }
  return statuses;
}

const usedUp = [...new Array<number>(guessesAllowed).fill(404), 429];

/** What the server is told of the way that a request took. */
async function wayTold(proxy: StartedProxy, server: BadServer): Promise<string[]> {
  const forged = ['X-Forwarded-For', 'X-Forwarded-Host', 'X-Forwarded-Port', 'X-Forwarded-Prefix'];
  const more = ['X-Forwarded-Proto', 'X-Forwarded-Server', 'X-Real-IP', 'Forwarded'];
  const headers = Object.fromEntries([...forged, ...more].map((name) => [name, 'forged']));
  await answerBy(proxy, { path: '/page', from: '127.0.8.1', headers });
  const lines = (server.heads.at(-1) ?? '').toLowerCase().split('\r\n');
  return lines.filter((line) => /^(?:host|x-forwarded|x-real|forwarded)/.test(line)).sort();
}

const page = `GET /page HTTP/1.1\r\nHost: ${site}\r\n\r\n`;
const reveal = `POST /dies HTTP/1.1\r\nHost: ${site}\r\nContent-Length: 5\r\n\r\nhello`;

/** How often a request is sent whose server dies over it, after others on the same connection, and what the client gets. */
async function sendToDying(proxy: StartedProxy, servers: readonly BadServer[], before: number) {
  const client = await openClient(proxy.httpsPort);
  const answers = () => client.received().match(/HTTP\/1\.1 \d+/g) ?? [];
  for (const [at, bytes] of [...new Array<string>(before).fill(page), reveal].entries()) {
    await client.write(bytes);
    const isDone = () => answers().length > at || client.hasEnded();
    await until(isDone, () => `no answer to request ${at + 1}`);
    await until(
      () => at === before || client.received().split('</p>').length > at + 1,
      () => 'half a page',
    );
  }
  client.leave();
  const sent = servers.flatMap(({ heads }) => heads).filter((head) => head.startsWith('POST /dies'));
  return { sent: sent.length, answer: answers()[before] };
}

/** Whether a body that announces more than 10 MB is refused before the server hears of it. */
async function refusesLength(proxy: StartedProxy, server: BadServer): Promise<boolean> {
  const client = await openClient(proxy.httpsPort);
  const head = `POST /page HTTP/1.1\r\nHost: ${site}\r\nContent-Length: 10485761\r\n\r\n`;
  // More than a proxy collects before it asks the server.
  await client.write(head + 'x'.repeat(20_000));
  const isRefused = () => client.received().startsWith('HTTP/1.1 413');
  await until(
    () => isRefused() || server.heads.length > 0,
    () => `neither refused nor passed on: ${client.received()}`,
  );
  client.leave();
  return isRefused() && server.heads.length === 0;
}

async function encodingOf(proxy: StartedProxy): Promise<string> {
  const { head } = await answerBy(proxy, { path: '/page', headers: { 'Accept-Encoding': 'gzip' } });
  return /^content-encoding: (.*)$/m.exec(head)?.[1] ?? 'none';
}

/** Resolves when the server is rid of a request whose client has left. */
async function leave(proxy: StartedProxy, server: BadServer, isDone: () => boolean | Promise<boolean>) {
  const client = await openClient(proxy.httpsPort);
  await client.write(`POST /waits HTTP/1.1\r\nHost: ${site}\r\nContent-Length: 5\r\n\r\nhello`);
  await until(
    () => server.heads.length === 1,
    () => 'the request does not arrive',
  );
  client.leave();
  await client.ended;
  await until(isDone, () => 'the server still works for a client that has left');
}

/** What is logged for each address, with the host part cut. */
const cutAddresses: readonly (readonly [address: string, logged: string])[] = [
  ['203.0.113.77', '203.0.113.0'],
  ['2001:db8:1234:5678:9abc:def0:1:2', '2001:db8:1234:5600::'],
  ['2001:db8:1:fcd:1:2:3:4', '2001:db8:1:f00::'],
  ['2001:db8:1:ab:1:2:3:4', '2001:db8:1::'],
  ['2001:db8:1::77', '2001:db8:1::'],
  ['2001:db8::77', '2001:db8::'],
  ['fe80::77:1', 'fe80::'],
  ['::77', '::'],
];

const usualOnce = { servers: [1, 2], before: [0, 1, 3] };

export function checkProxy({ file, start, defects, once = usualOnce, ...ways }: Checked): void {
  const { hearsLeavers = true, brokenOverHttp2 = 502, unreadable = [] } = ways;
  let mayfly: Mayfly;
  let proxy: StartedProxy;

  beforeAll(async () => {
    mayfly = await startMayfly(`https://${site}`);
    proxy = await start({ servers: [mayfly.address] });
  });
  afterAll(async () => {
    await proxy?.[Symbol.asyncDispose]();
    await mayfly?.server[Symbol.asyncDispose]();
  });

  /** A proxy in front of misbehaving servers. */
  async function beforeBad<T>(
    changes: Changes,
    count: number,
    check: (proxy: StartedProxy, first: BadServer, all: readonly BadServer[]) => Promise<T>,
  ): Promise<T> {
    await using first = await openBadServer();
    await using second = await openBadServer();
    const all = [first, second].slice(0, count);
    await using bad = await start({ servers: all.map(({ address }) => address), changes });
    return await check(bad, first, all);
  }

  describe(`${file}: what passes through`, () => {
    test('a secret is shared and read once, over TLS', async () => {
      await expectOneReader(proxy);
    });

    test('plain HTTP only redirects to TLS', async () => {
      const visitPlainly = (at: StartedProxy) =>
        visit({ host: site, port: at.httpPort, path: '/secret/x?y=z', headers: { Host: site } });
      expect(await visitPlainly(proxy)).toMatchObject({
        status: 308,
        head: expect.stringContaining(`location: https://${site}/secret/x?y=z`),
      });
      await beforeBad(defects.servesPlainHttp, 1, async (bad) => {
        expect(await visitPlainly(bad)).toMatchObject({ status: 200 });
      });
    });

    test('below a path, Mayfly gets the whole path, and nothing outside it', async () => {
      const { server, address } = await startMayfly(`https://${site}/vault`);
      await using _ = server;
      await using below = await start({ servers: [address], changes: ways.belowVault });
      await expectOneReader(below, '/vault');
      expect((await answerBy(below, { path: '/healthz' })).body).not.toContain('ok');
    });

    test('guesses count by the address that the proxy saw, whatever a client says it is (P22)', async () => {
      expect(await guessAsOthers(proxy)).toEqual(usedUp);
    });

    test('self-test: a proxy that passes on what clients say lets them guess on', async () => {
      await using gullible = await start({ servers: [mayfly.address], changes: defects.believesClients });
      expect(await guessAsOthers(gullible)).not.toContain(429);
    });

    test('Host is passed on as it came, and of the way only the address that the proxy saw', async () => {
      await beforeBad([], 1, async (good, server) => {
        const told = [`host: ${site}:${good.httpsPort}`, 'x-forwarded-for: 127.0.8.1'];
        expect(await wayTold(good, server)).toEqual(told);
      });
      await beforeBad(defects.believesClients, 1, async (bad, server) => {
        expect(await wayTold(bad, server)).toContain('x-forwarded-for: forged');
      });
    });

    test('a body above the limit is refused by the proxy, one above its own by Mayfly, in its words', async () => {
      const headers = { 'Content-Type': 'application/json' };
      const body = 'x'.repeat(3_000_000);
      const refused = await answerBy(proxy, { path: '/api/v2/secret/conceal', headers, body });
      expect([refused.status, JSON.parse(refused.body)]).toMatchObject([413, { error: 'too_large' }]);
      expect(await beforeBad([], 1, refusesLength)).toBe(true);
    });

    test('self-test: a proxy without the limit is noticed', async () => {
      expect(await beforeBad(defects.takesAnyLength, 1, refusesLength)).toBe(false);
    });

    test('nothing is compressed on the way', async () => {
      expect(await beforeBad([], 1, encodingOf)).toBe('none');
      expect(await beforeBad(defects.compresses, 1, encodingOf)).toBe('gzip');
    });
  });

  describe(`${file}: once`, () => {
    for (const count of once.servers)
      for (const before of once.before)
        test(`a request whose server dies over it is not sent again: servers ${count}, requests before ${before} (P1)`, async () => {
          await beforeBad([], count, async (good, _first, servers) => {
            const { sent, answer } = await sendToDying(good, servers, before);
            expect([sent, answer]).toEqual([1, 'HTTP/1.1 502']);
          });
        });

    test('over HTTP/2 the client is told, instead of being asked to send it again', async () => {
      await beforeBad([], 1, async (good, { heads }) => {
        expect(await visitBy(good, { path: '/dies', body: 'hello' })).toMatchObject({
          status: brokenOverHttp2,
        });
        expect(heads).toHaveLength(1);
      });
    });

    const again = defects.sendsAgain;
    if (again !== undefined)
      test('self-test: a proxy that tries again is noticed', async () => {
        await beforeBad(again, 2, async (bad, _first, servers) => {
          expect((await sendToDying(bad, servers, 0)).sent).toBeGreaterThan(1);
        });
      });

    if (hearsLeavers)
      test('a client that leaves ends its request at Mayfly too (P3)', async () => {
        await beforeBad([], 1, (good, server) => leave(good, server, () => server.connections.closed === 1));
      });

    test(`${hearsLeavers ? 'self-test: a proxy that' : 'the proxy'} goes on without its client`, async () => {
      await beforeBad(defects.ignoresLeavers, 1, async (bad, server) => {
        // A later request is answered meanwhile.
        await leave(bad, server, async () => (await answerBy(bad, { path: '/page' })).status === 200);
        const waiting = server.heads.filter((head) => head.startsWith('POST /waits'));
        expect([waiting.length, server.isWaiting()]).toEqual([1, true]);
      });
    });
  });

  describe(`${file}: the log`, () => {
    test('has a line for each request and no key, credential or whole address, whatever happens to it (P18)', async () => {
      const made = await expectOneReader(proxy);
      await answerBy(proxy, { path: `/private/${made.metadata_key}`, from: '127.0.98.66' });
      await proxy.logged('127.0.98.0');
      expect(leaksIn(await proxy.log(), [made.secret_key, made.metadata_key])).toEqual([]);
      await beforeBad([], 1, async (bad, server) => {
        const clients = await sendHostile(bad, server, hearsLeavers);
        const named = clients.filter(({ status }) => !unreadable.includes(status));
        await bad.logged(...named.map(({ cut }) => cut));
        expect(leaksIn(await bad.log())).toEqual([]);
      });
    });

    test('nor when Mayfly is down', async () => {
      await using lonely = await start({ servers: [`127.0.0.1:${await freePort()}`] });
      const path = '/secret/canary-key?passphrase=canary-query';
      const answer = await answerBy(lonely, { path, from: '127.0.98.66', headers: { Referer: 'canary' } });
      expect([502, 503]).toContain(answer.status);
      await lonely.logged('127.0.98.0', ` ${answer.status} `);
      expect(leaksIn(await lonely.log())).toEqual([]);
    });

    for (const { what, changes, finds } of defects.leaks)
      test(`self-test: ${what} is noticed`, async () => {
        await beforeBad(changes, 1, async (bad, server) => {
          await sendHostile(bad, server, hearsLeavers);
          await until(
            async () => leaksIn(await bad.log()).includes(finds),
            async () => `not found: ${finds}\n${await bad.log()}`,
          );
        });
      });

    test('addresses are cut to /24 and /56', async () => {
      await beforeBad(ways.addressFromHeader, 1, async (good) => {
        for (const [address, logged] of [...cutAddresses, ways.abbreviated]) {
          const linesOf = async () => `\n${await good.log()}`.split(`\n${logged} `).length;
          const before = await linesOf();
          await answerBy(good, { path: '/page', headers: { 'X-Test-Address': address } });
          await until(
            async () => (await linesOf()) > before,
            async () => `${address} is not logged as ${logged}:\n${await good.log()}`,
          );
          expect(`\n${await good.log()}`).not.toContain(`\n${address} `);
        }
      });
    });
  });
}
