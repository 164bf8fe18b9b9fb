/** The service as it is shipped, started for a benchmark. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../test/support/started-server.ts';
import { type BenchServer, commandOfScript, startBenchServer } from './processes.ts';

/** Limits that count every request and refuse none: the limiter's work belongs to the figure. */
function writeLimits(folder: string): string {
  const rule = { limit: 1_000_000_000, windowSeconds: 3_600, burst: 1_000_000_000 };
  const both = { anonymous: rule, account: rule };
  const path = join(folder, 'limits.json');
  writeFileSync(path, JSON.stringify({ create: both, manage: both }));
  return path;
}

/** Its data go to `dataDir` in `folder`. */
interface ServiceSettings {
  readonly folder: string;
  readonly dataDir: string;
  /** `counted` when absent. */
  readonly rateLimits?: 'counted' | 'off';
  /** The address of another store than the embedded one. */
  readonly store?: string;
  /** That of servers when absent; `null`: any. */
  readonly core?: number | null;
  readonly env?: Readonly<Record<string, string>>;
}

function envOf({ folder, dataDir, rateLimits, store, env }: ServiceSettings) {
  return {
    ...env,
    ...(store !== undefined && { MAYFLY_STORE: store, MAYFLY_STORE_DURABILITY: 'synchronous' }),
    MAYFLY_DATA_DIR: join(folder, dataDir),
    MAYFLY_RATE_LIMITS: rateLimits === 'off' ? 'off' : writeLimits(folder),
    MAYFLY_LOG_LEVEL: 'warn',
  };
}

const readyPath = '/healthz';

/** What `npm start` runs in a checkout, without npm itself. */
export function startService(settings: ServiceSettings, checkout = repositoryRoot): Promise<BenchServer> {
  const { command, env, cwd } = commandOfScript(checkout, 'start');
  const options = { readyPath, cwd, env: { ...env, ...envOf(settings) } };
  const { core } = settings;
  return startBenchServer('mayfly', command, core === undefined ? options : { ...options, core });
}

/** @param executable made by `npm run build` */
export function startExecutable(settings: ServiceSettings, executable: string): Promise<BenchServer> {
  return startBenchServer('the executable', [executable, 'serve'], { readyPath, env: envOf(settings) });
}
