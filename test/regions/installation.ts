/**
 * An installation of two regions: two servers on one data folder in each, and the router in front of them; five
 * processes.
 *
 * The regions' own addresses are names (`us.localhost`) that no test resolves, so a link that carries one must have
 * been built from the settings; everything ends with the test.
 */
import { rm } from 'node:fs/promises';
import {
  type Credentials,
  createAccount,
  freePort,
  makeDataDir,
  type StartedServer,
  startServer,
} from '../support/started-server.ts';

export const labels = ['us', 'eu'] as const;
export type Label = (typeof labels)[number];

export const addressOf = (label: Label) => `http://${label}.localhost`;
const allRegions = labels.map((label) => `${label}=${addressOf(label)}`).join(',');

export interface RunningRegion {
  readonly label: Label;
  readonly account: Credentials;
  readonly ports: readonly number[];
  /** The running servers. */
  servers: readonly StartedServer[];
  /** Kills both at once; resolves when they are gone. */
  kill(): Promise<void>;
  /** Starts both again on the same ports and folder. */
  start(): Promise<void>;
}

export interface Installation extends AsyncDisposable {
  readonly us: RunningRegion;
  readonly eu: RunningRegion;
  readonly router: StartedServer;
  /** Another router in front of the same regions. */
  startRouter(env?: Readonly<Record<string, string>>): Promise<StartedServer>;
}

async function openRegion(label: Label): Promise<RunningRegion & AsyncDisposable> {
  const dataDir = await makeDataDir();
  const ports = [await freePort(), await freePort()];
  const env = { MAYFLY_REGION: label, MAYFLY_REGIONS: allRegions };
  const start = () => Promise.all(ports.map((port) => startServer({ port, dataDir, env })));
  const account = await createAccount(dataDir, `${label}@example.org`);
  const region: RunningRegion = {
    ...{ label, account, ports },
    servers: await start(),
    async kill() {
      for (const server of region.servers) server.kill('SIGKILL');
      await Promise.all(region.servers.map(({ exited }) => exited));
    },
    async start() {
      region.servers = await start();
    },
  };
  return Object.assign(region, {
    async [Symbol.asyncDispose]() {
      for (const server of region.servers) await server[Symbol.asyncDispose]();
      await rm(dataDir, { recursive: true, force: true });
    },
  });
}

export async function openInstallation(env: Readonly<Record<string, string>> = {}): Promise<Installation> {
  const [us, eu] = [await openRegion('us'), await openRegion('eu')];
  const upstreams = [us, eu].flatMap(({ label, ports }) =>
    ports.map((port) => `${label}=http://127.0.0.1:${port}`),
  );
  const startRouter = (more: Readonly<Record<string, string>> = {}) =>
    startServer({
      command: ['src/main.ts', 'router'],
      env: {
        MAYFLY_REGIONS: allRegions,
        MAYFLY_ROUTER_UPSTREAMS: upstreams.join(','),
        MAYFLY_LOG_LEVEL: 'info',
        ...more,
      },
    });
  const router = await startRouter(env);
  return {
    ...{ us, eu, router, startRouter },
    async [Symbol.asyncDispose]() {
      await router[Symbol.asyncDispose]();
      for (const region of [us, eu]) await region[Symbol.asyncDispose]();
    },
  };
}

/** Waits for a line of the router's log, however long it takes; the test's own limit ends a futile wait. */
export async function logged(router: StartedServer, event: string, label: Label): Promise<void> {
  const line = `"event":"${event}","region":"${label}"`;
  while (!router.stdout().includes(line)) await new Promise((resolve) => setTimeout(resolve, 5));
}
