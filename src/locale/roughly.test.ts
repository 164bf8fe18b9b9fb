/** How long is left, in one unit. */
import { describe, expect, it } from 'bun:test';
import fc from 'fast-check';
import { approximate, roughly, unitSeconds } from './roughly.ts';
import { formatRoughly, formatWait } from './translate.ts';

const day = unitSeconds.day;

describe('what is left, roughly', () => {
  it('is said in one unit, and with "about" only just below a round number', () => {
    const said: readonly (readonly [number, string])[] = [
      [-5, '0 seconds'],
      [0, '0 seconds'],
      [1, '1 second'],
      [59, 'about 1 minute'],
      [110, '110 seconds'],
      [299, 'about 5 minutes'],
      [290, '4 minutes'],
      [3_599, 'about 1 hour'],
      [3_600, '1 hour'],
      [3_000, '50 minutes'],
      [6_600, '110 minutes'],
      [2 * day - 4 * 3_600, '44 hours'],
      [7 * day, '7 days'],
      [7 * day - 2, 'about 7 days'],
      [7 * day - 5 * 3_600, '6 days'],
      [90 * day - 13 * 3_600, '89 days'],
    ];
    expect(said.map(([seconds]) => formatRoughly('en', seconds))).toEqual(said.map(([, text]) => text));
  });

  it('never promises more than there is, and leaves out at most half', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 400 * day }), (seconds) => {
        const { count, unit, isAbout } = roughly(seconds);
        const shown = count * unitSeconds[unit];
        expect(shown > seconds).toBe(isAbout);
        expect(shown).toBeLessThanOrEqual(seconds * 1.021);
        expect(shown * 2).toBeGreaterThan(seconds);
      }),
    );
  });

  it('puts the words for about where a language has them', () => {
    const parts = (locale: string) => new Intl.RelativeTimeFormat(locale).formatToParts(7, 'day');
    expect(approximate('about {time}', parts('en'))).toBe('in about 7 days');
    expect(approximate('etwa {time}', parts('de'))).toBe('in etwa 7 Tagen');
    expect(approximate('约{time}', parts('zh-CN'))).toBe('约7天后');
    expect(approximate('{time} تقريبًا', parts('ar'))).toBe('خلال 7 أيام تقريبًا');
    const hours = new Intl.RelativeTimeFormat('ar').formatToParts(2, 'hour');
    expect(approximate('{time} تقريبًا', hours)).toBe('خلال ساعتين تقريبًا');
  });
});

describe('how long to wait', () => {
  it('is rounded up, so that nobody comes back too early', () => {
    const said: readonly (readonly [number, string])[] = [
      [0, '1 second'],
      [0.2, '1 second'],
      [40, '40 seconds'],
      [59, '1 minute'],
      [61, '61 seconds'],
      [599, '10 minutes'],
      [600, '10 minutes'],
      [3_599, '1 hour'],
      [3_700, '62 minutes'],
      [86_399, '1 day'],
    ];
    expect(said.map(([seconds]) => formatWait('en', seconds))).toEqual(said.map(([, text]) => text));
  });

  it('is never shorter than the wait, and at most a third longer', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 30 * day }), (seconds) => {
        const [count = '', unit = ''] = formatWait('en', seconds).split(' ');
        const size = unitSeconds[unit.replace(/s$/, '') as keyof typeof unitSeconds];
        const shown = Number(count.replaceAll(',', '')) * size;
        expect(shown).toBeGreaterThanOrEqual(seconds);
        expect(shown * 3).toBeLessThanOrEqual(seconds * 4);
      }),
    );
  });
});
