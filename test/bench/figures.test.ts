/** How figures become multiples of the bare servers', and when a target counts as reached. */
import { describe, expect, it } from 'bun:test';
import { inB, inN, type Round, type Series } from '../../bench/figures.ts';
import type { JobKind } from '../../bench/jobs.ts';
import { judge, type Target } from '../../bench/targets.ts';

const seriesOf = (kind: JobKind, rounds: readonly Partial<Round>[]): Series => ({
  ...{ label: kind, kind },
  rounds: rounds.map((round) => ({
    ...{ tripsPerSecond: 0, cpuMicrosecondsPerTrip: 0, p50Milliseconds: 0, p99Milliseconds: 0 },
    ...{ generatorShare: 0, ...round },
  })),
});
const cpus = (...all: number[]) =>
  seriesOf(
    'get',
    all.map((cpuMicrosecondsPerTrip) => ({ cpuMicrosecondsPerTrip })),
  );
const speeds = (kind: JobKind, ...all: number[]) =>
  seriesOf(
    kind,
    all.map((tripsPerSecond) => ({ tripsPerSecond })),
  );

describe('figures beside the bare servers', () => {
  it('divide within a round, so that a slow round does not count', () => {
    expect(inB([70, 700, 70], { bun: cpus(10, 100, 10) })).toBe(7);
  });

  it('count both requests of a trip', () => {
    const node = speeds('get', 1_000);
    expect(inN(speeds('create-v1-form', 400), { node })).toBe(0.4);
    expect(inN(speeds('trip-v1', 200), { node })).toBe(0.4);
  });
});

describe('a target', () => {
  const target = (more: Partial<Target<number | null>> = {}): Target<number | null> => ({
    ...{ what: 'a figure', bound: 7, direction: 'at most', unit: 'B', digits: 1 },
    measure: (value) => value,
    ...more,
  });
  const verdictOf = (value: number | null, more?: Partial<Target<number | null>>) =>
    judge([target(more)], value)[0]?.verdict;

  it('is reached at its bound', () => expect(verdictOf(7)).toBe('reached'));
  it('is missed beyond it', () => expect(verdictOf(7.01)).toBe('missed'));
  it('is missed below it when more is better', () =>
    expect(verdictOf(6.99, { direction: 'at least' })).toBe('missed'));
  it('says when the stretch is reached too', () => {
    expect(verdictOf(6, { stretch: 6 })).toBe('stretch reached');
    expect(verdictOf(6.5, { stretch: 6 })).toBe('reached');
  });
  it('is never reached by what was not measured', () => {
    expect(verdictOf(null)).toBe('not measured');
    expect(verdictOf(Number.NaN)).toBe('not measured');
  });
  it('is shown with bound, stretch, unit and condition', () => {
    const condition = () => ' over 9 requests';
    expect(judge([target({ stretch: 5.5, condition })], 6.04)).toEqual([
      {
        what: 'a figure',
        target: 'at most 7 B (stretch 5.5)',
        measured: '6.0 B over 9 requests',
        verdict: 'reached',
      },
    ]);
  });
});
