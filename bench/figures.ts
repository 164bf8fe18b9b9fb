/**
 * The figures of a run and the targets they are compared with.
 *
 * A figure that was not taken is shown as not measured, never as met.
 */
import type { TimingFigure } from './interleave.ts';
import type { JobKind } from './jobs.ts';
import type { PageFigures, PagesFigures } from './pages.ts';
import type { RouterFigure } from './router.ts';
import type { StoreFigures } from './store.ts';

/** One kind of work on one server, in one round. */
export interface Round {
  readonly tripsPerSecond: number;
  readonly cpuMicrosecondsPerTrip: number;
  readonly p50Milliseconds: number;
  readonly p99Milliseconds: number;
}

export interface Series {
  readonly label: string;
  readonly kind: JobKind;
  readonly rounds: readonly Round[];
}

export interface MemorySample {
  readonly requests: number;
  readonly mebibytes: number;
}

export interface Figures {
  readonly node: Series;
  readonly bun: Series;
  readonly service: readonly Series[];
  readonly passphrase: readonly Series[];
  readonly startMilliseconds: readonly number[];
  readonly residentMebibytes: number;
  readonly memory: readonly MemorySample[];
  /** `null` when the store was not measured. */
  readonly store: StoreFigures | null;
  readonly fsyncMicroseconds: number;
  readonly router: readonly RouterFigure[];
  readonly uniform: readonly TimingFigure[];
  /** `null` when no browser was there. */
  readonly pages: PagesFigures | null;
}

export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  if (sorted.length === 0) return Number.NaN;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}

/** The median of each figure over the rounds. */
export function summary({ rounds }: Pick<Series, 'rounds'>): Round {
  const of = (field: keyof Round) => median(rounds.map((round) => round[field]));
  return {
    tripsPerSecond: of('tripsPerSecond'),
    cpuMicrosecondsPerTrip: of('cpuMicrosecondsPerTrip'),
    p50Milliseconds: of('p50Milliseconds'),
    p99Milliseconds: of('p99Milliseconds'),
  };
}

export interface Verdict {
  readonly what: string;
  readonly target: string;
  readonly measured: string;
  readonly verdict: 'kept' | 'missed' | 'not measured';
}

interface Target {
  readonly what: string;
  readonly bound: number;
  readonly direction: 'at most' | 'at least';
  readonly unit: string;
  readonly digits: number;
  /** `null` when this run did not take it. */
  readonly measure: (figures: Figures) => number | null;
}

const isKind =
  (...kinds: JobKind[]) =>
  (series: Series) =>
    kinds.includes(series.kind);
const creates = isKind('create-v1-form', 'create-v1-json', 'create-v2');
const trips = isKind('trip-v1', 'trip-v2');

/** The worst of several, because a target holds for each. */
function worst(series: readonly Series[], field: keyof Round, pick: (...of: number[]) => number): number {
  return pick(...series.map((one) => summary(one)[field]));
}

/** Requests a second of the bare Node server, halved for a trip of two requests. */
const bareTrips = (figures: Figures, requests: number) => summary(figures.node).tripsPerSecond / requests;

/** The least growth that counts: the collector's own swing between samples is a few per cent. */
function growthPercent(memory: readonly MemorySample[]): number | null {
  const [, ...settled] = memory;
  const half = Math.floor(settled.length / 2);
  if (half < 2) return null;
  const early = median(settled.slice(0, half).map(({ mebibytes }) => mebibytes));
  const late = median(settled.slice(-half).map(({ mebibytes }) => mebibytes));
  return (late / early - 1) * 100;
}

/** The worst of the pages whose label this is; of all when it is `null`. */
const ofPages =
  (label: string | null, field: Exclude<keyof PageFigures, 'label'>, divisor = 1) =>
  ({ pages }: Figures): number | null => {
    const found = pages?.pages.filter((page) => label === null || page.label === label) ?? [];
    return found.length === 0 ? null : Math.max(...found.map((page) => page[field])) / divisor;
  };

/** The dearest of the router's pairs. */
const ofRouter =
  (cost: (figure: RouterFigure) => number) =>
  ({ router }: Pick<Figures, 'router'>): number | null =>
    router.length === 0 ? null : Math.max(...router.map(cost));

