/**
 * A real Caddy with the shipped configuration, on loopback.
 *
 * It listens only on 127.0.0.1, contacts no outside authority (it signs its own certificates), adds nothing to the
 * system's trust store, and is ended with the test by its own process id.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { freePort, repositoryRoot, watch } from '../support/started-server.ts';
import { type Change, type Front, until } from './proxy.ts';

const tool = 'caddy';
export const shippedCaddyfile = join(repositoryRoot, 'deploy', 'Caddyfile');

export interface CaddyOptions {
  /** The site's own host; not named when absent. */
  readonly site?: string;
  readonly upstreamPort: number;
  /** Of further nodes, and how to choose among all of them. */
  readonly others?: { readonly ports: readonly number[]; readonly balancing: string };
  readonly internalPort: number;
  /** The address of a router in front; absent when there is none. */
  readonly router?: string;
  /** The shipped Caddyfile when absent. */
  readonly caddyfile?: string;
}

/** Serves below /vault alone, as the file explains. */
export const belowVault: readonly Change[] = [
  ['\treverse_proxy {', '\t@mayfly path /vault /vault/*\n\treverse_proxy @mayfly {'],
];

export interface StartedCaddy extends Front {
  readonly httpPort: number;
  log(): string;
  /** Resolves once all of these texts are in the log. */
  logged(...words: readonly string[]): Promise<void>;
}

/** The process gets only the variables named here. */
function environment(home: string, settings: Readonly<Record<string, string>>): Record<string, string> {
  const { PATH = '' } = process.env;
  return { PATH, HOME: home, XDG_DATA_HOME: home, XDG_CONFIG_HOME: home, ...settings };
}

function spawnCaddy(args: readonly string[], env: Record<string, string>): ChildProcess {
  return spawn(tool, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
}

/** Runs a Caddy command on a configuration until it ends. */
export async function runCaddy(
  command: 'validate' | 'adapt',
  settings: Readonly<Record<string, string>>,
): Promise<{ code: number | null; output: string }> {
  const home = await mkdtemp(join(tmpdir(), 'mayfly-caddy-'));
  const args = [command, '--config', shippedCaddyfile, '--adapter', 'caddyfile'];
  const { stdout, stderr, exited } = watch(spawnCaddy(args, environment(home, settings)));
  const { code } = await exited;
  await rm(home, { recursive: true, force: true });
  return { code, output: stdout() + stderr() };
}

const logLimitMs = 30_000;

/** Rejects with the log when the process ends first or it takes too long. */
function awaitLog(child: ChildProcess, log: () => string, words: readonly string[]): Promise<void> {
  const isThere = () => words.every((word) => log().includes(word));
  if (isThere()) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => end(new Error(`Caddy does not say ${words}:\n${log()}`)), logLimitMs);
    const look = () => isThere() && end();
    const end = (error?: Error) => {
      clearTimeout(timer);
      child.stderr?.off('data', look);
      if (error === undefined) resolve();
      else reject(error);
    };
    child.stderr?.on('data', look);
    child.once('close', () => end(new Error(`Caddy ended:\n${log()}`)));
    child.once('error', end);
  });
}

/** Whether a handshake ends well: Caddy serves a certificate some milliseconds after its log says that it has it. */
function servesCertificate(port: number, servername: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', servername, rejectUnauthorized: false });
    socket.once('error', () => resolve(false));
    socket.once('secureConnect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}

/** Starts Caddy; resolves when it serves the certificate of the site's own host. */
export async function startCaddy(options: CaddyOptions): Promise<StartedCaddy> {
  const home = await mkdtemp(join(tmpdir(), 'mayfly-caddy-'));
  const [httpPort, httpsPort] = [await freePort(), await freePort()];
  const testing = ['admin off', 'local_certs', 'skip_install_trust', 'default_bind 127.0.0.1'];
  const env = environment(home, {
    ...(options.site !== undefined && { MAYFLY_SITE: options.site }),
    MAYFLY_UPSTREAM: [options.upstreamPort, ...(options.others?.ports ?? [])]
      .map((port) => `127.0.0.1:${port}`)
      .join(' '),
    MAYFLY_BALANCING: options.others?.balancing ?? '',
    MAYFLY_INTERNAL: `127.0.0.1:${options.internalPort}`,
    MAYFLY_ROUTER: options.router ?? '',
    CADDY_OPTIONS: [...testing, `http_port ${httpPort}`, `https_port ${httpsPort}`].join('\n'),
  });
  const config = options.caddyfile ?? shippedCaddyfile;
  const child = spawnCaddy(['run', '--config', config, '--adapter', 'caddyfile'], env);
  const { stderr, exited } = watch(child);
  const dispose = async () => {
    child.kill('SIGKILL');
    await exited;
    await rm(home, { recursive: true, force: true });
  };
  const logged = (...words: readonly string[]) => awaitLog(child, stderr, words);
  try {
    await logged('serving initial configuration', 'certificate obtained successfully');
    const [, own = ''] = /certificate obtained successfully","identifier":"([^"]+)"/.exec(stderr()) ?? [];
    await until(() => servesCertificate(httpsPort, own), stderr);
  } catch (error) {
    await dispose();
    throw error;
  }
  const authority = join(home, 'caddy', 'pki', 'authorities', 'local', 'root.crt');
  return { httpPort, httpsPort, authority, log: stderr, logged, [Symbol.asyncDispose]: dispose };
}
