/**
 * A primary, its synchronous standby and three nodes on one machine: `npm run demo:postgres`, or `-- --kills NUMBER`.
 *
 * While secrets are shared, read and burned through all nodes, the standby stops hearing from the primary, the primary is killed and
 * the standby takes over. The client keeps a ledger of what it was answered, and compares it with the store at the end.
 * Everything listens on this machine only, uses folders that are removed at the end, and ends with the demo.
 */
import { parseArgs } from 'node:util';
import { type FailoverSum, playFailovers } from '../test/support/failovers.ts';
import { createLedger, type Ledger } from '../test/support/ledger.ts';
import { startNodes } from '../test/support/nodes.ts';
import { startPair } from '../test/support/postgres.ts';

const usage = `Usage: npm run demo:postgres -- [--kills NUMBER]
  --kills  how often the primary is killed (3)\n`;

function readKills(): number {
  const type = { kills: { type: 'string' }, help: { type: 'boolean' } } as const;
  try {
    const { values } = parseArgs({ options: type });
    const kills = Number(values.kills ?? 3);
    if (values.help !== true && Number.isInteger(kills) && kills >= 1) return kills;
  } catch {
    // An option that is not known: the usage says which there are.
  }
  process.stderr.write(usage);
  process.exit(2);
}

const kills = readKills();
const say = (words: string) => void process.stdout.write(`${words}\n`);
const resources = new AsyncDisposableStack();

async function start() {
  const pair = resources.use(await startPair());
  const nodes = resources.use(await startNodes({ url: pair.url, durability: 'synchronous', nodeCount: 3 }));
  return { pair, nodes };
}

const starting = start();

async function stop(code: number): Promise<never> {
  await starting.catch(() => {});
  await resources.disposeAsync();
  process.exit(code);
}

let isStopping = false;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    if (!isStopping) void stop(0);
    isStopping = true;
  });
}

function sayLedger(sum: FailoverSum, ledger: Ledger): void {
  say(`
The ledger of the client, compared with the store:
  ${sum.acknowledged} secrets were acknowledged
  ${sum.released} of them were read, ${sum.burned} burned; ${sum.stillWaited} waited until the end and were read then
  ${sum.forfeited} were in doubt when a connection was lost, and nobody got them: each such reader was answered 503
  ${sum.doubles} double: read by more than one reader
  ${sum.lost} lost: acknowledged, and not there`);
  for (const fault of ledger.faults) say(`  BROKEN  ${fault}`);
}

async function run(): Promise<boolean> {
  const { pair, nodes } = await starting;
  say(`PostgreSQL: a primary on port ${pair.primary.port}, a synchronous standby on port ${pair.standby?.port}
Mayfly: three nodes, on ports ${nodes.servers.map(({ port }) => port).join(', ')}
Secrets are shared, read and burned through all of them.\n`);
  const ledger = createLedger('demo');
  let killed = 0;
  const sum = await playFailovers({
    ...{ pair, nodes, ledger, cycles: kills, random: Math.random },
    onCycle({ waitingAtDeath, recoveryMs }) {
      killed += 1;
      say(`Kill ${killed} of ${kills}: the standby stopped hearing, the primary died with ${waitingAtDeath} commits that only it had;
  the standby was promoted and got one of its own, and all nodes stored again after ${(recoveryMs / 1_000).toFixed(1)} s`);
    },
  });
  sayLedger(sum, ledger);
  return ledger.faults.length === 0;
}

const isKept = await run().catch((error: Error) => {
  if (!isStopping) process.stderr.write(`${error.stack ?? error}\n`);
  return false;
});
if (!isStopping) await stop(isKept ? 0 : 1);
