/**
 * What a figure has to reach, and whether it did.
 *
 * A figure that was not taken is shown as not measured, never as reached. B is that of figures.ts: a create whose body is read.
 */
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
import { labels } from './load.ts';
import { growthPercent, mostMebibytes } from './memory.ts';
import type { RouterFigure } from './router.ts';
import type { Figures } from './sections.ts';
import { longRequests } from './sizes.ts';
import type { TailFigures } from './tail.ts';

export interface Target<Measured> {
  readonly what: string;
  readonly bound: number;
  /** Beyond the bound. */
  readonly stretch?: number;
  readonly direction: 'at most' | 'at least';
  readonly unit: string;
  readonly digits: number;
  /** `null` when this run did not take it. */
  readonly measure: (measured: Measured) => number | null;
  /** What the figure depends on, for the reader. */
  readonly condition?: (measured: Measured) => string;
}

export interface Verdict {
  readonly what: string;
  readonly target: string;
  readonly measured: string;
  readonly verdict: 'reached' | 'stretch reached' | 'missed' | 'not measured';
}

const decimalsOf = (value: number) => String(value).split('.')[1]?.length ?? 0;

function targetText<M>({ bound, stretch, direction, unit }: Target<M>): string {
  const shown = (value: number) => formatNumber(value, decimalsOf(value));
  const further = stretch === undefined ? '' : ` (stretch ${shown(stretch)})`;
  return `${direction} ${shown(bound)} ${unit}`.trim() + further;
}

export function judge<M>(targets: readonly Target<M>[], measured: M): Verdict[] {
  return targets.map((target) => {
    const { what, bound, stretch, direction, unit, digits, measure, condition } = target;
    const value = measure(measured);
    const text = targetText(target);
    if (value === null || !Number.isFinite(value))
      return { what, target: text, measured: '–', verdict: 'not measured' };
    const reaches = (limit: number) => (direction === 'at most' ? value <= limit : value >= limit);
    const reached = stretch !== undefined && reaches(stretch) ? 'stretch reached' : 'reached';
    return {
      what,
      target: text,
      measured: `${formatNumber(value, digits)} ${unit}`.trim() + (condition?.(measured) ?? ''),
      verdict: reaches(bound) ? reached : 'missed',
    };
  });
}

/** As a table; `null`: there is nothing to say. @param isWhole whether to say what was not measured */
export function targetsTable<M>(targets: readonly Target<M>[], measured: M, isWhole: boolean): string | null {
  const verdicts = judge(targets, measured).filter(({ verdict }) => isWhole || verdict !== 'not measured');
  const rows = verdicts.map((one) => [one.what, one.target, one.measured, one.verdict]);
  return rows.length === 0 ? null : table(['target', 'bound', 'measured', ''], rows);
}

/** Targets in B and N are held against what raw sockets measured. */
const ofLoad =
  (label: string, measure: (series: Series, load: LoadFigures) => number) =>
  ({ load }: Figures): number | null => {
    const raw = load?.find(({ generator }) => generator === 'raw');
    const series = raw?.service.find((one) => one.label === label);
    return raw === undefined || series === undefined ? null : measure(series, raw);
  };

const cpuInB = (label: string) => ofLoad(label, (series, load) => inB(cpuOf(series), load));

const ofPage =
  (label: string, field: 'requests' | 'transferredBytes', divisor = 1) =>
  ({ pages }: Figures): number | null => {
    const found = pages?.find((page) => page.label === label);
    return found === undefined ? null : found[field] / divisor;
  };

const ofRouter =
  (isShape: (connections: number) => boolean, measure: (figure: RouterFigure) => number) =>
  ({ router }: Figures): number | null => {
    const found = router?.find(({ connections }) => isShape(connections));
    return found === undefined ? null : measure(found);
  };

const requestsWatched = ({ memory }: Figures) => memory?.at(-1)?.requests ?? 0;

const atMost = { direction: 'at most' } as const;
const atLeast = { direction: 'at least' } as const;
/** Of processor time, within a round. */
const ofTrips =
  (own: string, other: string) =>
  ({ load }: Figures): number | null => {
    const found = load?.find(({ generator }) => generator === 'raw')?.service ?? [];
    const [ours, theirs] = [own, other].map((label) => found.find((series) => series.label === label));
    if (ours === undefined || theirs === undefined) return null;
    return median(ratios(cpuOf(ours), cpuOf(theirs)));
  };

const ofTail =
  (field: keyof TailFigures) =>
  ({ tail }: Figures): number | null =>
    tail?.[field] ?? null;

const tails: readonly (readonly [what: string, bound: number, field: keyof TailFigures])[] = [
  ['p99 of a create and reveal, v1, 32 connections on all cores', 7, 'tripP99'],
  ['p99 of a reveal of random ones among all that is stored', 12, 'oldP99'],
  ['p99 of a create and reveal while all of them are swept', 12, 'stormP99'],
  ['p99 of a create of 100 kB', 40, 'largeP99'],
  ['p99 of a small create beside these', 20, 'besideLargeP99'],
];

