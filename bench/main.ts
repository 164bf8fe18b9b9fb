/**
 * `npm run bench`: how fast Mayfly is, beside bare servers or another revision measured in the same rounds.
 *
 * A document is written only by a whole run that came to its end.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { repositoryRoot } from '../test/support/started-server.ts';
import { againstSections, baseline, compareWith, renderComparison, slowerOf } from './against.ts';
import { UnknownRevision } from './checkout.ts';
import { engineSizes, measureEngines, renderEngines } from './engines.ts';
import { describeMachine } from './machine.ts';
import { comparePeers, type PeerPaths, renderPeers } from './peers.ts';
import { renderDocument, renderFigures, renderPicture } from './report.ts';
import { measureSections, sections } from './sections.ts';
import { sizesOf } from './sizes.ts';

const usage = `npm run bench [-- OPTION ... SECTION ...]

Measures Mayfly beside bare servers, with two load generators (raw sockets, and undici under Node), and prints
every figure by itself, in B (processor time of a create sent to a bare Bun.serve that reads its body, in the same
run) and in N (requests a second of a bare node:http), and which targets it reached. Takes some forty minutes
and writes docs/benchmarks.md.

  --against REVISION    this checkout and another revision in the same rounds; ends with 1 when this checkout is
                        slower. Against ${baseline.slice(0, 7)}, the commit that targets in ratio are held against, it writes
                        docs/benchmarks-against.md
  --engines             the embedded store beside PostgreSQL with a synchronous standby; takes ten minutes and writes
                        docs/benchmarks-engines.md
  --peers               Mayfly beside other services, whose programs you have: --yopass PATH with --redis PATH, and
                        --ots PATH (Luzifer ots). What is not given is left out. Writes benchmarks-peers.md into docs
  --quick               a short run, for the direction; writes nothing
  --long                memory is watched over 1,000,000 requests, not only 100,000
  SECTION               only these: ${Object.keys(sections).join(', ')};
                        with --against: ${Object.keys(againstSections).join(', ')}. Writes nothing

The servers run on core 0, the generators on core 1, where taskset is installed. The service runs as \`npm start\`
runs it, without npm itself; its figures are of all its processes.
`;

function refuse(reason: string): never {
  console.error(`${reason}\n\n${usage}`);
  process.exit(2);
}

function readArguments() {
  try {
    return parseArgs({
      options: {
        quick: { type: 'boolean', default: false },
        long: { type: 'boolean', default: false },
        against: { type: 'string' },
        engines: { type: 'boolean', default: false },
        peers: { type: 'boolean', default: false },
        ...{ yopass: { type: 'string' }, redis: { type: 'string' }, ots: { type: 'string' } },
        help: { type: 'boolean', short: 'h', default: false },
      },
      allowPositionals: true,
    });
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}

/** The sections that were asked for; all when none was. */
function pick<Name extends string>(known: Readonly<Record<Name, unknown>>, asked: readonly string[]): Name[] {
  const names = Object.keys(known) as Name[];
  const stranger = asked.find((one) => !names.includes(one as Name));
  if (stranger !== undefined) refuse(`There is no section '${stranger}' here.`);
  return asked.length === 0 ? names : names.filter((name) => asked.includes(name));
}

const { values, positionals } = readArguments();
if (values.help) {
  console.log(usage);
  process.exit(0);
}
const { quick: isQuick, long: isLong, engines: isOfEngines, against, yopass, redis, ots } = values;
if ((yopass === undefined) !== (redis === undefined))
  refuse('Yopass is measured with Redis: give both paths.');
/** Beside services that work with threads, where more would only wait. */
const peerConnections = 32;
const sizes = sizesOf({ isQuick, isLong });
const words = process.argv.slice(2).map((word) => ([yopass, redis, ots].includes(word) ? 'PATH' : word));
const command = ['npm run bench', ...(words.length > 0 ? ['--'] : []), ...words].join(' ');
const isEverything = positionals.length === 0;
const isWhole = !isQuick && isEverything;

function publish(name: string, text: string): void {
  if (isWhole) writeFileSync(join(repositoryRoot, 'docs', name), text);
}

async function runAlone(folder: string): Promise<boolean> {
  const names = pick(sections, positionals);
  const machine = describeMachine(folder);
  const figures = await measureSections(names, { folder, sizes });
  const report = renderDocument({ machine, sizes, command }, renderFigures(figures, isEverything));
  publish('benchmarks.md', report);
  const [raw] = figures.load ?? [];
  if (raw !== undefined) publish('benchmarks.svg', renderPicture(raw));
  console.log(report);
  return true;
}

async function runAgainst(revision: string, folder: string): Promise<boolean> {
  const names = pick(againstSections, positionals);
  const machine = describeMachine(folder);
  const { commit, pairs } = await compareWith(revision, names, sizes);
  const report = renderDocument({ machine, sizes, command }, renderComparison(pairs, commit, isEverything));
  if (commit === baseline) publish('benchmarks-against.md', report);
  console.log(report);
  const slower = slowerOf(pairs);
  if (slower.length > 0) console.log(`Slower here: ${slower.join('; ')}.`);
  return slower.length === 0;
}

async function runEngines(folder: string): Promise<boolean> {
  const machine = describeMachine(folder);
  const figures = await measureEngines(engineSizes(isQuick));
  const report = renderEngines(figures, machine, command);
  publish('benchmarks-engines.md', report);
  console.log(report);
  return true;
}

async function runPeers(folder: string): Promise<boolean> {
  const paths: PeerPaths = { yopass, redis, ots };
  const machine = describeMachine(folder);
  const load = { ...sizes.load, connections: peerConnections, tripsPerRound: sizes.load.tripsPerRound / 2 };
  const figures = await comparePeers(paths, folder, load);
  const circumstances = { machine, command, sizes: { ...sizes, load } };
  const report = renderDocument(circumstances, renderPeers(figures, paths, load));
  if (figures.all.length > 2) publish('benchmarks-peers.md', report);
  console.log(report);
  return true;
}

function run(folder: string): Promise<boolean> {
  if (values.peers || yopass !== undefined || ots !== undefined) return runPeers(folder);
  if (isOfEngines) return runEngines(folder);
  return against === undefined ? runAlone(folder) : runAgainst(against, folder);
}

const folder = mkdtempSync(join(tmpdir(), 'mayfly-'));
try {
  const isWell = await run(folder);
  process.exitCode = isWell ? 0 : 1;
} catch (error) {
  if (!(error instanceof UnknownRevision)) throw error;
  console.error(error.message);
  process.exitCode = 2;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
