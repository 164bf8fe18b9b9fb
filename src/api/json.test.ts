import { describe, expect, it } from 'bun:test';
import fc from 'fast-check';
import { readJson } from './json.ts';

const outcomeOf = (json: string) => {
  const read = readJson(json);
  return read.outcome === 'read' ? read.value : read.fault;
};
const repeated = 'names a member more than once';
const tooMuch = 'nests deeper than 32 levels, or has more than 2000 names or 10000 values';

describe('a JSON object that names a member twice', () => {
  it('is noticed at any depth and however the name is escaped (P26)', () => {
    for (const json of [
      '{"a":1,"a":1}',
      '{"a":1,"b":{"c":[{"d":1,"d":2}]}}',
      '[[{"a":1,"a":2}]]',
      '{"ttl":60,"\\u0074tl":604800}',
      '{"\\"":1,"\\u0022":2}',
      '{"a" : {"x":1},\n"a"\t:2}',
      '{"a":{"x":1,"y":2},"a":0}',
      '{"__proto__":1,"__proto__":2}',
      '{"":1,"":2}',
      '{"\u{1f600}":1,"\\ud83d\\ude00":2}',
    ]) {
      expect([json, outcomeOf(json)]).toEqual([json, repeated]);
    }
  });

  it('is not seen in values, in lists, or in two objects beside each other', () => {
    for (const json of [
      '{}',
      '"a"',
      '{"a":"a","b":"a"}',
      '{"a":{"a":{"a":1}}}',
      '[{"a":1},{"a":1}]',
      '{"a":[{"b":1},{"b":1}],"b":1}',
      '{"a":"\\"b\\":1,\\"b\\":2","b":"{\\"b\\":"}',
      '{"a":"}","b":"{"}',
      '{"a\\\\":1,"a":2}',
      '{"A":1,"a":2}',
      '{"0":1,"00":2}',
    ]) {
      expect([json, outcomeOf(json)]).toEqual([json, JSON.parse(json)]);
    }
  });

  it('is never seen in what a serialiser writes, and always once a member is repeated', () => {
    const objects = fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 });
    fc.assert(
      fc.property(objects, fc.nat(), (object, pick) => {
        const names = Object.keys(object);
        const name = names[pick % names.length] ?? '';
        const json = JSON.stringify(object);
        const doubled = `{${JSON.stringify(name)}:[],${json.slice(1)}`;
        return readJson(json).outcome === 'read' && outcomeOf(doubled) === repeated;
      }),
    );
  });
});

describe('JSON of a request', () => {
  const names = (count: number) => Array.from({ length: count }, (_, n) => `"a${n}":0`).join();
  const nested = (levels: number, [open = '', close = '']: string) =>
    [open.repeat(levels), close.repeat(levels)].join('0');

  it('is refused beyond 32 levels, 2,000 names or 10,000 values, and read up to there (P21)', () => {
    const list = (count: number) => `[${Array(count).fill('0').join()}]`;
    const pairs: readonly [most: string, more: string][] = [
      [nested(32, '[]'), nested(33, '[]')],
      [nested(31, '[]').replace('0', '{"a":0}'), nested(32, '[]').replace('0', '{"a":0}')],
      [`{${names(2_000)}}`, `{${names(2_001)}}`],
      [`[${`{${names(1_000)}},`.repeat(2)}0]`, `[${`{${names(1_000)}},`.repeat(2)}{"a":0}]`],
      [list(9_999), list(10_000)],
      [list(9_999).replaceAll('0', 'null'), list(10_000).replaceAll('0', 'null')],
    ];
    for (const [most, more] of pairs)
      expect([readJson(most).outcome, outcomeOf(more)]).toEqual(['read', tooMuch]);
  });

  it('counts nothing inside a text, wherever its escapes are', () => {
    for (const text of [
      '[{:,',
      '"',
      '\\',
      '\\"',
      '"\\',
      '[\\"['.repeat(20_000),
      '"'.repeat(20_000),
      '\\'.repeat(20_001),
    ])
      expect(outcomeOf(JSON.stringify({ [text]: text }))).toEqual({ [text]: text });
  });

  it('is not valid where it breaks off, in a text too', () => {
    for (const json of ['', '{', '"', '"\\', '"\\"', '{"a":"\\"', '{"a"', '[1,]', '{"a":1}}', ']', '"a\n"'])
      expect([json, outcomeOf(json)]).toEqual([json, 'is not valid JSON']);
  });
});