const cpu = (what: string, bound: number, label: string) => {
  const measure = cpuInB(label);
  return { ...atMost, what: `processor time of ${what}`, bound, unit: 'B', digits: 1, measure } as const;
};
const inNs = { ...atLeast, unit: 'N', digits: 2 } as const;

export const targets: readonly Target<Figures>[] = [
  { ...cpu('a create, v1, form', 6, labels.create), stretch: 5.6 },
  { ...cpu('a create and reveal, v1', 12, labels.trip), stretch: 11.5 },
  cpu('a create, v2', 7.5, labels.createV2),
  cpu('a create and reveal, v2', 14.5, labels.tripV2),
  {
    ...{ ...atMost, unit: '', digits: 2 },
    what: 'processor time of a create and reveal, end-to-end, over that of v2 in plain',
    bound: 1.1,
    measure: ofTrips(labels.tripSealed, labels.tripV2),
  },
  {
    ...inNs,
    what: 'creates a second, v1, form',
    bound: 0.38,
    stretch: 0.42,
    measure: ofLoad(labels.create, inN),
  },
  {
    ...inNs,
    what: 'create-and-reveal trips a second, v1, over trips of two requests',
    bound: 0.42,
    measure: ofLoad(labels.trip, inN),
  },
  {
    ...cpu('the router for a create, 48 at once', 5.5, ''),
    measure: ofRouter(
      (connections) => connections > 1,
      (figure) => figure.routerInB,
    ),
  },
  {
    ...atMost,
    what: 'p50 of a create through the router, more than asked directly, one at a time',
    bound: 0.3,
    unit: 'ms',
    digits: 2,
    measure: ofRouter(
      (connections) => connections === 1,
      (figure) => figure.routedP50Milliseconds - figure.directP50Milliseconds,
    ),
  },
  cpu(labels.home, 24, labels.home),
  cpu(labels.secret, 24, labels.secret),
  {
    ...atMost,
    what: 'resident memory of all processes, slow hashes included',
    bound: 140,
    unit: 'MiB',
    digits: 0,
    measure: ({ memory }) => (memory === null ? null : mostMebibytes(memory)),
    condition: (figures) => ` over ${formatNumber(requestsWatched(figures), 0)} requests`,
  },
  {
    ...atMost,
    what: 'proportional memory of a server before any request',
    bound: 70,
    unit: 'MiB',
    digits: 0,
    measure: ofTail('idleMebibytes'),
  },
  ...tails.map(([what, bound, field]) => ({
    ...{ ...atMost, unit: 'ms', digits: 1 },
    ...{ what, bound, measure: ofTail(field) },
  })),
  {
    ...{ ...atMost, unit: '', digits: 2 },
    what: 'processor time of a reveal of random ones among all that is stored, over the newest',
    bound: 1.15,
    measure: ofTail('oldOverNew'),
  },
  {
    ...{ ...atLeast, unit: '', digits: 2 },
    what: 'trips a second while all of them are swept, over before',
    bound: 0.8,
    measure: ofTail('stormOverCalm'),
  },
  {
    ...atMost,
    what: 'growth of memory from the first to the second half of 1,000,000 requests',
    bound: 5,
    unit: '%',
    digits: 1,
    measure: (figures) =>
      figures.memory === null || requestsWatched(figures) < longRequests
        ? null
        : growthPercent(figures.memory),
  },
  {
    ...atMost,
    what: `${labels.home} with all it loads, over the wire`,
    bound: 30,
    unit: 'kB',
    digits: 1,
    measure: ofPage(labels.home, 'transferredBytes', 1000),
  },
  {
    ...atMost,
    what: `${labels.home} with all it loads, requests`,
    bound: 6,
    unit: '',
    digits: 0,
    measure: ofPage(labels.home, 'requests'),
  },
  {
    ...atMost,
    what: `${labels.secret} with all it loads, over the wire`,
    bound: 25,
    unit: 'kB',
    digits: 1,
    measure: ofPage(labels.secret, 'transferredBytes', 1000),
  },
  {
    ...{ ...atMost, unit: 'ms', digits: 0 },
    what: 'argon2id on a slow phone',
    bound: 3_000,
    measure: ({ phone }) => phone?.stretchMilliseconds ?? null,
  },
  {
    ...{ ...atMost, unit: 'ms', digits: 0 },
    what: 'an end-to-end page on a slow phone, blocked',
    bound: 100,
    measure: ({ phone }) =>
      phone === null ? null : Math.max(...phone.steps.map(({ blockedMilliseconds }) => blockedMilliseconds)),
  },
];
