/**
 * `npm run bench -- --against REVISION`: this checkout, uncommitted changes included, and another revision, measured in the
 * same rounds by this checkout's generators.
 *
 * Both servers run on the same core and take turns, so that a slow minute hits both. What is judged is the ratio within a
 * round of processor time and of starts; requests a second depend too much on the neighbours.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repositoryRoot } from '../test/support/started-server.ts';
import { resolveRevision, withCheckout } from './checkout.ts';
import {
  cpuOf,
  formatNumber,
  inB,
  inN,
  type LoadFigures,
  median,
  ratios,
  type Series,
  table,
} from './figures.ts';
import { type GeneratorName, startGenerator } from './generators.ts';
import { isSlow, labels, measureLoad, startBareBun, startBareNode } from './load.ts';
import { measureMemory } from './memory.ts';
import { startService } from './service.ts';
import type { Sizes } from './sizes.ts';
import { executableWay, measureStarts, scriptWay } from './starts.ts';
import { runStore } from './store-runs.ts';
import { type Target, targetsTable } from './targets.ts';

const measures = {
  cpu: { name: 'CPU', unit: 'µs', digits: 1, isJudged: true },
  perSecond: { name: 'a second', unit: '', digits: 0, isJudged: false },
  p99: { name: 'p99', unit: 'ms', digits: 2, isJudged: false },
  start: { name: 'start', unit: 'ms', digits: 0, isJudged: true },
  resident: { name: 'resident', unit: 'MiB', digits: 0, isJudged: false },
} as const;

/** One figure of this checkout and of the other, by round. */
export interface Pairs {
  readonly label: string;
  readonly measure: keyof typeof measures;
  /** `null`: measured without one. */
  readonly generator: GeneratorName | null;
  readonly own: readonly number[];
  readonly other: readonly number[];
  /** Both beside the bare servers, for the reader. */
  readonly beside?: readonly [own: string, other: string];
}

type Verdict = 'slower' | 'faster' | 'level';

/** Differences below this are noise on a shared machine. */
const noticeableShare = 0.03;

/** Lower quartile, median and upper quartile of the ratios, this checkout over the other. */
export function ratiosOf({ own, other }: Pick<Pairs, 'own' | 'other'>): readonly [number, number, number] {
  const sorted = ratios(own, other).sort((a, b) => a - b);
  const half = Math.max(1, Math.floor(sorted.length / 2));
  return [median(sorted.slice(0, half)), median(sorted), median(sorted.slice(-half))];
}

/** A difference counts when its median is noticeable and three quarters of the rounds agree on its direction. */
export function judgeRatios([lower, middle, upper]: readonly [number, number, number]): Verdict {
  if (middle > 1 + noticeableShare && lower > 1) return 'slower';
  if (middle < 1 - noticeableShare && upper < 1) return 'faster';
  return 'level';
}

/** A single sample decides nothing. */
function verdictOf(pairs: Pairs): Verdict | '–' {
  const isJudged = measures[pairs.measure].isJudged && pairs.own.length >= 3;
  return isJudged ? judgeRatios(ratiosOf(pairs)) : '–';
}

function pairsOfSeries(own: LoadFigures, other: LoadFigures, index: number): Pairs[] {
  const [ours, theirs] = [own.service[index], other.service[index]];
  if (ours === undefined || theirs === undefined) return [];
  const common = { label: ours.label, generator: own.generator };
  const of = (measure: Pairs['measure'], values: (series: Series) => number[]) => ({
    ...{ ...common, measure },
    own: values(ours),
    other: values(theirs),
  });
  // Beside slow hashes the transport is nothing: a ratio would say only that.
  if (isSlow(ours)) return [of('cpu', cpuOf)];
  const inBares = (figure: (series: Series) => number, digits: number, letter: string) =>
    [ours, theirs].map((series) => `${formatNumber(figure(series), digits)} ${letter}`) as [string, string];
  return [
    { ...of('cpu', cpuOf), beside: inBares((series) => inB(cpuOf(series), own), 1, 'B') },
    {
      ...of('perSecond', ({ rounds }) => rounds.map((round) => round.tripsPerSecond)),
      beside: inBares((series) => inN(series, own), 2, 'N'),
    },
    of('p99', ({ rounds }) => rounds.map((round) => round.p99Milliseconds)),
  ];
}

