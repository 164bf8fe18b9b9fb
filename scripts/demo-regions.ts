/**
 * Two regions and the router on one machine: `npm run demo:regions`, or `-- --once` for an automatic tour.
 *
 * Everything listens on this machine only, uses a folder that is removed at the end, and ends with the demo.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const usage = `Usage: npm run demo:regions -- [--once] [--port NUMBER]
  --once   goes through everything by itself, and ends
  --port   where the router listens (3000); the regions take the two ports after it\n`;

function readArguments(): { isOnce: boolean; port: number | null } {
  const type = { once: { type: 'boolean' }, port: { type: 'string' }, help: { type: 'boolean' } } as const;
  try {
    const { values } = parseArgs({ options: type });
    const port = values.port === undefined ? null : Number(values.port);
    const isPort = port === null || (Number.isInteger(port) && port >= 1 && port <= 65_533);
    if (values.help !== true && isPort) return { isOnce: values.once === true, port };
  } catch {
    // An option that is not known: the usage says which there are.
  }
  process.stderr.write(usage);
  process.exit(2);
}

const { isOnce, port: asked } = readArguments();
const say = (words: string) => void process.stdout.write(`${words}\n`);

/** Three ports: those asked for, else free ones for a tour by itself and the usual ones for people. */
async function choosePorts(): Promise<[number, number, number]> {
  if (asked !== null || !isOnce) {
    const first = asked ?? 3000;
    return [first, first + 1, first + 2];
  }
  const probes = [createServer(), createServer(), createServer()];
  for (const probe of probes) await new Promise<void>((open) => probe.listen(0, '127.0.0.1', open));
  const [router = 0, us = 0, eu = 0] = probes.map((probe) => (probe.address() as AddressInfo).port);
  for (const probe of probes) await new Promise((closed) => probe.close(closed));
  return [router, us, eu];
}

const [routerPort, usPort, euPort] = await choosePorts();
const folder = await mkdtemp(join(tmpdir(), 'mayfly-demo-'));
const at = (port: number) => `http://localhost:${port}`;
const regions = `us=${at(usPort)},eu=${at(euPort)}`;
const running = new Map<string, ChildProcess>();

/** Only what is named here: a setting of the surrounding shell would change the demo. */
function launch(name: string, command: string, port: number, more: Record<string, string>): void {
  const { PATH = '', HOME = '' } = process.env;
  const env = { PATH, HOME, NODE_ENV: 'production', PORT: String(port), MAYFLY_REGIONS: regions, ...more };
  const child = spawn(process.execPath, ['--no-install', '--no-env-file', 'src/main.ts', command], {
    env: { ...env, MAYFLY_LOG_LEVEL: 'error' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let words = '';
  child.stderr?.on('data', (part: Buffer) => {
    words += part.toString('utf8');
  });
  child.on('exit', (code) => {
    if (code !== 0 && code !== null && running.get(name) === child)
      void stop(1, `${name} ended: ${words.trim()}`);
  });
  running.set(name, child);
}

function startRegion(label: 'us' | 'eu'): void {
  const dataDir = join(folder, label);
  // The router is the only one whose word about a client's address counts.
  const settings = {
    MAYFLY_REGION: label,
    MAYFLY_DATA_DIR: dataDir,
    MAYFLY_TRUSTED_PROXIES: '127.0.0.1,::1',
  };
  launch(label, 'serve', label === 'us' ? usPort : euPort, settings);
}

/** Ends one of ours and waits for it. */
function end(name: string, signal: NodeJS.Signals): Promise<void> {
  const child = running.get(name);
  running.delete(name);
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((ended) => {
    child.once('exit', () => ended());
    child.kill(signal);
  });
}

let isStopping = false;

async function stop(code: number, words = ''): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  if (words !== '') process.stderr.write(`${words}\n`);
  await Promise.all([...running.keys()].map((name) => end(name, 'SIGTERM')));
  await rm(folder, { recursive: true, force: true });
  process.exit(code);
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void stop(0));

const pollMs = 50;
const limitMs = 60_000;

/** Asks until the answer is as wanted. */
async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const startMs = Date.now();
  while (!(await isSo().catch(() => false))) {
    if (Date.now() - startMs > limitMs) return stop(1, `Waited in vain: ${what}`);
    await new Promise((resume) => setTimeout(resume, pollMs));
  }
}

const isReady = (port: number) => async () => (await fetch(`${at(port)}/readyz`)).status === 200;

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly retryAfter: string | null;
}

