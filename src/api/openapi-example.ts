/**
 * An example for a schema, made from the schema itself.
 *
 * Owns: which of the possible values is shown. Invariant: the example is valid against its schema (a test validates
 * every one), so that the document cannot show what the service would not answer.
 */
import type { JsonSchema } from './openapi-types.ts';

type Components = Readonly<Record<string, JsonSchema>>;

const referencePrefix = '#/components/schemas/';

/** `told`: what is required, and what its schema shows an example of. `least`: what is required alone. */
type Extent = 'told' | 'least';

export function exampleOf(schema: JsonSchema, components: Components, extent: Extent = 'told'): unknown {
  if (typeof schema.$ref === 'string') {
    return exampleOf(components[schema.$ref.slice(referencePrefix.length)] ?? {}, components, extent);
  }
  if (Array.isArray(schema.examples)) return schema.examples[0];
  if ('const' in schema) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  const members = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  if (isSchemaList(members)) return exampleOf(members[0] ?? {}, components, extent);
  return exampleOfType(schema, components, extent);
}

function exampleOfType(schema: JsonSchema, components: Components, extent: Extent): unknown {
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  switch (type) {
    case 'object':
      return exampleOfObject(schema, components, extent);
    case 'array':
      return exampleOfArray(schema, components, extent);
    case 'integer':
    case 'number':
      return exampleOfNumber(schema);
    case 'boolean':
      return false;
    case 'null':
      return null;
    default:
      return exampleOfText(schema);
  }
}

function exampleOfNumber({ minimum, exclusiveMinimum }: JsonSchema): number {
  if (typeof exclusiveMinimum === 'number') return Math.max(exclusiveMinimum + 1, 0);
  return typeof minimum === 'number' ? Math.max(minimum, 0) : 0;
}

const texts = ['text', '4k1zq0v9x7c2m8t5w3h6j0n4b1d7f2g', '3600', '12', ''];

/** The first of a few that fits the pattern. */
function exampleOfText({ pattern }: JsonSchema): string {
  if (typeof pattern !== 'string') return texts[0] ?? '';
  const form = new RegExp(pattern, 'u');
  return texts.find((text) => form.test(text)) ?? '';
}

function exampleOfObject(
  schema: JsonSchema,
  components: Components,
  extent: Extent,
): Record<string, unknown> {
  const properties = isRecord(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required : [];
  const shown = Object.entries(properties).filter(
    ([name, property]) => required.includes(name) || (extent === 'told' && hasExample(property)),
  );
  return Object.fromEntries(shown.map(([name, property]) => [name, exampleOf(property, components, extent)]));
}

/** An optional field is shown only where its schema says how. */
function hasExample(schema: JsonSchema): boolean {
  return Array.isArray(schema.examples);
}

function exampleOfArray(schema: JsonSchema, components: Components, extent: Extent): readonly unknown[] {
  const least = typeof schema.minItems === 'number' ? schema.minItems : 0;
  const item = isRecord(schema.items) ? schema.items : {};
  return Array.from({ length: least }, () => exampleOf(item, components, extent));
}

function isRecord(value: unknown): value is Record<string, JsonSchema> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isSchemaList(value: unknown): value is readonly JsonSchema[] {
  return Array.isArray(value);
}
