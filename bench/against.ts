/**
 * `npm run bench -- --against REVISION`: this checkout, uncommitted changes included, and another revision, measured in the
 * same rounds.
 *
 * Both servers run on the same core and take turns, the order changing with each round, so that a slow minute hits both.
 * What is judged is the ratio of processor time within a round; requests a second depend too much on the neighbours.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repositoryRoot } from '../test/support/started-server.ts';
import { formatNumber, median, type Round } from './figures.ts';
import { concealOne, cpuOfPage } from './pages.ts';
import { type BenchServer, type Generator, residentMebibytes, startGenerator } from './processes.ts';
import { kinds, passphraseConnections, passphraseKinds, startService, takeRound } from './service.ts';

export interface AgainstSize {
  readonly rounds: number;
  readonly tripsPerRound: number;
  readonly passphraseTrips: number;
  readonly pageRequests: number;
  readonly starts: number;
  readonly connections: number;
}

/** One kind of work: figures of this checkout and of the other, by round. */
interface Pairs {
  readonly label: string;
  readonly unit: string;
  readonly digits: number;
  readonly own: number[];
  readonly other: number[];
}

type Verdict = 'slower' | 'faster' | 'level';

/** Differences below this are noise on a shared machine. */
const noticeableShare = 0.03;

const git = (...args: string[]) =>
  execFileSync('git', args, {
    cwd: repositoryRoot,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim();

/** The message is for the person at the terminal. */
export class UnknownRevision extends Error {
  override readonly name = 'UnknownRevision';
}

/** The full id of a commit. Throws `UnknownRevision`. */
function resolveRevision(revision: string): string {
  try {
    return git('rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`);
  } catch {
    throw new UnknownRevision(
      `--against ${revision}: no such revision here. Give a commit, a branch or a tag.`,
    );
  }
}

/** Packages of this checkout where the lock files agree, else the revision's own installation. */
function installPackages(checkout: string): void {
  const lock = (root: string) => readFileSync(join(root, 'package-lock.json'), 'utf8');
  if (lock(checkout) === lock(repositoryRoot)) {
    symlinkSync(join(repositoryRoot, 'node_modules'), join(checkout, 'node_modules'));
    return;
  }
  const code = "import('./scripts/install.mjs').then(({ install }) => process.exit(install() ? 0 : 1))";
  execFileSync('node', ['-e', code], { cwd: checkout, stdio: ['ignore', 2, 2] });
}

async function withCheckout<T>(commit: string, work: (checkout: string) => Promise<T>): Promise<T> {
  const checkout = mkdtempSync(join(tmpdir(), 'mayfly-against-'));
  git('worktree', 'add', '--quiet', '--detach', checkout, commit);
  try {
    installPackages(checkout);
    return await work(checkout);
  } finally {
    git('worktree', 'remove', '--force', checkout);
  }
}

/** Runs one thing for both, this checkout first in even rounds. */
async function inTurns<T>(round: number, own: () => Promise<T>, other: () => Promise<T>): Promise<[T, T]> {
  if (round % 2 === 0) {
    const first = await own();
    return [first, await other()];
  }
  const first = await other();
  return [await own(), first];
}

interface Contest {
  readonly own: BenchServer;
  readonly other: BenchServer;
  readonly generator: Generator;
  readonly size: AgainstSize;
}

async function compareRequests({ own, other, generator, size }: Contest): Promise<Pairs[]> {
  const { connections, rounds } = size;
  const usual = { trips: size.tripsPerRound, connections };
  const expensive = { trips: size.passphraseTrips, connections: passphraseConnections };
  const all = [
    ...kinds.map(([kind, label]) => ({ kind, load: usual, pairs: emptyPairs(label, 'µs', 1) })),
    ...passphraseKinds.map(([kind, label]) => ({ kind, load: expensive, pairs: emptyPairs(label, 'µs', 0) })),
  ];
  for (let round = -1; round < rounds; round += 1) {
    for (const { kind, load, pairs } of all) {
      const take = (server: BenchServer): Promise<Round> => takeRound(generator, server, kind, load);
      const [ours, theirs] = await inTurns(
        round + 1,
        () => take(own),
        () => take(other),
      );
      // The first round only warms up.
      if (round >= 0) addPair(pairs, ours.cpuMicrosecondsPerTrip, theirs.cpuMicrosecondsPerTrip);
    }
    console.error(round < 0 ? 'warmed up' : `requests: round ${round + 1} of ${rounds}`);
  }
  return all.map(({ pairs }) => pairs);
}

async function comparePages({ own, other, size }: Contest): Promise<Pairs[]> {
  const paths = async (server: BenchServer) => ['/', await concealOne(server.port)] as const;
  const [ofOwn, ofOther] = [await paths(own), await paths(other)];
  const all = [emptyPairs('page: /', 'µs', 0), emptyPairs('page: /secret/:key', 'µs', 0)];
  for (let round = 0; round < size.rounds; round += 1) {
    for (const [index, pairs] of all.entries()) {
      const take = (server: BenchServer, path: string | undefined) =>
        cpuOfPage(server, path ?? '/', size.pageRequests);
      const [ours, theirs] = await inTurns(
        round,
        () => take(own, ofOwn[index]),
        () => take(other, ofOther[index]),
      );
      addPair(pairs, ours, theirs);
    }
    console.error(`pages: round ${round + 1} of ${size.rounds}`);
  }
  return all;
}

async function compareStarts(checkout: string, folder: string, size: AgainstSize): Promise<Pairs> {
  const pairs = emptyPairs('start to the first answer', 'ms', 0);
  const start = async (dataDir: string, root?: string) => {
    const server = await startService(folder, dataDir, root);
    await server.stop();
    return server.startMilliseconds;
  };
  for (let round = -1; round < size.starts; round += 1) {
    const [ours, theirs] = await inTurns(
      round + 1,
      () => start('start-own'),
      () => start('start-other', checkout),
    );
    if (round >= 0) addPair(pairs, ours, theirs);
  }
  return pairs;
}

function emptyPairs(label: string, unit: string, digits: number): Pairs {
  return { label, unit, digits, own: [], other: [] };
}

function addPair({ own, other }: Pairs, ours: number, theirs: number): void {
  own.push(ours);
  other.push(theirs);
}

/** Lower quartile, median and upper quartile of the ratios, this checkout over the other. */
export function ratiosOf({ own, other }: Pick<Pairs, 'own' | 'other'>): readonly [number, number, number] {
  const ratios = own.map((value, index) => value / (other[index] ?? Number.NaN)).sort((a, b) => a - b);
  const half = Math.floor(ratios.length / 2);
  return [
    median(ratios.slice(0, Math.max(1, half))),
    median(ratios),
    median(ratios.slice(-Math.max(1, half))),
  ];
}

/** A difference counts when its median is noticeable and three quarters of the rounds agree on its direction. */
export function judgeRatios([lower, middle, upper]: readonly [number, number, number]): Verdict {
  if (middle > 1 + noticeableShare && lower > 1) return 'slower';
  if (middle < 1 - noticeableShare && upper < 1) return 'faster';
  return 'level';
}

/** A single sample decides nothing. */
function verdictOf(pairs: Pairs): Verdict | '-' {
  return pairs.own.length < 3 ? '-' : judgeRatios(ratiosOf(pairs));
}

function rowOf(pairs: Pairs): Record<string, string> {
  const [lower, middle, upper] = ratiosOf(pairs).map((ratio) => formatNumber(ratio, 3));
  const shown = (values: readonly number[]) => `${formatNumber(median(values), pairs.digits)} ${pairs.unit}`;
  return {
    what: pairs.label,
    here: shown(pairs.own),
    there: shown(pairs.other),
    ratio: middle ?? '',
    quartiles: `${lower} to ${upper}`,
    verdict: verdictOf(pairs),
  };
}

async function measure(checkout: string, folder: string, size: AgainstSize): Promise<Pairs[]> {
  const generator = startGenerator();
  const own = await startService(folder, 'own');
  const other = await startService(folder, 'other', checkout);
  try {
    const contest = { own, other, generator, size };
    const found = [...(await compareRequests(contest)), ...(await comparePages(contest))];
    const memory = emptyPairs('resident memory after it', 'MiB', 0);
    addPair(memory, residentMebibytes(own.pid), residentMebibytes(other.pid));
    return [...found, memory];
  } finally {
    generator.stop();
    for (const server of [own, other]) await server.stop();
  }
}

/**
 * Prints the comparison.
 * @returns whether nothing is slower. Throws `UnknownRevision`.
 */
export async function compareWith(revision: string, size: AgainstSize): Promise<boolean> {
  const commit = resolveRevision(revision);
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-'));
  try {
    const all = await withCheckout(commit, async (checkout) => [
      ...(await measure(checkout, folder, size)),
      await compareStarts(checkout, folder, size),
    ]);
    console.log(`This checkout ("here") and ${commit.slice(0, 12)} ("there"), ${size.rounds} rounds.`);
    console.log('Processor time for requests and pages; the ratio is here over there, less is better.');
    console.table(all.map(rowOf));
    const slower = all.filter((pairs) => verdictOf(pairs) === 'slower').map(({ label }) => label);
    if (slower.length > 0) console.log(`Slower here: ${slower.join('; ')}.`);
    return slower.length === 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
