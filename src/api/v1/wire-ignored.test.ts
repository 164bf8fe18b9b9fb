import { describe, expect, it } from 'bun:test';
import fc from 'fast-check';
import { exchangeOf } from '../../../test/support/exchange.ts';
import { announceSeed } from '../../../test/support/run-seed.ts';
import { nameIgnored } from './wire.ts';

function headerFor(...names: string[]): string | null {
  const exchange = exchangeOf();
  nameIgnored(exchange, names);
  return exchange.answerHeaders['mayfly-ignored'] ?? null;
}

const lines: [title: string, names: string[], header: string | null][] = [
  ['nothing', [], null],
  ['one name', ['passphase'], 'passphase'],
  ['several, in the order given, each once', ['tll', 'passphase', 'tll'], 'tll, passphase'],
  ['digits, dots, hyphens, low lines and brackets as they are', ['a1.b-c_d[x][]'], 'a1.b-c_d[x][]'],
  ['a comma and a blank, cut', ['pass,word', 'pass word'], 'pass*'],
  ['line ends and other controls, cut', ['a\r\nSet-Cookie: x=1', 'b\n', 'c\0', 'd\t'], 'a*, b*, c*, d*'],
  ['what is not ASCII, cut', ['na\u00efve', '\u5bc6\u7801', '\ud83d\ude00'], 'na*, *'],
  ['an asterisk of its own, cut', ['a*b'], 'a*'],
  ['an empty name', [''], '*'],
  ['40 characters whole, 41 cut', ['x'.repeat(40), 'y'.repeat(41)], `${'x'.repeat(40)}, ${'y'.repeat(40)}*`],
];

describe('the names of ignored parameters', () => {
  for (const [title, names, header] of lines) {
    it(`show ${title}`, () => expect(headerFor(...names)).toBe(header));
  }

  it('are at most 20, and say when there are more', () => {
    const names = Array.from({ length: 20 }, (_, at) => `n${at}`);
    expect(headerFor(...names)).toBe(names.join(', '));
    expect(headerFor(...names, 'one more')).toBe(`${names.join(', ')}, ...`);
    expect(headerFor(...Array.from({ length: 30_000 }, (_, at) => `n${at}`))).toBe(
      `${names.join(', ')}, ...`,
    );
  });

  const seed = announceSeed('v1 fields that are ignored');
  it(`are one short line of harmless ASCII, whatever they hold (seed ${seed})`, () => {
    const name = fc.string({ unit: 'binary', maxLength: 60 });
    const check = fc.property(fc.array(name, { minLength: 1, maxLength: 40 }), (names) => {
      const header = headerFor(...names) ?? '';
      expect(header).toMatch(/^[\w.[\]*-]+(?:, [\w.[\]*-]+)*$/);
      expect(header.length).toBeLessThan(900);
      expect(new Headers({ 'mayfly-ignored': header }).get('mayfly-ignored')).toBe(header);
    });
    fc.assert(check, { seed, numRuns: 300 });
  });
});
