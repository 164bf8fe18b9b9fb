/**
 * Values for the fuzzer: what a schema allows, what it almost allows, and what no client should send.
 *
 * All randomness comes from fast-check, so a seed repeats a run.
 */
import fc from 'fast-check';
import type { JsonSchema } from '../v2/openapi-types.ts';

type Components = Readonly<Record<string, JsonSchema>>;

const usualNumbers = [1, 4, 12, 60, 3_600, 604_800];

/** Values that are valid against the schema. */
export function validValues(schema: JsonSchema, components: Components): fc.Arbitrary<unknown> {
  if (typeof schema.$ref === 'string') {
    return validValues(components[schema.$ref.split('/').at(-1) ?? ''] ?? {}, components);
  }
  const { examples, ...unillustrated } = schema;
  if (Array.isArray(examples) && examples.length > 0)
    return fc.oneof(fc.constantFrom(...examples), validValues(unillustrated, components));
  if ('const' in schema) return fc.constant(schema.const);
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
  const members = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(members)) {
    return fc.oneof(...members.map((member: JsonSchema) => validValues(member, components)));
  }
  if (Array.isArray(schema.type)) {
    return fc.oneof(...schema.type.map((type: string) => validValues({ ...schema, type }, components)));
  }
  return valuesOfType(schema, components);
}

function valuesOfType(schema: JsonSchema, components: Components): fc.Arbitrary<unknown> {
  switch (schema.type) {
    case 'object':
      return objects(schema, components);
    case 'array':
      return fc.array(validValues((schema.items ?? {}) as JsonSchema, components), {
        minLength: Number(schema.minItems ?? 0),
        maxLength: Number(schema.maxItems ?? 3),
      });
    case 'integer':
    case 'number':
      return integers(schema);
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'string':
      return strings(schema);
    default:
      return fc.jsonValue({ maxDepth: 1 });
  }
}

/** The required fields and at most two others: with all of them, one would nearly always be out of bounds. */
function objects(schema: JsonSchema, components: Components): fc.Arbitrary<unknown> {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>);
  const required = (schema.required ?? []) as readonly string[];
  const model = Object.fromEntries(
    properties.map(([name, property]) => [name, validValues(property, components)]),
  );
  const optional = properties.map(([name]) => name).filter((name) => !required.includes(name));
  return fc
    .tuple(fc.record(model), fc.subarray(optional, { maxLength: Math.min(2, optional.length) }))
    .map(([values, chosen]) =>
      Object.fromEntries(
        Object.entries(values).filter(([name]) => required.includes(name) || chosen.includes(name)),
      ),
    );
}

function integers(schema: JsonSchema): fc.Arbitrary<number> {
  const min = Number(schema.minimum ?? schema.exclusiveMinimum ?? -1_000);
  const max = Number(schema.maximum ?? Number.MAX_SAFE_INTEGER);
  const usual = usualNumbers.filter((number) => number >= min && number <= max);
  const any = fc.integer({ min: Math.ceil(min), max: Math.min(max, 2_147_483_647) });
  return usual.length === 0 ? any : fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...usual) }, any);
}

function strings(schema: JsonSchema): fc.Arbitrary<string> {
  if (typeof schema.pattern === 'string') return fc.stringMatching(new RegExp(schema.pattern, 'u'));
  const minLength = Number(schema.minLength ?? 0);
  return fc.oneof(
    fc.constantFrom('hello', 'pässword', 'joe@example.org', 'a b+c&d=e%41', ' \r\n\t '),
    fc.string({ minLength, unit: 'grapheme' }),
    fc.string({ minLength, unit: 'binary' }),
  );
}

/** Texts that have broken other services. */
export const hostileTexts: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    '',
    '\u0000',
    '\ud800',
    'a\udfffb',
    '\ufeff',
    '__proto__',
    'constructor',
    'toString',
    '../../etc/passwd',
    "' OR 1=1 --",
    '<script>alert(1)</script>',
    '{{7*7}}',
    '#{7*7}',
    '$(id)',
    'a\r\nBcc: x@example.org',
    '=?utf-8?q?x?=',
    '-1',
    '1e309',
    '0x10',
    'NaN',
    '９９',
    '%00',
    '%zz',
    '%ED%A0%80',
    '\u202eabc',
    'İ',
    'null',
    'undefined',
    'true',
    '[object Object]',
  ),
  fc.integer({ min: 1, max: 12_000 }).map((length) => 'a'.repeat(length)),
  fc.integer({ min: 1, max: 4_000 }).map((length) => '😀'.repeat(length)),
  fc.string({ unit: 'binary', maxLength: 40 }),
);

/** Any JSON that is wrong in some way. */
export const hostileValues: fc.Arbitrary<unknown> = fc.oneof(
  hostileTexts,
  fc.constantFrom<unknown>(0, -1, 1.5, -0, 1e300, 1e21, Number.MAX_SAFE_INTEGER, true, false, null),
  fc.constantFrom<unknown>([], {}, [[]], [{}], { toString: 1 }, { length: 3 }),
  fc.jsonValue({ maxDepth: 2 }),
);

/** Objects with a missing field, an extra field or a wrong one. */
export function nearlyValid(valid: fc.Arbitrary<unknown>, names: readonly string[]): fc.Arbitrary<unknown> {
  const name = names.length === 0 ? fc.constant('x') : fc.constantFrom(...names);
  return fc
    .tuple(valid, fc.nat(3), name, hostileValues)
    .map(([value, way, field, wrong]) => spoil(value, way, field, wrong));
}

function spoil(value: unknown, way: number, field: string, wrong: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return wrong;
  const nested = 'secret' in value && typeof value.secret === 'object' && value.secret !== null;
  if (nested && way > 0) return { ...value, secret: spoil(value.secret, way - 1, field, wrong) };
  const { [field as keyof typeof value]: _dropped, ...rest } = value;
  return [{ ...value, [field]: wrong }, rest, { ...value, unknown_field: wrong }, [value]][way % 4];
}