/** What both are measured with. */
interface Contest {
  readonly checkout: string;
  readonly folder: string;
  readonly sizes: Sizes;
}

async function compareRequests({ checkout, folder, sizes }: Contest): Promise<Pairs[]> {
  using raw = await startGenerator('raw');
  using undici = await startGenerator('undici');
  await using bun = await startBareBun();
  await using node = await startBareNode();
  await using own = await startService({ folder, dataDir: 'own' });
  await using other = await startService({ folder, dataDir: 'other' }, checkout);
  const taken = await measureLoad([raw, undici], { bun, node }, [own, other], sizes.load);
  const [ofOwn = [], ofOther = []] = taken;
  return ofOwn.flatMap((ours, generator) => {
    const theirs = ofOther[generator];
    return theirs === undefined ? [] : ours.service.flatMap((_, index) => pairsOfSeries(ours, theirs, index));
  });
}

async function compareMemory({ checkout, folder, sizes }: Contest): Promise<Pairs[]> {
  using raw = await startGenerator('raw');
  await using own = await startService({ folder, dataDir: 'memory-own' });
  await using other = await startService({ folder, dataDir: 'memory-other' }, checkout);
  const all = await measureMemory(raw, [own, other], sizes.memory);
  const [ofOwn = [], ofOther = []] = all.map((samples) => samples.map(({ mebibytes }) => mebibytes));
  const label = `${formatNumber(sizes.memory.requests, 0)} requests`;
  return [{ label, measure: 'resident', generator: 'raw', own: ofOwn, other: ofOther }];
}

const startLabels = { script: '`npm start` without npm', executable: 'the executable, over `npm start`' };

async function compareStarts({ checkout, folder, sizes }: Contest): Promise<Pairs[]> {
  const ways = [
    scriptWay(folder, 'own'),
    scriptWay(folder, 'other', checkout),
    executableWay(folder),
  ] as const;
  const [own = [], other = [], executable = []] = await measureStarts(ways, sizes.starts);
  const common = { measure: 'start', generator: null, other } as const;
  return [
    { ...common, label: startLabels.script, own },
    { ...common, label: startLabels.executable, own: executable },
  ];
}

async function compareStores({ checkout, sizes }: Contest): Promise<Pairs[]> {
  const { runs, liveSecrets } = sizes.store;
  const [own, other]: [number[], number[]] = [[], []];
  const turns = [
    { into: own, root: repositoryRoot },
    { into: other, root: checkout },
  ];
  for (let run = 0; run < runs; run += 1) {
    for (const { into, root } of run % 2 === 0 ? turns : turns.toReversed())
      into.push(runStore(sizes.store, root).figures.put_and_claim_64?.operationsPerSecond ?? Number.NaN);
    console.error(`store: run ${run + 1} of ${runs}`);
  }
  const label = `${storeLabel}, ${formatNumber(liveSecrets, 0)} live`;
  return [{ label, measure: 'perSecond', generator: null, own, other }];
}

const storeLabel = 'store: put and claim, 64 in flight';

export const againstSections = {
  requests: compareRequests,
  memory: compareMemory,
  start: compareStarts,
  store: compareStores,
} as const;
export type AgainstSection = keyof typeof againstSections;

/** The commit that targets in ratio are held against. */
export const baseline = 'b0348ba5a95dd6b6653f8e075094583fcde627c2';

/** The worst of the figures of that name. */
function ratioOf(all: readonly Pairs[], found: (pairs: Pairs) => boolean): number | null {
  const ratios = all.filter(found).map((pairs) => ratiosOf(pairs)[1]);
  return ratios.length === 0 ? null : Math.max(...ratios);
}

