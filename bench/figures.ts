/**
 * The figures of a run, and the one place where they become multiples of the bare servers'.
 *
 * B is the processor time of one create sent to a bare `Bun.serve` that reads its body, in the same run; N the requests a second
 * of a bare `node:http`.
 * Ratios are taken within a round, because a slow minute hits all of its parts.
 */
import type { GeneratorName } from './generators.ts';
import { type JobKind, requestsPerTrip } from './jobs.ts';

/** One kind of work on one server, in one round. */
export interface Round {
  readonly tripsPerSecond: number;
  readonly cpuMicrosecondsPerTrip: number;
  readonly p50Milliseconds: number;
  readonly p99Milliseconds: number;
  /** Of its core, that the generator used: near 1 the generator was the limit. */
  readonly generatorShare: number;
}

export interface Series {
  readonly label: string;
  readonly kind: JobKind;
  readonly rounds: readonly Round[];
}

/** The bare servers, in the same rounds. */
export interface Yardsticks {
  /** B: a create, of which it reads the body. */
  readonly bun: Series;
  /** The same server asked for a page. */
  readonly bunWithoutBody: Series;
  readonly node: Series;
}

/** What one generator measured on one service. */
export interface LoadFigures extends Yardsticks {
  readonly generator: GeneratorName;
  readonly service: readonly Series[];
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
    generatorShare: of('generatorShare'),
  };
}

/** By round. */
export function ratios(own: readonly number[], other: readonly number[]): number[] {
  return own.map((value, index) => value / (other[index] ?? Number.NaN));
}

/** @param cpuMicroseconds by round */
export function inB(cpuMicroseconds: readonly number[], { bun }: Pick<Yardsticks, 'bun'>): number {
  const ofBare = bun.rounds.map((round) => round.cpuMicrosecondsPerTrip);
  return median(ratios(cpuMicroseconds, ofBare));
}

/** Requests a second over those of bare `node:http`; equally, trips over its trips of as many requests. */
export function inN({ kind, rounds }: Series, { node }: Pick<Yardsticks, 'node'>): number {
  const own = rounds.map((round) => round.tripsPerSecond * requestsPerTrip(kind));
  const ofBare = node.rounds.map((round) => round.tripsPerSecond);
  return median(ratios(own, ofBare));
}

export const cpuOf = ({ rounds }: Pick<Series, 'rounds'>): number[] =>
  rounds.map((round) => round.cpuMicrosecondsPerTrip);

export function formatNumber(value: number, digits: number): string {
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** Rows of cells as a table in Markdown; the cells after the first `texts` are numbers. */
export function table(header: readonly string[], rows: readonly (readonly string[])[], texts = 1): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const rule = header.map((_, index) => (index < texts ? '---' : '---:'));
  return [header, rule, ...rows].map(line).join('\n');
}
