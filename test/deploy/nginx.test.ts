/** The shipped nginx.conf in front of a started Mayfly; what every proxy has to do (P1, P3, P18, P22) is in proxy-checks.ts. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { leaksIn } from './hostile.ts';
import { nginx, temporaryFolders } from './proxies.ts';
import {
  answerBy,
  type Change,
  endlessBytes,
  openBadServer,
  openClient,
  type StartedProxy,
  site,
  until,
} from './proxy.ts';
import { checkProxy } from './proxy-checks.ts';

setDefaultTimeout(60_000);

const ownLog = 'access_log /var/log/nginx/mayfly.log mayfly;';
const noErrors = 'error_log /dev/null emerg;';
const once = 'proxy_next_upstream off;';
const inMemory = 'proxy_max_temp_file_size 0;';
const unbuffered = 'proxy_request_buffering off;';
const emptied = ['Host', 'Port', 'Prefix', 'Proto', 'Server'].map(
  (name): Change => [`proxy_set_header X-Forwarded-${name} "";`, ''],
);

checkProxy({
  ...nginx,
  addressFromHeader: [[noErrors, `${noErrors} set_real_ip_from 127.0.0.1; real_ip_header X-Test-Address;`]],
  abbreviated: ['2001:0:0:1234:5:6:7:8', '2001::'],
  defects: {
    believesClients: [['proxy_set_header X-Forwarded-For $remote_addr;', ''], ...emptied],
    sendsAgain: [
      [once, 'proxy_next_upstream error timeout non_idempotent;'],
      [unbuffered, ''],
    ],
    takesAnyLength: [['client_max_body_size 10m;', 'client_max_body_size 0;']],
    servesPlainHttp: [['return 308 https://$host$request_uri;', 'return 200;']],
    compresses: [['gzip off;', '']],
    ignoresLeavers: [['proxy_ignore_client_abort off;', 'proxy_ignore_client_abort on;']],
    leaks: [
      {
        what: 'the usual access log',
        changes: [[ownLog, ownLog.replace(' mayfly;', ' combined;')]],
        finds: 'canary',
      },
      { what: 'an error log that others set', changes: [[noErrors, '']], finds: 'canary' },
      {
        what: 'an error log for errors alone',
        changes: [[noErrors, 'error_log stderr error;']],
        finds: '.66',
      },
      {
        what: 'the method as it came',
        changes: [['$mayfly_method $status', '$request_method $status']],
        finds: 'CANARY',
      },
      { what: 'the whole address', changes: [["'$mayfly_client [", "'$remote_addr ["]], finds: '.66' },
    ],
  },
});

describe('nginx.conf: the error log', () => {
  test('is thrown away because a request is in its messages even at the level crit', async () => {
    const path = '/secret/canary-key';
    const servers = ['unix:/nonexistent/mayfly.sock'];
    await using shipped = await nginx.start({ servers });
    expect((await answerBy(shipped, { path })).status).toBe(502);
    await shipped.logged(' 502 ');
    expect(leaksIn(await shipped.log())).toEqual([]);
    await using strict = await nginx.start({ servers, changes: [[noErrors, 'error_log stderr crit;']] });
    expect((await answerBy(strict, { path })).status).toBe(502);
    await strict.logged(`[crit]`, `request: "GET ${path} HTTP/2.0"`);
  });
});

/** From then on, whatever nginx would write to a temporary file fails. */
async function withoutFolders(proxy: StartedProxy): Promise<StartedProxy> {
  for (const name of temporaryFolders) await rm(join(proxy.folder, name), { recursive: true });
  return proxy;
}

async function statusOfLongBody(changes: readonly Change[]): Promise<string[]> {
  await using server = await openBadServer();
  await using proxy = await withoutFolders(await nginx.start({ servers: [server.address], changes }));
  const body = 'x'.repeat(3_000_000);
  const overTwo = await answerBy(proxy, { path: '/page', body });
  const client = await openClient(proxy.httpsPort);
  const head = `POST /page HTTP/1.1\r\nHost: ${site}\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n`;
  await client.write(head + body);
  await client.ended;
  return [String(overTwo.status), client.received().slice(9, 12)];
}

/** What comes of a long answer whose client reads only once the server cannot go on, or has lost its connection. */
async function readAfter(what: 'stuck' | 'closed', changes: readonly Change[]): Promise<'complete' | 'cut'> {
  await using server = await openBadServer();
  await using proxy = await withoutFolders(await nginx.start({ servers: [server.address], changes }));
  const client = await openClient(proxy.httpsPort);
  client.pause();
  await client.write(`GET /flood HTTP/1.1\r\nHost: ${site}\r\nConnection: close\r\n\r\n`);
  await until(
    () => (what === 'stuck' ? server.isStuck() : server.connections.closed > 0),
    () => `the server is never ${what}`,
  );
  client.resume();
  await client.ended;
  return client.received().length > endlessBytes ? 'complete' : 'cut';
}

describe('nginx.conf: temporary files', () => {
  test('a body is passed on without one', async () => {
    expect(await statusOfLongBody([])).toEqual(['200', '200']);
  });

  test('self-test: a body that nginx collects first needs one', async () => {
    expect(await statusOfLongBody([[unbuffered, '']])).toEqual(['500', '500']);
  });

  test('an answer that is read late is passed on without one', async () => {
    expect(await readAfter('stuck', [])).toBe('complete');
  });

  test('self-test: with room for one, nginx tries to write it', async () => {
    expect(await readAfter('closed', [[inMemory, '']])).toBe('cut');
  });
});
