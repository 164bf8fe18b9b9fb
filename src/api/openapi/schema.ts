/** Reads the human-readable descriptions of zod schemas, and makes a valid example of each (a test validates them all). */
import { type ZodType, z } from 'zod';

type Schema = z.core.$ZodType;

function defOf(schema: Schema) {
  return (schema as z.core.$ZodTypes)._zod.def;
}

function metaOf(schema: Schema): { readonly description?: string; readonly examples?: readonly unknown[] } {
  const { description, examples } = z.globalRegistry.get(schema) ?? {};
  return { ...(description !== undefined && { description }), ...(Array.isArray(examples) && { examples }) };
}

/** Returns a component's name; a schema with a changed description is still the same component. */
function nameOf(schema: Schema): string | null {
  const id = z.globalRegistry.get(schema)?.id;
  if (id !== undefined) return id;
  const { parent } = schema._zod;
  return parent === undefined ? null : nameOf(parent);
}

/** Returns the schema inside an optional or transformed one; otherwise `null`. */
function innerOf(schema: Schema): Schema | null {
  const def = defOf(schema);
  if (def.type === 'optional') return def.innerType;
  return def.type === 'pipe' ? def.in : null;
}

function fieldMeta(schema: Schema): ReturnType<typeof metaOf> {
  const inner = innerOf(schema);
  return inner === null ? metaOf(schema) : { ...fieldMeta(inner), ...metaOf(schema) };
}

export function isRequired(schema: Schema): boolean {
  return schema._zod.optin === undefined;
}

/** `told`: required fields, and those with examples. `least`: required fields only. */
type Extent = 'told' | 'least';

export function exampleOf(schema: Schema, extent: Extent = 'told'): unknown {
  const { examples } = metaOf(schema);
  if (examples !== undefined) return examples[0];
  const def = defOf(schema);
  switch (def.type) {
    case 'optional':
    case 'nullable':
      return exampleOf(def.innerType, extent);
    case 'pipe':
      return exampleOf(def.in, extent);
    case 'literal':
      return def.values[0];
    case 'enum':
      return Object.values(def.entries)[0];
    case 'union':
      return def.options[0] === undefined ? null : exampleOf(def.options[0], extent);
    case 'object':
      return exampleOfObject(def.shape, extent);
    case 'array':
      return Array.from({ length: leastOf(schema) }, () => exampleOf(def.element, extent));
    case 'number':
      return leastOf(schema);
    case 'boolean':
      return false;
    case 'null':
      return null;
    default:
      return exampleOfText(schema);
  }
}

function exampleOfObject(shape: Readonly<Record<string, Schema>>, extent: Extent): Record<string, unknown> {
  const shown = Object.entries(shape).filter(
    ([, field]) => isRequired(field) || (extent === 'told' && fieldMeta(field).examples !== undefined),
  );
  return Object.fromEntries(shown.map(([name, field]) => [name, exampleOf(field, extent)]));
}

function checksOf(schema: Schema) {
  return (schema._zod.def.checks ?? []).map((check) => (check as z.core.$ZodChecks)._zod.def);
}

/** Returns the smallest number or count that the schema's checks allow, at least zero. */
function leastOf(schema: Schema): number {
  const bounds = checksOf(schema).map((check) => {
    if (check.check === 'min_length') return check.minimum;
    return check.check === 'greater_than' ? Number(check.value) + (check.inclusive ? 0 : 1) : 0;
  });
  return Math.max(0, ...bounds);
}

const texts = ['text', '4k1zq0v9x7c2m8t5w3h6j0n4b1d7f2g', '3600', '12', ''];

function exampleOfText(schema: Schema): string {
  const patterns = checksOf(schema).flatMap((check) =>
    check.check === 'string_format' && check.pattern !== undefined ? [check.pattern] : [],
  );
  return texts.find((text) => patterns.every((pattern) => pattern.test(text))) ?? '';
}

export function typeOf(schema: Schema): string {
  const name = nameOf(schema);
  if (name !== null) return name;
  const def = defOf(schema);
  switch (def.type) {
    case 'optional':
      return typeOf(def.innerType);
    case 'nullable':
      return `${typeOf(def.innerType)} or null`;
    case 'pipe':
      return typeOf(def.in);
    case 'literal':
      return def.values.map((value) => JSON.stringify(value)).join(' or ');
    case 'enum':
      return Object.values(def.entries)
        .map((value) => JSON.stringify(value))
        .join(' or ');
    case 'union':
      return [...new Set(def.options.map(typeOf))].join(' or ');
    case 'array':
      return `list of ${typeOf(def.element)}`;
    case 'number':
      return isInteger(schema) ? 'integer' : 'number';
    case 'unknown':
      return 'anything';
    default:
      return def.type;
  }
}

function isInteger(schema: Schema): boolean {
  const def = defOf(schema);
  return ('format' in def && def.format === 'safeint') || z.globalRegistry.get(schema)?.type === 'integer';
}

export interface Field {
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly description: string | null;
}

/** Returns an object's fields; for a union of bodies, the fields of the last, which is flat. */
export function fieldsOf(schema: Schema): readonly Field[] {
  const def = defOf(schema);
  if (def.type === 'union') {
    const last = def.options.at(-1);
    return last === undefined ? [] : fieldsOf(last);
  }
  if (def.type !== 'object') return [];
  return Object.entries(def.shape).map(([name, field]) => ({
    name,
    type: typeOf(field),
    isRequired: isRequired(field),
    description: fieldMeta(field).description ?? null,
  }));
}

/** Returns every component in these schemas, sorted by name. */
export function componentsOf(
  schemas: readonly ZodType[],
): readonly (readonly [name: string, schema: Schema])[] {
  const found = new Map<string, Schema>();
  const visited = new Set<Schema>();
  const visit = (schema: Schema) => {
    if (visited.has(schema)) return;
    visited.add(schema);
    const id = z.globalRegistry.get(schema)?.id;
    if (id !== undefined) found.set(id, schema);
    if (schema._zod.parent !== undefined && nameOf(schema) !== null) visit(schema._zod.parent);
    for (const part of partsOf(schema)) visit(part);
  };
  for (const schema of schemas) visit(schema);
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1));
}

function partsOf(schema: Schema): readonly Schema[] {
  const def = defOf(schema);
  switch (def.type) {
    case 'object':
      return Object.values(def.shape);
    case 'array':
      return [def.element];
    case 'union':
      return def.options;
    case 'optional':
    case 'nullable':
      return [def.innerType];
    case 'pipe':
      return [def.in];
    default:
      return [];
  }
}

/** Returns the codes in a refusal's schema: the titles of its alternatives. */
export function codesOf(schema: Schema): readonly string[] {
  const def = defOf(schema);
  if (def.type === 'union') return def.options.flatMap(codesOf);
  const title = z.globalRegistry.get(schema)?.title;
  return title === undefined ? [] : [title];
}

export function descriptionOf(schema: Schema): string | null {
  return metaOf(schema).description ?? null;
}
