/**
 * The OpenAPI 3.1 document, made from the operations alone.
 *
 * Owns: how an operation is told. Invariant: nothing about an endpoint is written here; what every operation of a
 * version may answer besides its own (the transport's refusals) comes from the version's own table of problems.
 * Source: OpenAPI Specification 3.1.0.
 */
import type { ZodType } from 'zod';
import type { ApiSurface } from '../http/api.ts';
import { mayChange, type Operation } from '../http/operation.ts';
import { exampleOf } from './openapi-example.ts';
import { createResponseCollector, headers, type ResponseCollector } from './openapi-responses.ts';
import { createSchemaCollector, type SchemaCollector } from './openapi-schemas.ts';
import type {
  JsonSchema,
  Method,
  OpenApiDocument,
  OperationObject,
  Parameter,
  RequestBody,
} from './openapi-types.ts';

export interface ApiInfo {
  readonly version: string;
  /** Origin and path of the installation, without a trailing slash. */
  readonly baseUrl: string;
  /** See `createSchemaCollector`; off when absent. */
  readonly closedSchemas?: boolean;
}

/** One path and method that an operation answers. */
interface Endpoint {
  readonly method: Method;
  readonly path: string;
  /** The method that defines the operation, when this is an alias. */
  readonly aliasOf: string | null;
}

