import { describe, expect, it } from 'bun:test';
import { createSettableClock, type SettableClock, startOfTest } from '../../test/stores/conformance/check.ts';
import { ServiceError } from '../core/errors.ts';
import {
  createStoreTime,
  isAccountedFor,
  leastTimeBy,
  type StoreTime,
  type TimeAnchor,
} from './store-time.ts';

/** Seconds ahead of the start of the test. */
const ahead = (seconds: number): number => seconds - startOfTest;

function timeOf(kept: TimeAnchor | null = null) {
  const clock = createSettableClock();
  return { clock, time: createStoreTime(clock, kept) };
}

/** As another boot of the machine has left it. */
const leftAt = (seconds: number): TimeAnchor => ({
  seconds: startOfTest + seconds,
  bootId: 'an earlier one',
  sinceBoot: 0,
  dispute: null,
});

const verdictOf = (time: StoreTime) => time.report().verdict;

/** `live`, `expired`, or after how many seconds to ask again. */
function judged(time: StoreTime, createdAt: number, expiresAt: number): string | number | undefined {
  const secret = { createdAt: startOfTest + createdAt, expiresAt: startOfTest + expiresAt };
  try {
    return time.isLive(secret) ? 'live' : 'expired';
  } catch (error) {
    return error instanceof ServiceError ? error.retryAfterSeconds : String(error);
  }
}

it('P8: a dispute that goes on stays the same, so what was created in it is judged by store time', () => {
  const { clock, time } = timeOf();
  expect(time.now()).toBe(clock.read());
  clock.jump(5_000);
  const secret = { createdAt: time.now(), expiresAt: time.now() + 100 };
  clock.advance(50);
  expect(time.isLive(secret)).toBe(true);
  clock.advance(49);
  expect(time.isLive(secret)).toBe(true);
  clock.advance(1);
  expect(time.isLive(secret)).toBe(false);
});

describe('P8: the wall clock', () => {
  it.each([
    [300, 'agreed', 300],
    [301, 'disputed', 1],
    [-300, 'agreed', 0],
    [-301, 'disputed', 1],
  ] as const)('set by %d s is %s', (seconds, verdict, now) => {
    const { clock, time } = timeOf();
    clock.jump(seconds);
    expect([verdictOf(time), ahead(time.now()), ahead(time.earliest())]).toEqual([verdict, now, now]);
    expect(time.maySweep()).toBe(verdict === 'agreed');
    expect(time.report()).toEqual({
      verdict,
      storeTime: startOfTest + now,
      wall: startOfTest + seconds,
      aheadSeconds: seconds - now,
    });
  });

  it.each<[string, (clock: SettableClock, time: StoreTime) => void, number]>([
    ['just under 100 s', (clock) => clock.advance(99), 200],
    ['100 s', (clock) => clock.advance(100), 199],
    ['just under 200 s', (clock) => clock.advance(199), 199],
    ['long enough', (clock) => clock.advance(30_000), 0],
    [
      '250 s, second by second',
      (clock, time) => {
        for (let passed = 0; passed < 250; passed += 1) {
          clock.advance(1);
          time.now();
        }
      },
      198,
    ],
  ])('is met again from a lead of 200 s after %s', (_name, pass, lead) => {
    const { clock, time } = timeOf();
    clock.advance(1_000);
    time.now();
    clock.jump(-200);
    time.now();
    pass(clock, time);
    expect(time.now() - clock.wall()).toBe(lead);
  });

  it.each([
    // One second is no lead: the clocks are cut to whole seconds.
    [-1, 0, 0],
    [-1, 50, 49],
    [-2, 100, 99],
    [-2, 99, 99],
  ])('set by %d s, and %d s later, is at %d s', (jump, passed, now) => {
    const { clock, time } = timeOf();
    clock.jump(jump);
    time.now();
    clock.advance(passed);
    expect(ahead(time.now())).toBe(now);
  });

  it('owes nothing for a lead that was none, or a dispute that is over', () => {
    for (const jumps of [
      [-1, -199],
      [-400, 199],
      [200, -200],
    ] as const) {
      const { clock, time } = timeOf();
      for (const jump of jumps) {
        clock.jump(jump);
        time.now();
      }
      const lead = time.now() - clock.wall();
      clock.advance(99);
      expect([jumps, time.now() - clock.wall()]).toEqual([jumps, lead]);
      clock.advance(1);
      expect([jumps, time.now() - clock.wall()]).toEqual([jumps, lead - 1]);
    }
  });
});

