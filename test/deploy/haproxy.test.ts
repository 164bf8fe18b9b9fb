/** The shipped haproxy.cfg in front of a started Mayfly; what every proxy has to do (P1, P3, P18, P22) is in proxy-checks.ts. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { haproxy } from './proxies.ts';
import { type Change, openBadServer, visitBy } from './proxy.ts';
import { checkProxy } from './proxy-checks.ts';

setDefaultTimeout(60_000);

const method = 'http-request set-var(txn.method) method if';
const format = 'log-format "%[src,ipmask(24,56)] %[var(txn.method)]';
const once = '\tretries 0\n\tretry-on none\n\tno option redispatch\n';
const handshakes = 'error-log-format "%[src,ipmask(24,56)]';
const toMayfly = '\tdefault_backend once\n';

checkProxy({
  ...haproxy,
  addressFromHeader: [[method, `http-request set-src hdr(x-test-address)\n\t${method}`]],
  abbreviated: ['2001:0:0:1234:5:6:7:8', '2001:0:0:1200::'],
  defects: {
    believesClients: [
      ['http-request del-header x-forwarded- -m beg', ''],
      ['http-request set-header X-Forwarded-For %[src]', ''],
    ],
    sendsAgain: [[once, '\tretries 3\n\tretry-on all-retryable-errors\n\toption redispatch 1\n']],
    takesAnyLength: [['http-request deny deny_status 413', '#']],
    servesPlainHttp: [['\thttp-request redirect scheme https code 308\n', toMayfly]],
    compresses: [
      ['backend mayfly\n', 'backend mayfly\n\tcompression algo gzip\n\tcompression type text/html\n'],
    ],
    ignoresLeavers: [['\toption abortonclose\n', '']],
    leaks: [
      { what: 'the usual log', changes: [[`\t${format}`, '\toption httplog\n#']], finds: 'canary' },
      { what: 'the method as it came', changes: [['%[var(txn.method)]', '%HM']], finds: 'CANARY' },
      { what: 'the whole address', changes: [[format, format.replace(',ipmask(24,56)', '')]], finds: '.66' },
      {
        what: 'the whole address of a failed handshake',
        changes: [[`\t${handshakes}`, '#']],
        finds: '.66',
      },
    ],
  },
});

describe('haproxy.cfg: the step between', () => {
  /** Sends a request over HTTP/2 whose server dies over it. */
  async function sentWith(changes: readonly Change[]): Promise<number> {
    await using server = await openBadServer();
    await using proxy = await haproxy.start({ servers: [server.address], changes });
    await visitBy(proxy, { path: '/dies', body: 'hello' });
    return server.heads.length;
  }

  test('self-test: without it a client is asked to send its request again, and does', async () => {
    expect(await sentWith([])).toBe(1);
    expect(await sentWith([[toMayfly, '\tdefault_backend mayfly\n']])).toBeGreaterThan(1);
  });
});
