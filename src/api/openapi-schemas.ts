/**
 * From the operations' zod schemas to the document's components.
 *
 * Owns: the conversion and the names of components. Invariant: a schema with an id becomes one component of its version
 * (`V2MetadataRecord`) and is referred to everywhere else; two different schemas never share a name.
 */
import { type ZodType, z } from 'zod';
import type { JsonSchema } from './openapi-types.ts';

export interface SchemaCollector {
  /** The schema as it stands in the document, with references to components. */
  toSchema(schema: ZodType, version: string, io: 'input' | 'output'): JsonSchema;
  readonly components: Record<string, JsonSchema>;
}

/**
 * @param closed objects admit no field that is not named. The published document leaves them open, since a client must
 *   ignore what it does not know; tests close them, so that an answer cannot grow a field unseen.
 */
export function createSchemaCollector(closed: boolean): SchemaCollector {
  const components: Record<string, JsonSchema> = {};
  // Operations share their schemas, and converting one takes milliseconds.
  const converted = new Map<ZodType, JsonSchema>();

  function addComponent(name: string, schema: JsonSchema): void {
    const known = components[name];
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema)) {
      throw new Error(`two different schemas are called ${name}`);
    }
    components[name] = schema;
  }

  return {
    components,
    toSchema(schema, version, io) {
      const known = converted.get(schema);
      if (known !== undefined) return known;
      const prefix = version.toUpperCase();
      const whole = z.toJSONSchema(schema, {
        io: closed ? io : 'input',
        unrepresentable: 'any',
        // Zod drops the examples of an input that is transformed.
        override({ zodSchema, jsonSchema }) {
          const examples = z.globalRegistry.get(zodSchema)?.examples;
          if (Array.isArray(examples)) jsonSchema.examples = examples;
        },
      });
      const { $schema: _dialect, $defs: definitions, ...root } = renameReferences(whole, prefix);
      for (const [id, definition] of Object.entries(definitions ?? {})) {
        addComponent(componentName(prefix, id), definition);
      }
      converted.set(schema, root);
      return root;
    },
  };
}

/** The version in front, unless the id has it. */
function componentName(prefix: string, id: string): string {
  return id.startsWith(prefix) ? id : prefix + id;
}

const definitionPrefix = '#/$defs/';

function renameReferences(node: unknown, prefix: string): JsonSchema {
  const text = JSON.stringify(node, (key, value: unknown) =>
    key === '$ref' && typeof value === 'string' && value.startsWith(definitionPrefix)
      ? `#/components/schemas/${componentName(prefix, value.slice(definitionPrefix.length))}`
      : value,
  );
  return JSON.parse(text) as JsonSchema;
}
