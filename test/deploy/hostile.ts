/** Requests that proxies like to write about, each with keys and credentials that must be in no log (P18). */
import { type BadServer, openClient, type StartedProxy, site, until, visitBy } from './proxy.ts';

/** Of everything below, plain or as base64 shows it; `.66` ends the address of every client, and 198.51.100.77 is claimed. */
const canaries = ['canary', 'CANARY', 'Y2FuYXJ5', '198.51.100', '.66'];

export function leaksIn(log: string, more: readonly string[] = []): string[] {
  return [...canaries, ...more].filter((canary) => log.includes(canary));
}

const planted = [
  'Referer: https://other.example/secret/canary-referrer',
  'User-Agent: canary-agent',
  // canary-user:canary-token
  'Authorization: Basic Y2FuYXJ5LXVzZXI6Y2FuYXJ5LXRva2Vu',
  'Cookie: session=canary-cookie',
  'X-Forwarded-For: 198.51.100.77',
];

function requestOf(line: string, headers: readonly string[] = [], body = ''): string {
  const length = body === '' ? [] : [`Content-Length: ${body.length}`];
  const head = [line, `Host: ${site}`, ...planted, 'Connection: close', ...length, ...headers];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

const target = '/secret/canary-key?passphrase=canary-query';
const line = `GET ${target} HTTP/1.1`;
const long = 'k'.repeat(70_000);

/** Each is answered, over TLS and without. */
const answered: readonly string[] = [
  requestOf(line),
  requestOf(`CANARYMETHOD ${target} HTTP/1.1`),
  requestOf(`GET ${target} HTTP/9.9`),
  requestOf(line, ['a canary without a colon']),
  requestOf(line, ['Host: canary.example']),
  requestOf(`POST ${target} HTTP/1.1`, ['Content-Length: canary']),
  requestOf(`POST ${target} HTTP/1.1`, ['Transfer-Encoding: canary', 'Content-Length: 5']),
  requestOf(`POST ${target} HTTP/1.1`, ['Content-Length: 10485761']),
  requestOf(`GET ${target}\0 HTTP/1.1`),
  requestOf(`GET ${target}${long} HTTP/1.1`),
  requestOf(line, [`X-Long: canary${long}`]),
  requestOf('POST /dies/canary-key HTTP/1.1', [], 'canary-body'),
  requestOf('POST /garbage/canary-key HTTP/1.1', [], 'canary-body'),
  'canary-key / HTTP/1.1\r\n\r\n',
  `GET ${target}\r\n\r\n`,
  `${line}\r\n\r\n`,
  `${line}\r\nHost: canary /host\r\n\r\n`,
];

interface Client {
  /** Its address as it is logged. */
  readonly cut: string;
  /** What it was answered; 0 for a client without an answer. */
  readonly status: number;
}

/** Sends all of these, and returns the clients that should have a line. @param hearsLeavers whether one that leaves has one */
export async function sendHostile(
  proxy: StartedProxy,
  server: BadServer,
  hearsLeavers: boolean,
): Promise<readonly Client[]> {
  const clients: Client[] = [];
  const nextAddress = () => `127.0.${100 + clients.length}.66`;
  const note = (status: number) => clients.push({ cut: `127.0.${100 + clients.length}.0`, status });
  async function ask(port: number, isPlain: boolean, bytes: string): Promise<void> {
    const client = await openClient(port, { from: nextAddress(), isPlain });
    await client.write(bytes);
    await until(
      () => client.received() !== '' || client.hasEnded(),
      () => `no answer to ${bytes.slice(0, 80)}`,
    );
    note(Number(/^HTTP\/1\.\d (\d+)/.exec(client.received())?.[1] ?? 0));
    client.leave();
  }
  for (const bytes of answered) {
    await ask(proxy.httpsPort, false, bytes);
    await ask(proxy.httpPort, true, bytes);
  }
  await visitBy(proxy, {
    path: target,
    from: nextAddress(),
    headers: Object.fromEntries(planted.map((header) => header.split(': ') as [string, string])),
  });
  note(200);
  // Clients that leave: over a body, and while they wait for the answer.
  for (const path of hearsLeavers ? ['page', 'waits'] : []) {
    const client = await openClient(proxy.httpsPort, { from: nextAddress() });
    const length = path === 'page' ? 'Content-Length: 500' : 'Content-Length: 5';
    await client.write(`${requestOf(`POST /${path}/canary-key HTTP/1.1`, [length])}hello`);
    await until(
      () => server.heads.at(-1)?.startsWith(`POST /${path}`) === true,
      () => `${path} does not reach the server`,
    );
    note(0);
    client.leave();
  }
  // Over the request line, and without TLS: not every proxy has a line for these.
  const early = await openClient(proxy.httpsPort, { from: '127.0.98.66' });
  await early.write('GET /secret/canary-key HT');
  early.leave();
  const stray = await openClient(proxy.httpsPort, { from: '127.0.99.66', isPlain: true });
  await stray.write('\x16\x03\x01\x00\x05canary');
  await stray.ended;
  return clients;
}
