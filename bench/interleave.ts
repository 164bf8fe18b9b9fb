/**
 * Requests of several classes, timed side by side.
 *
 * Invariant: every round takes each class once, in a fresh random order, on one keep-alive connection, so that a slow
 * moment hits all of them; the slowest tenth of each class is cut, because it is the machine's. Source of the test:
 * B. L. Welch, "The generalization of Student's problem when several different population variances are involved" (1947).
 */
import type { RawConnection } from '../test/support/raw-client.ts';
import { median } from './figures.ts';

/** What one sample of a class sends. */
export interface Sample {
  /** Timed. */
  readonly request: Buffer;
  /** Timed by itself, on the same connection, as soon as the answer has come; `null`: nothing is sent. */
  readonly next: Buffer | null;
}

export interface SampleClass {
  readonly label: string;
  /** Whatever it has to load first is not timed. */
  readonly draw: (connection: RawConnection) => Sample | Promise<Sample>;
  /** Of its answers; another one ends the run. */
  readonly status: number;
}

/** The first class is the one that the others are held against. */
export interface Comparison {
  readonly label: string;
  readonly rounds: number;
  readonly classes: readonly SampleClass[];
}

export interface TimingFigure {
  readonly comparison: string;
  readonly label: string;
  /** Samples that were not cut. */
  readonly count: number;
  readonly medianMicroseconds: number;
  /** Of the median to that of the first class. */
  readonly ratio: number;
  /** Welch's t against the first class. */
  readonly t: number;
}

interface Times {
  readonly own: number[];
  readonly next: number[];
}

/** Rounds that are not counted, as a share of those that are. */
const warmUpShare = 0.1;
const keptShare = 0.9;

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const keyed = items.map((item) => ({ item, key: random() }));
  return keyed.sort((a, b) => a.key - b.key).map(({ item }) => item);
}

async function takeSample(connection: RawConnection, { draw, label, status }: SampleClass, times: Times) {
  const { request, next } = await draw(connection);
  const startedAt = performance.now();
  const answer = await connection.send(request);
  const endedAt = performance.now();
  if (answer.status !== status) throw new Error(`${label}: ${answer.status} instead of ${status}`);
  times.own.push((endedAt - startedAt) * 1000);
  if (next === null) return;
  await connection.send(next);
  times.next.push((performance.now() - endedAt) * 1000);
}

/** Takes all samples of a comparison, one after the other. */
export async function compare(
  connection: RawConnection,
  { label, rounds, classes }: Comparison,
  random: () => number,
): Promise<TimingFigure[]> {
  const drawn = classes.map((one) => ({ one, times: { own: [], next: [] } as Times }));
  const warmUps = Math.ceil(rounds * warmUpShare);
  for (let round = 0; round < warmUps + rounds; round += 1) {
    for (const { one, times } of shuffled(drawn, random)) {
      await takeSample(connection, one, round < warmUps ? { own: [], next: [] } : times);
    }
  }
  const own = figuresOf(label, drawn, ({ own }) => own);
  const following = figuresOf(`${label}, the next request`, drawn, ({ next }) => next);
  return [...own, ...following];
}

function figuresOf(
  comparison: string,
  drawn: readonly { readonly one: SampleClass; readonly times: Times }[],
  pick: (times: Times) => readonly number[],
): TimingFigure[] {
  const kept = drawn.map(({ one, times }) => ({ label: one.label, times: cut(pick(times)) }));
  const first = kept[0]?.times ?? [];
  if (first.length === 0) return [];
  return kept.map(({ label, times }) => ({
    ...{ comparison, label },
    count: times.length,
    medianMicroseconds: median(times),
    ratio: median(times) / median(first),
    t: times === first ? 0 : welch(times, first),
  }));
}

function cut(times: readonly number[]): number[] {
  return [...times].sort((a, b) => a - b).slice(0, Math.ceil(times.length * keptShare));
}

export function welch(a: readonly number[], b: readonly number[]): number {
  const [ofA, ofB] = [momentsOf(a), momentsOf(b)];
  return (ofA.mean - ofB.mean) / Math.sqrt(ofA.variance / a.length + ofB.variance / b.length);
}

function momentsOf(values: readonly number[]): { mean: number; variance: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1);
  return { mean, variance };
}
