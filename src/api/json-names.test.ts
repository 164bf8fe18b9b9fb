import { describe, expect, it } from 'bun:test';
import fc from 'fast-check';
import { repeatsName } from './version.ts';

describe('a JSON object that names a member twice', () => {
  it('is noticed at any depth and however the name is escaped (P26)', () => {
    for (const json of [
      '{"a":1,"a":1}',
      '{"a":1,"b":{"c":[{"d":1,"d":2}]}}',
      '[[{"a":1,"a":2}]]',
      '{"ttl":60,"\\u0074tl":604800}',
      '{"\\"":1,"\\u0022":2}',
      '{"a" : {"x":1},\n"a"\t:2}',
      '{"__proto__":1,"__proto__":2}',
      '{"":1,"":2}',
      '{"\u{1f600}":1,"\\ud83d\\ude00":2}',
    ]) {
      expect([json, repeatsName(json)]).toEqual([json, true]);
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
    ]) {
      expect([json, repeatsName(json)]).toEqual([json, false]);
    }
  });

  it('is never seen in what a serialiser writes, and always once a member is repeated', () => {
    const objects = fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 });
    fc.assert(
      fc.property(objects, fc.nat(), (object, pick) => {
        const names = Object.keys(object);
        const name = names[pick % names.length] ?? '';
        const json = JSON.stringify(object);
        const repeated = `{${JSON.stringify(name)}:[],${json.slice(1)}`;
        return !repeatsName(json) && repeatsName(repeated);
      }),
    );
  });

  it('is looked for in linear time, also in deep and in broken nests of quotes (P24)', () => {
    const deep = `${'[{"a":'.repeat(10_000)}1${'}]'.repeat(10_000)}`;
    const escaped = `{"a":"${'\\"{'.repeat(20_000)}"}`;
    expect([repeatsName(deep), repeatsName(escaped)]).toEqual([false, false]);
  });
});
