/**
 * The process: arguments -> settings -> app -> run -> stop. Nothing else ends the process.
 *
 * After a signal, requests in flight finish; a second signal does not interrupt them. An uncaught error ends the process with code 1 rather
 * than leave it in an unknown state (P23), and only its class and place are reported (P18).
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import packageFile from '../package.json' with { type: 'json' };
import { fetchedFrom, type PeopleWorld } from './cli/client.ts';
import { openClipboard } from './cli/clipboard.ts';
import type { ExitCode, World } from './cli/command.ts';
import { sections } from './cli/commands.ts';
import { statusOf } from './cli/health.ts';
import { openLogins } from './cli/logins.ts';
import type { OpenAccountsOutcome, OperatorWorld } from './cli/operator.ts';
import { openOutputFile } from './cli/output-file.ts';
import { leaveMemoryOutOfDumps, openPrograms } from './cli/programs.ts';
import { runCommand } from './cli/run.ts';
import { openTerminal } from './cli/terminal.ts';
import type { Settings } from './config/read.ts';
import { systemRandom } from './crypto/random.ts';
import { createResolver } from './ops/dns.ts';
import { type DoctorDeps, examine } from './ops/doctor.ts';
import { createLineWriter, createLogger, type Logger, writeTo } from './ops/log.ts';
import { describeFault } from './ops/log-lines.ts';
import { nextSteps, renderNextSteps } from './ops/next-steps.ts';
import { slowHashes } from './ops/slow-hashes.ts';
import { renderRouterWords, renderStartWords } from './ops/start-words.ts';

const { version } = packageFile;
const terminal = openTerminal();

/** Open only while the server runs; otherwise faults go to standard error. */
let logger: Logger | null = null;

let isDying = false;

async function die(error: unknown): Promise<void> {
  // A fault while reporting must not keep the process alive.
  if (isDying) process.exit(1);
  isDying = true;
  logger?.log({ event: 'fault', where: 'process', error });
  if (logger === null)
    terminal.err(`Mayfly stopped because of a fault: ${JSON.stringify(describeFault(error))}\n`);
  await logger?.close();
  process.exit(1);
}

process.on('uncaughtException', (error) => void die(error));
process.on('unhandledRejection', (reason) => void die(reason));

/** Time limit for the entire shutdown (P23). */
const stopLimitMs = 10_000;

type StopSignal = 'SIGTERM' | 'SIGINT' | 'SIGHUP';

/** Resolves at the first signal. The handlers remain installed, so a second signal has no effect. */
function stopSignal(): Promise<StopSignal> {
  const received = Promise.withResolvers<StopSignal>();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    process.on(signal, () => received.resolve(signal));
  return received.promise;
}

function openLogger(settings: Settings): Logger {
  const after = (milliseconds: number, run: () => void): void => void setTimeout(run, milliseconds);
  const writer = createLineWriter(writeTo(1), (retry) => after(10, retry));
  const opened = createLogger({ level: settings.logLevel, writer, wallClockMs: Date.now, after });
  const { serviceLinks: variables } = settings;
  if (variables.length > 0) opened.log({ event: 'service_links_ignored', variables });
  return opened;
}

interface Running {
  readonly port: number;
  readonly stop: () => Promise<void>;
}

async function runUntil(
  stopped: Promise<StopSignal>,
  { log, close }: Logger,
  running: Running,
): Promise<void> {
  log({ event: 'started', port: running.port, durationMs: performance.now() });
  log({ event: 'stopping', signal: await stopped });
  // Every step of the shutdown has its own time limit; this overall one applies if any of those fails.
  setTimeout(() => void die(new Error('the stop took too long')), stopLimitMs).unref();
  await running.stop();
  log({ event: 'stopped' });
  await close();
}

async function endWait(signal: StopSignal, { log, close }: Logger): Promise<ExitCode> {
  log({ event: 'stopping', signal });
  log({ event: 'stopped' });
  await close();
  return 0;
}

/** Loaded only by the commands that need them. */
const loadSettings = () => import('./config/read.ts');
const loadStores = () => import('./stores.ts');
const loadMoves = () => import('./moves.ts');

const readEnvironment = async () => (await loadSettings()).processEnvironment();

async function serve(settings: Settings): Promise<ExitCode> {
  const { serverRegionProblem } = await import('./config/conflicts.ts');
  const problem = serverRegionProblem(settings);
  if (problem !== null) {
    terminal.err(`${problem}\n`);
    return 2;
  }
  const stopped = stopSignal();
  const { SettingRefusal } = await import('./app.ts');
  const { startApp } = await import('./start.ts');
  const { StartRefusal } = await import('./stores.ts');
  const opened = openLogger(settings);
  try {
    const onWait = (sentence: string) => terminal.err(`Mayfly is waiting. ${sentence}\n`);
    const app = await startApp({ settings, version, log: opened.log, stopped, onWait });
    logger = opened;
    if (app === null) return await endWait(await stopped, opened);
    terminal.err(renderStartWords(settings, { version, ...app }));
    const isService = (await loadSettings()).isStartedBySystemd();
    const steps = nextSteps(settings, { ...app, isService });
    terminal.err(renderNextSteps(settings, steps, { isService }));
    if (steps.length > 0) opened.log({ event: 'setup_open', steps: steps.map(({ name }) => name) });
    await runUntil(stopped, opened, app);
    return 0;
  } catch (error) {
    if (!(error instanceof StartRefusal)) throw error;
    terminal.err(`Mayfly does not start. ${error.message}\n`);
    return error instanceof SettingRefusal ? 2 : 1;
  }
}