describe('P8: a dispute', () => {
  const since = (time: StoreTime) => ahead(time.anchor()?.dispute?.since ?? 0);

  it.each([
    [300, 1],
    [-300, 1],
    [301, 12],
    [-301, 12],
  ])('goes on after %d s more, since %d s', (more, began) => {
    const { clock, time } = timeOf();
    clock.jump(5_000);
    expect([since(time), time.anchor()?.dispute?.aheadSeconds]).toEqual([1, 5_000]);
    clock.advance(10);
    clock.jump(more + 1);
    expect([since(time), ahead(time.now())]).toEqual([began, Math.max(began, 11)]);
  });

  it.each([
    [300, -50],
    [301, 1],
  ])('of others is this one up to a difference of %d s', (difference, began) => {
    for (const isBefore of [true, false]) {
      const { clock, time } = timeOf();
      if (isBefore) clock.jump(5_000);
      time.raiseTo(0, { since: startOfTest - 50, aheadSeconds: 5_000 - difference });
      if (!isBefore) clock.jump(5_000);
      expect([isBefore, since(time)]).toEqual([isBefore, began]);
    }
  });

  it('judges by both clocks what was created before it, and by store time what was created since', () => {
    const { clock, time } = timeOf();
    clock.jump(5_000);
    time.now();
    const rows = [0, 1].map((created) =>
      [1, 2, 5_000, 5_001].map((expires) => judged(time, created, expires)),
    );
    expect(rows).toEqual([
      ['expired', 60, 60, 'live'],
      ['expired', 'live', 'live', 'live'],
    ]);
  });
});

describe('P8: after a boot of the machine', () => {
  it.each([
    [-3_600, 'agreed', 0, 0],
    [-3_601, 'unproven', 0, -3_601],
    [-3_700, 'unproven', 0, -3_700],
    [0, 'agreed', 0, 0],
    [200, 'agreed', 200, 200],
    [301, 'disputed', 302, 302],
  ] as const)('a time left at %d s is %s', (left, verdict, now, earliest) => {
    const { time } = timeOf(leftAt(left));
    expect([verdictOf(time), ahead(time.now()), ahead(time.earliest())]).toEqual([verdict, now, earliest]);
    expect([time.maySweep(), time.anchor() === null]).toEqual([verdict === 'agreed', verdict === 'unproven']);
  });

  it('a wall clock far ahead is proven after ten minutes', () => {
    const { clock, time } = timeOf(leftAt(-4_000));
    for (const [passed, verdict, earliest] of [
      [1, 'unproven', -3_999],
      [598, 'unproven', -3_401],
      [1, 'agreed', 600],
    ] as const) {
      clock.advance(passed);
      expect([verdictOf(time), time.now(), ahead(time.earliest())]).toEqual([
        verdict,
        clock.wall(),
        earliest,
      ]);
    }
    clock.jump(-100);
    time.now();
    clock.advance(99);
    expect(time.now() - clock.wall()).toBe(100);
  });

  it.each([
    [300, 'agreed', 900],
    [-300, 'agreed', 600],
    [301, 'unproven', 901],
    [-301, 'unproven', 299],
    [-4_000, 'agreed', -3_400],
  ] as const)('set by %d s in the meantime it is %s', (jump, verdict, now) => {
    const { clock, time } = timeOf(leftAt(-4_000));
    clock.advance(300);
    clock.jump(jump);
    expect([verdictOf(time), ahead(time.earliest())]).toEqual([
      jump === -4_000 ? 'agreed' : 'unproven',
      -3_700,
    ]);
    clock.advance(300);
    expect([verdictOf(time), ahead(time.now())]).toEqual([verdict, now]);
  });

  it('judges by both times what was created before, and says when to ask again', () => {
    const { clock, time } = timeOf(leftAt(-4_000));
    expect([-4_000, 0, 1].map((expires) => judged(time, -5_000, expires))).toEqual(['expired', 600, 'live']);
    expect([0, 1].map((expires) => judged(time, 0, expires))).toEqual(['expired', 'live']);
    clock.advance(599);
    expect([-3_401, -3_400, 599, 600].map((expires) => judged(time, -5_000, expires))).toEqual([
      'expired',
      1,
      1,
      'live',
    ]);
    const doubtful = { createdAt: startOfTest - 5_000, expiresAt: startOfTest };
    expect(() => time.assertProven(doubtful)).toThrow('in doubt');
    clock.advance(1);
    expect(() => time.assertProven(doubtful)).not.toThrow();
  });
});