const inRatio = { direction: 'at most', unit: '', digits: 2 } as const;

/** With either generator. */
function loadTarget(label: string, measure: Pairs['measure'], bound: number): Target<readonly Pairs[]> {
  const isIt = (pairs: Pairs) => pairs.label === label && pairs.measure === measure;
  return {
    ...inRatio,
    what: `${measures[measure].name} of a ${label}`,
    bound,
    measure: (all) => ratioOf(all, isIt),
  };
}

const isStore = ({ label }: Pairs): boolean => label.startsWith(storeLabel);

/** What those of benchmarks.md come to in ratio to the baseline, whose figures were measured beside them. */
const targets: readonly Target<readonly Pairs[]>[] = [
  loadTarget(labels.create, 'cpu', 0.68),
  loadTarget(labels.trip, 'cpu', 0.71),
  loadTarget(labels.createV2, 'cpu', 0.73),
  loadTarget(labels.tripV2, 'cpu', 0.76),
  loadTarget(labels.trip, 'p99', 0.78),
  {
    ...inRatio,
    what: 'resident after the load',
    bound: 0.85,
    measure: (all) => ratioOf(all, ({ measure }) => measure === 'resident'),
  },
  {
    ...inRatio,
    what: storeLabel,
    bound: 1,
    direction: 'at least',
    measure: (all) => ratioOf(all, isStore),
    condition: (all) => all.find(isStore)?.label.slice(storeLabel.length) ?? '',
  },
];

function rowOf(pairs: Pairs): string[] {
  const { name, unit, digits } = measures[pairs.measure];
  const [lower, middle, upper] = ratiosOf(pairs).map((ratio) => formatNumber(ratio, 3));
  const cells = [pairs.own, pairs.other].map((values, side) => {
    const beside = pairs.beside?.[side];
    const value = `${formatNumber(median(values), digits)} ${unit}`.trim();
    return beside === undefined ? value : `${value} = ${beside}`;
  });
  const generator = pairs.generator ?? '–';
  return [pairs.label, generator, name, ...cells, middle ?? '', `${lower} to ${upper}`, verdictOf(pairs)];
}

/** In Markdown. @param isWhole whether every section was run */
export function renderComparison(all: readonly Pairs[], commit: string, isWhole: boolean): string {
  const header = ['what', 'generator', 'figure', 'here', 'there', 'ratio', 'quartiles', 'verdict'];
  const held = commit === baseline ? targetsTable(targets, all, isWhole) : null;
  const reached = held === null ? '' : `## Against the targets, here over there\n\n${held}\n\n`;
  return `${reached}## Here and there

This checkout ("here") and ${commit.slice(0, 12)} ("there"), medians of the rounds. The ratio is here over there within a round; only
processor time and starts have a verdict, because the rest depends too much on the machine's other work. B is the processor time
of a create sent to a bare \`Bun.serve\` that reads its body, N the requests a second of a bare \`node:http\` asked for a page, for
the same generator in the same rounds.

${table(header, all.map(rowOf), 3)}
`;
}

/** @param sections what to compare Throws `UnknownRevision`. */
export async function compareWith(
  revision: string,
  sections: readonly AgainstSection[],
  sizes: Sizes,
): Promise<{ readonly commit: string; readonly pairs: Pairs[] }> {
  const commit = resolveRevision(revision);
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-'));
  try {
    return await withCheckout(commit, async (checkout) => {
      const pairs: Pairs[] = [];
      for (const section of sections)
        pairs.push(...(await againstSections[section]({ checkout, folder, sizes })));
      return { commit, pairs };
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What is slower here. */
export const slowerOf = (all: readonly Pairs[]): string[] =>
  all
    .filter((pairs) => verdictOf(pairs) === 'slower')
    .map(({ label, generator }) => (generator === null ? label : `${label} (${generator})`));