async function route(settings: Settings): Promise<ExitCode> {
  const { routerProblem } = await import('./config/conflicts.ts');
  const problem = routerProblem(settings);
  if (problem !== null) {
    terminal.err(`${problem}\n`);
    return 2;
  }
  const stopped = stopSignal();
  const { startRouter } = await import('./router/start.ts');
  const { openRouterMetrics } = await import('./ops/metrics.ts');
  const opened = openLogger(settings);
  const { log } = opened;
  const router = await startRouter(settings, {
    metrics: settings.internalPort === null ? null : await openRouterMetrics(),
    onChange: (region, isHealthy) => log({ event: isHealthy ? 'region_back' : 'region_lost', region }),
    onUntrustedProxy: () => log({ event: 'proxy_untrusted' }),
    onFault: (error, requestId) =>
      log({ event: 'fault', where: 'request', error, ...(requestId !== undefined && { requestId }) }),
    onCrowd: () => log({ event: 'descriptors_used_up' }),
  });
  if (router.outcome === 'refused') {
    terminal.err(`The router does not start. ${router.problem}\n`);
    return 1;
  }
  logger = opened;
  terminal.err(renderRouterWords(settings, version));
  await runUntil(stopped, opened, router);
  return 0;
}

async function openTheStore(settings: Settings) {
  return (await loadStores()).openBesideServers(settings);
}

async function openAccounts(settings: Settings): Promise<OpenAccountsOutcome> {
  const opened = await openTheStore(settings);
  if (opened.outcome !== 'open') return opened;
  const { store, close } = opened;
  return { outcome: 'open', accounts: { store, random: systemRandom, close } };
}

const world: World = {
  terminal,
  version,
  async readConfig() {
    const { processEnvironment, readConfig } = await loadSettings();
    return readConfig(processEnvironment());
  },
  readFile: async (path) => new Uint8Array(await readFile(path)),
};

const peopleWorld: PeopleWorld = {
  ...world,
  parseServerAddress: async (text) => (await loadSettings()).parseServerAddress(text),
  fetch: (url, init) => fetch(url, init),
  programs: openPrograms(readEnvironment),
  openOutputFile,
  openLogins: async () => openLogins(await readEnvironment(), process.platform, Bun.secrets),
  fetchedFrom: () => fetchedFrom(join(import.meta.dir, '..')),
  openClipboard: async () => openClipboard(terminal, await readEnvironment()),
};

const operatorWorld: OperatorWorld = {
  ...world,
  settingProblems: async (settings) =>
    (await (await import('./app.ts')).settingProblems(settings)).map(({ words }) => words),
  openAccounts,
  backups: {
    write: async (...given) => (await loadStores()).backUp(...given),
    preview: async (...given) => (await loadStores()).previewBackup(...given),
    restore: async (...given) => (await loadStores()).restoreBackup(...given),
  },
  moves: {
    move: async (...given) => (await loadMoves()).moveBetweenStores(...given),
    cancel: async (...given) => (await loadMoves()).cancelMove(...given),
  },
  restores: {
    preview: async (settings) => (await loadMoves()).previewRestoredStore(settings),
    accept: async (settings) => (await loadMoves()).acceptRestoredStore(settings),
  },
  migrate: async (...given) => (await loadStores()).migrateStore(...given),
  serve,
  route,
  examine: async (settings, recipient) => {
    const { settingProblems } = await import('./app.ts');
    const { serverRegionProblem } = await import('./config/conflicts.ts');
    const words = serverRegionProblem(settings);
    const ofRegion = words === null ? [] : [{ what: 'settings', verdict: 'fault', words } as const];
    const problems = [...ofRegion, ...(await settingProblems(settings))];
    const deps: DoctorDeps = {
      openStore: () => openTheStore(settings),
      probeMail: async (server, to) => (await import('./app.ts')).tryMailServer(settings, server, to),
      resolver: createResolver(settings.dnsServers),
      hashOnce: () => slowHashes.stretch(new Uint8Array(16), new Uint8Array(16)),
    };
    const found = await examine(settings, deps, recipient);
    // The mail server probe also checks the mail settings, so the same problem may be found twice.
    return [...problems.filter((one) => !found.some((other) => Bun.deepEquals(one, other))), ...found];
  },
  statusOf,
  random: systemRandom,
  wallClockMs: Date.now,
  sleep: (milliseconds) => Bun.sleep(milliseconds),
};

// Called before memory contains anything secret.
leaveMemoryOutOfDumps();
void runCommand(process.argv.slice(2), sections, { ...peopleWorld, ...operatorWorld }).then((code) =>
  process.exit(code),
);