const targets: readonly Target[] = [
  {
    what: 'processor time of a create, the dearest of the three forms',
    bound: 35,
    direction: 'at most',
    unit: 'µs',
    digits: 1,
    measure: ({ service }) => worst(service.filter(creates), 'cpuMicrosecondsPerTrip', Math.max),
  },
  {
    what: 'processor time of a create and its reveal',
    bound: 70,
    direction: 'at most',
    unit: 'µs',
    digits: 1,
    measure: ({ service }) => worst(service.filter(trips), 'cpuMicrosecondsPerTrip', Math.max),
  },
  {
    what: 'creates a second, over requests a second of bare node:http',
    bound: 0.35,
    direction: 'at least',
    unit: '',
    digits: 2,
    measure: (figures) =>
      worst(figures.service.filter(creates), 'tripsPerSecond', Math.min) / bareTrips(figures, 1),
  },
  {
    what: 'create-and-reveal trips a second, over two-request trips of bare node:http',
    bound: 0.35,
    direction: 'at least',
    unit: '',
    digits: 2,
    measure: (figures) =>
      worst(figures.service.filter(trips), 'tripsPerSecond', Math.min) / bareTrips(figures, 2),
  },
  {
    what: 'p99 of a request at 48 connections',
    bound: 10,
    direction: 'at most',
    unit: 'ms',
    digits: 2,
    measure: ({ service }) => worst(service, 'p99Milliseconds', Math.max),
  },
  {
    what: 'durable operations of the store a second (as many puts as claims), 64 in flight, 1,000,000 live secrets',
    bound: 100_000,
    direction: 'at least',
    unit: '',
    digits: 0,
    measure: ({ store }) =>
      store === null || store.liveSecrets < 1_000_000
        ? null
        : (store.figures.put_and_claim_64?.operationsPerSecond ?? null),
  },
  {
    what: 'resident memory under load',
    bound: 150,
    direction: 'at most',
    unit: 'MiB',
    digits: 0,
    measure: ({ residentMebibytes, memory }) =>
      Math.max(residentMebibytes, ...memory.map(({ mebibytes }) => mebibytes)),
  },
  {
    what: 'growth of memory from the first to the second half of 1,000,000 requests',
    bound: 5,
    direction: 'at most',
    unit: '%',
    digits: 1,
    measure: ({ memory }) => growthPercent(memory),
  },
  {
    what: 'start of the process to its first answer, median',
    bound: 150,
    direction: 'at most',
    unit: 'ms',
    digits: 0,
    measure: ({ startMilliseconds }) => median(startMilliseconds),
  },
  {
    what: 'a hop through the router, p50 more than asked directly, one request at a time',
    bound: 1,
    direction: 'at most',
    unit: 'ms',
    digits: 2,
    measure: ({ router }) =>
      ofRouter((one) => one.routedP50Milliseconds - one.directP50Milliseconds)({
        router: router.filter(({ connections }) => connections === 1),
      }),
  },
  {
    what: 'a hop through the router, processor time more than asked directly',
    bound: 25,
    direction: 'at most',
    unit: 'µs',
    digits: 1,
    measure: ofRouter((one) => one.routedCpuMicroseconds - one.directCpuMicroseconds),
  },
  {
    what: '`/` with all it loads, over the wire',
    bound: 30,
    direction: 'at most',
    unit: 'kB',
    digits: 1,
    measure: ofPages('`/`', 'transferredBytes', 1000),
  },
  {
    what: '`/` with all it loads, requests',
    bound: 6,
    direction: 'at most',
    unit: '',
    digits: 0,
    measure: ofPages('`/`', 'requests'),
  },
  {
    what: '`/secret/:key` with all it loads, over the wire',
    bound: 25,
    direction: 'at most',
    unit: 'kB',
    digits: 1,
    measure: ofPages('`/secret/:key`', 'transferredBytes', 1000),
  },
  {
    what: 'processor time of a page, the dearer of the two',
    bound: 1000,
    direction: 'at most',
    unit: 'µs',
    digits: 0,
    measure: ofPages(null, 'cpuMicroseconds'),
  },
];

export function formatNumber(value: number, digits: number): string {
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

export function judge(figures: Figures): Verdict[] {
  return targets.map(({ what, bound, direction, unit, digits, measure }) => {
    const target = `${direction} ${formatNumber(bound, Number.isInteger(bound) ? 0 : 2)} ${unit}`.trim();
    const value = measure(figures);
    if (value === null || !Number.isFinite(value))
      return { what, target, measured: '–', verdict: 'not measured' };
    const isKept = direction === 'at most' ? value <= bound : value >= bound;
    const measured = `${formatNumber(value, digits)} ${unit}`.trim();
    return { what, target, measured, verdict: isKept ? 'kept' : 'missed' };
  });
}
