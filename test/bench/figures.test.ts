/** How figures become multiples of the bare servers', and when a target counts as reached. */
import { describe, expect, it } from 'bun:test';
import { inB, inN, type Round, type Series } from '../../bench/figures.ts';
import type { JobKind } from '../../bench/jobs.ts';
import { bareWorks, labels } from '../../bench/load.ts';
import { renderFigures } from '../../bench/report.ts';
import type { Figures } from '../../bench/sections.ts';
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

describe('the document', () => {
  const rowsOf = (text: string, label: string) =>
    text.split('\n').filter((line) => line.startsWith(`| ${label} |`));
  const bare = (label: string, ...all: number[]) => ({ ...cpus(...all), label });
  const figures = {
    load: [
      {
        generator: 'raw',
        bun: bare(bareWorks.bun.label, 20, 20),
        bunWithoutBody: bare(bareWorks.bunWithoutBody.label, 14, 14),
        node: bare(bareWorks.node.label, 40, 40),
        service: [bare(labels.create, 100, 100)],
      },
    ],
    ...{ router: null, pages: null, phone: null, memory: null, start: null, store: null, uniform: null },
    bodies: null,
    tail: null,
  } satisfies Figures;

  it('shows the bare Bun.serve with and without a body, once each, and measures in the one with it', () => {
    const text = renderFigures(figures, false);
    for (const [label, inBs] of [
      [bareWorks.bun.label, '1.0'],
      [bareWorks.bunWithoutBody.label, '0.7'],
      [labels.create, '5.0'],
    ] as const)
      expect(rowsOf(text, label).map((row) => row.split(' | ')[2])).toEqual([inBs]);
    expect(text).toContain('which reads the body');
    expect(rowsOf(text, 'processor time of a create, v1, form')[0]).toContain('5.0 B');
  });

  it('says which one a target means', () => {
    expect(renderFigures(figures, false)).toContain('every target in B means this one');
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