async function call(path: string, fields: Record<string, string> = {}): Promise<Answer> {
  const response = await fetch(at(routerPort) + path, { method: 'POST', body: new URLSearchParams(fields) });
  const body = (await response.json()) as Record<string, unknown>;
  return { status: response.status, body, retryAfter: response.headers.get('retry-after') };
}

function demand(isSo: boolean, what: string): void {
  if (!isSo) throw new Error(`not as it should be: ${what}`);
  say(`  ${what}`);
}

/** The link of a new secret, from its own page's redirect, which the router answers for every key. */
async function linkOf(key: string): Promise<string> {
  const response = await fetch(`${at(routerPort)}/secret/${key}`, { redirect: 'manual' });
  return response.headers.get('location') ?? '';
}

async function share(value: string): Promise<string> {
  const made = await call('/api/v1/share', { secret: value });
  if (made.status !== 200) throw new Error(`sharing was answered ${made.status}`);
  return String(made.body.secret_key);
}

async function tour(): Promise<void> {
  say('\nA secret, shared and read through the router:');
  const key = await share('open sesame');
  const link = await linkOf(key);
  demand(link === `${at(usPort)}/secret/${key}`, `it was made in us, and its link says so: ${link}`);
  const read = await call(`/api/v1/secret/${key}`);
  demand(read.body.value === 'open sesame', 'read once: "open sesame"');
  demand((await call(`/api/v1/secret/${key}`)).status === 404, 'read again: 404, as it is gone');

  say('\nThe region us is lost (its process is killed):');
  const kept = await share('kept in us');
  await end('us', 'SIGKILL');
  await until(
    'new secrets in eu',
    async () => (await call('/api/v1/share', { secret: 'elsewhere' })).status === 200,
  );
  const elsewhere = await share('elsewhere');
  demand((await linkOf(elsewhere)).startsWith(at(euPort)), 'new secrets are made in eu');
  const lost = await call(`/api/v1/secret/${kept}`);
  demand(
    lost.status === 503,
    `a secret of us is answered 503, to be tried again in ${lost.retryAfter} s, and never "unknown"`,
  );

  say('\nThe region us is back:');
  startRegion('us');
  await until('us', isReady(usPort));
  await until('the router to notice', async () =>
    (await linkOf(await share('again'))).startsWith(at(usPort)),
  );
  demand(
    (await call(`/api/v1/secret/${kept}`)).body.value === 'kept in us',
    'its secret was kept, and is read now',
  );
}

startRegion('us');
startRegion('eu');
await until('us', isReady(usPort));
await until('eu', isReady(euPort));
// After them, or its first look may find only one of the two.
launch('router', 'router', routerPort, {});
await until('the router', isReady(routerPort));
say(`Two regions and the router before them, in ${folder}:
  router   ${at(routerPort)}
  us       ${at(usPort)}
  eu       ${at(euPort)}`);

if (isOnce) {
  await tour().then(
    () => stop(0),
    (error: Error) => stop(1, error.message),
  );
} else {
  say(`
Try it:
  curl -s ${at(routerPort)}/api/v1/share --data-urlencode 'secret=open sesame'
  curl -s -X POST ${at(routerPort)}/api/v1/secret/SECRET_KEY
  curl -sI ${at(routerPort)}/secret/SECRET_KEY      # leads to the region that has it
  npm run demo:regions -- --once                    # all of it, and a lost region, by itself
Ctrl-C ends all three.`);
}