describe('P8: a time that was kept', () => {
  const bootId = createSettableClock().bootId;
  const sinceBoot = createSettableClock().sinceBoot();
  const kept = (more: Partial<TimeAnchor>): TimeAnchor => ({ ...leftAt(0), bootId, sinceBoot, ...more });
  const shared = (wall: number) => ({ wall: startOfTest + wall, usedUntil: startOfTest + 20 });

  it.each<[string, TimeAnchor, 'agreed' | 'disputed', number, boolean]>([
    ['in this boot', kept({ sinceBoot: sinceBoot - 50, seconds: startOfTest - 50 }), 'agreed', 0, true],
    ['just now', kept({ seconds: startOfTest + 200 }), 'agreed', 200, true],
    [
      'later in this boot',
      kept({ sinceBoot: sinceBoot + 1, seconds: startOfTest + 100 }),
      'agreed',
      100,
      false,
    ],
    ['much earlier by the boot clock', kept({ seconds: startOfTest - 1_000 }), 'disputed', -999, true],
    ['in another boot', leftAt(-1_000), 'agreed', 0, false],
    ['never', kept({ seconds: 0 }), 'agreed', 0, true],
    ['an hour ago by a shared wall clock', { ...leftAt(-3_700), shared: shared(-3_600) }, 'agreed', 0, true],
    ['longer ago by a shared wall clock', { ...leftAt(-3_700), shared: shared(-3_601) }, 'agreed', 20, false],
    ['now by a shared wall clock', { ...leftAt(-1_000), shared: shared(0) }, 'disputed', -999, true],
    ['later by a shared wall clock', { ...leftAt(-1_000), shared: shared(1) }, 'agreed', 20, false],
  ])('%s counts', (_name, anchor, verdict, now, isKnown) => {
    const { clock, time } = timeOf(anchor);
    expect([verdictOf(time), ahead(time.now()), isAccountedFor(anchor, clock)]).toEqual([
      verdict,
      now,
      isKnown,
    ]);
    const lead = time.now() - clock.wall();
    clock.advance(99);
    if (verdict === 'agreed') expect(time.now() - clock.wall()).toBe(lead);
    const adopting = timeOf();
    adopting.time.adopt(anchor);
    expect(ahead(adopting.time.now())).toBe(now);
  });

  it('counts in no boot that has no name', () => {
    const nameless = { wall: () => startOfTest, sinceBoot: () => 100, bootId: null };
    expect(isAccountedFor(kept({ bootId: null, sinceBoot: 50 }), nameless)).toBe(false);
    expect(leastTimeBy(kept({ bootId: null, sinceBoot: 50 }), nameless)).toBe(startOfTest);
  });

  it('is kept with its dispute, and goes on with it', () => {
    const { clock, time } = timeOf();
    clock.jump(5_000);
    const anchor = time.anchor();
    expect(anchor).toEqual(
      kept({ seconds: startOfTest + 1, dispute: { since: startOfTest + 1, aheadSeconds: 5_000 } }),
    );
    clock.advance(10);
    const again = createStoreTime(clock, anchor);
    expect([again.anchor()?.dispute, ahead(again.now())]).toEqual([anchor?.dispute ?? null, 11]);
  });

  it.each([
    ['an earlier boot', kept({ bootId: 'an earlier one', sinceBoot: 0 }), 0],
    ['this moment', kept({}), 0],
    ['later', kept({ sinceBoot: sinceBoot + 50 }), 0],
    ['1 s ago', kept({ sinceBoot: sinceBoot - 1 }), 0],
    ['100 s ago', kept({ sinceBoot: sinceBoot - 100 }), 99],
    ['101 s ago', kept({ sinceBoot: sinceBoot - 101 }), 99],
  ])('from %s is at least', (_name, anchor, least) => {
    expect(ahead(leastTimeBy(anchor, createSettableClock()))).toBe(least);
  });

  it('is raised to what another process has used, and never lowered', () => {
    const { clock, time } = timeOf();
    time.raiseTo(startOfTest + 7);
    expect(ahead(time.now())).toBe(7);
    time.raiseTo(startOfTest + 3);
    expect(ahead(time.now())).toBe(7);
    clock.restart(4_000);
    const unproven = createStoreTime(clock, leftAt(0));
    unproven.raiseTo(clock.wall() + 50);
    expect([verdictOf(unproven), unproven.now()]).toEqual(['unproven', clock.wall()]);
  });
});