export function buildOpenApi(surfaces: readonly ApiSurface[], info: ApiInfo): OpenApiDocument {
  const collector = createSchemaCollector(info.closedSchemas ?? false);
  const responses = createResponseCollector(collector);
  const paths: Record<string, Partial<Record<Method, OperationObject>>> = {};
  const tags = new Map<string, string>();
  for (const surface of surfaces) {
    const version = versionOf(surface);
    for (const operation of surface.operations) {
      tags.set(tagOf(operation, version), `${operation.document.tag}, API ${version}`);
      for (const [index, endpoint] of endpointsOf(operation).entries()) {
        const path = surface.base + endpoint.path.replace(/:(\w+)/g, '{$1}');
        const item = paths[path] ?? {};
        if (item[endpoint.method]) throw new Error(`two operations answer ${endpoint.method} ${path}`);
        item[endpoint.method] = describe({
          surface,
          operation,
          endpoint,
          index,
          version,
          collector,
          responses,
        });
        paths[path] = item;
      }
    }
  }
  return {
    openapi: '3.1.0',
    info: about(info.version),
    servers: [{ url: info.baseUrl, description: 'This installation' }],
    tags: Array.from(tags, ([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: sorted(collector.components),
      responses: sorted(responses.components),
      headers,
      securitySchemes,
    },
  };
}

/** The document as text, as it is served and kept in the repository. */
export function renderOpenApiJson(document: OpenApiDocument): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}

function about(version: string): OpenApiDocument['info'] {
  return {
    title: 'Mayfly',
    version,
    summary: 'Share a secret once: a link that opens one time.',
    description:
      'A secret is created with two keys. The secret key may be given away: whoever holds it can read the value, ' +
      'once. The metadata key stays with the creator, who can see whether the secret was read, or burn it.\n\n' +
      'Version 2 speaks JSON; version 1 takes form parameters. Both work on the same secrets. Success is always 200. ' +
      'GET, HEAD and OPTIONS never consume or change anything. Times are Unix seconds, UTC. ' +
      'Fields may be added to answers: ignore those you do not know.',
    license: { name: 'MIT', identifier: 'MIT' },
  };
}

function versionOf(surface: ApiSurface): string {
  return surface.base.split('/').at(-1) ?? '';
}

function tagOf(operation: Operation, version: string): string {
  const { tag } = operation.document;
  return tag === version ? tag : `${version} ${tag}`;
}

/** The operation's own path first, then its aliases; HEAD beside every GET. */
function endpointsOf(operation: Operation): readonly Endpoint[] {
  const own = { method: operation.method, path: operation.path };
  const all = [own, ...(operation.aliases ?? [])];
  return all.flatMap(({ method, path }): Endpoint[] => {
    const aliasOf = path === own.path && method === own.method ? null : `${own.method} ${own.path}`;
    return method === 'GET'
      ? [
          { method: 'get', path, aliasOf },
          { method: 'head', path, aliasOf: aliasOf ?? `GET ${path}` },
        ]
      : [{ method: method === 'POST' ? 'post' : 'patch', path, aliasOf }];
  });
}

interface Subject {
  readonly surface: ApiSurface;
  readonly operation: Operation;
  readonly endpoint: Endpoint;
  readonly index: number;
  readonly version: string;
  readonly collector: SchemaCollector;
  readonly responses: ResponseCollector;
}

function describe(subject: Subject): OperationObject {
  const { operation, endpoint, index, version } = subject;
  const { document } = operation;
  const description = [
    document.description,
    operation.scope && `An account's API token needs the scope \`${operation.scope}\`.`,
    operation.bodyCapBytes && `A body of more than ${operation.bodyCapBytes} bytes is not read.`,
    endpoint.aliasOf && `The same as \`${endpoint.aliasOf}\`.`,
  ]
    .filter(Boolean)
    .join('\n\n');
  const parameters = parametersOf(subject);
  const requestBody = mayChange(endpoint.method.toUpperCase()) ? requestBodyOf(subject) : undefined;
  return {
    operationId: index === 0 ? operation.name : `${operation.name}.${index + 1}`,
    summary: document.summary,
    ...(description !== '' && { description }),
    tags: [tagOf(operation, version)],
    security: securityOf(operation),
    ...(parameters.length > 0 && { parameters }),
    ...(requestBody && { requestBody }),
    responses: subject.responses.responsesOf(subject.surface, operation, version),
  };
}

/** For a scheme other than OAuth's the list names roles (OpenAPI 3.1, §4.8.30): here the token's scope. */
function securityOf({ access, scope }: Operation): OperationObject['security'] {
  if (access === 'open') return [];
  const basic = { basic: scope === undefined ? [] : [scope] };
  return access === 'account' ? [basic] : [{}, basic];
}

function parametersOf({ operation, endpoint, version, collector }: Subject): Parameter[] {
  const { params, query, headers: headerSet } = operation.document;
  const names = Array.from(endpoint.path.matchAll(/:(\w+)/g), ([, name = '']) => name);
  const inPath = names.map(
    (name): Parameter => ({
      name,
      in: 'path',
      required: true,
      ...(params?.[name] && { description: params[name] }),
      schema: { type: 'string' },
    }),
  );
  const set = (place: 'query' | 'header', schema: ZodType | undefined) =>
    schema === undefined ? [] : parametersIn(place, collector.toSchema(schema, version, 'input'), collector);
  return [...inPath, ...set('query', query), ...set('header', headerSet)];
}

function parametersIn(
  place: 'query' | 'header',
  schema: JsonSchema,
  collector: SchemaCollector,
): Parameter[] {
  const object = resolve(schema, collector);
  const required = Array.isArray(object.required) ? object.required : [];
  return Object.entries((object.properties ?? {}) as Record<string, JsonSchema>).map(([name, property]) => {
    const { description, ...rest } = property;
    return {
      name,
      in: place,
      required: required.includes(name),
      ...(typeof description === 'string' && { description }),
      schema: rest,
    };
  });
}

function resolve(schema: JsonSchema, collector: SchemaCollector): JsonSchema {
  if (typeof schema.$ref !== 'string') return schema;
  return collector.components[schema.$ref.split('/').at(-1) ?? ''] ?? {};
}

function requestBodyOf({ operation, version, collector }: Subject): RequestBody | undefined {
  const { body } = operation.document;
  if (body === undefined) return undefined;
  const schema = collector.toSchema(body.schema, version, 'input');
  const media = { schema, example: exampleOf(schema, collector.components) };
  return {
    required: body.required,
    content: Object.fromEntries(body.contentTypes.map((type) => [type, media])),
  };
}

const securitySchemes: OpenApiDocument['components']['securitySchemes'] = {
  basic: {
    type: 'http',
    scheme: 'basic',
    description:
      "The account's e-mail address and one of its API tokens. A token has scopes: `create` (conceal and generate), " +
      "`manage` (see and burn by the metadata key, and the domains), `read-recent` (list the account's records). A call that needs a " +
      'scope the token lacks is refused, also where callers without an account are not. Revealing needs none.',
  },
};

function sorted<Value>(record: Record<string, Value>): Record<string, Value> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}
