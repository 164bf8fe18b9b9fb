/** Builds the OpenAPI 3.1 document of both versions from their operations alone. Its library is loaded on first use, not at startup. */
import { z } from 'zod';
import type {
  CreateDocumentOptions,
  createDocument,
  ZodOpenApiOperationObject,
  ZodOpenApiPathItemObject,
  ZodOpenApiResponseObject,
} from 'zod-openapi';
import type { ApiSurface } from '../../http/api.ts';
import { SharedText } from '../../http/compression.ts';
import { type Answer, mayChange, type Operation, type OperationMethod } from '../../http/operation.ts';
import { define, ok } from '../v2/operation.ts';
import { exampleBody } from './calls.ts';
import { createExampleAnswers, type ExampleAnswers } from './examples.ts';
import { codesOf, exampleOf } from './schema.ts';

export type OpenApiDocument = ReturnType<typeof createDocument>;

export interface ApiInfo {
  readonly version: string;
  /** Origin and path of the installation, without a trailing slash. */
  readonly baseUrl: string;
  /** Callers without an account may only read. */
  readonly sharingNeedsAccount?: boolean;
  /** v2's dialect reveals a secret only if the body sets `continue`. */
  readonly revealNeedsContinue?: boolean;
}

/** Returns a path for links on the installation's own pages. */
export function pathOf({ baseUrl }: Pick<ApiInfo, 'baseUrl'>, path: string): string {
  return new URL(baseUrl).pathname.replace(/\/+$/, '') + path;
}

const title = 'Mayfly';

export const description =
  'A secret is created with two keys. The secret key may be given away: whoever holds it can read the value, ' +
  'once. The metadata key stays with the creator, who can see whether the secret was read, or burn it.\n\n' +
  'Version 2 speaks JSON; version 1 takes form parameters. Both work on the same secrets. Success is always 200. ' +
  'GET, HEAD and OPTIONS never consume or change anything. Times are Unix seconds, UTC. ' +
  'Fields may be added to answers: ignore those you do not know.';

interface Published {
  /** The surface, extended to serve the document at `/openapi.json`. */
  readonly surface: ApiSurface;
  /** Built once, on the first call. */
  readonly document: () => Promise<OpenApiDocument>;
}

/**
 * @param surface the version that serves the document
 * @param others the other versions that the document describes
 */
export function publishDocument(
  surface: ApiSurface,
  others: readonly ApiSurface[],
  info: ApiInfo,
): Published {
  let built: Promise<OpenApiDocument> | null = null;
  const document = () => {
    built ??= buildDocument([...others, published], info);
    return built;
  };
  let serialised: Promise<SharedText> | null = null;
  const shared = () => {
    serialised ??= document().then((made) => new SharedText(JSON.stringify(made)));
    return serialised;
  };
  const { bodyCapBytes: _cap, ...described } = documentOperation;
  const served: Operation = {
    ...described,
    access: 'open',
    decode: () => null,
    handle: async () => ok(await shared()),
  };
  const published: ApiSurface = { ...surface, operations: [...surface.operations, served] };
  return { surface: published, document };
}

const documentOperation = define({
  name: 'v2.openapi',
  method: 'GET',
  path: '/openapi.json',
  access: 'open',
  limit: 'none',
  document: { summary: 'This document', tag: 'Service' },
  answers: {
    description: 'OpenAPI 3.1, of all versions.',
    schema: z
      .looseObject({ openapi: z.literal('3.1.0'), info: z.looseObject({}), paths: z.looseObject({}) })
      .meta({ id: 'V2OpenApiDocument' }),
    refuses: [],
  },
  decode: () => null,
  handle: () => ok(null),
});

/**
 * @param closed whether responses may have named fields only. The published document leaves them open, since clients must ignore
 *   unknown fields; tests close them, so that no response gains a field unnoticed.
 */
export async function buildDocument(
  surfaces: readonly ApiSurface[],
  { version, baseUrl }: ApiInfo,
  closed = false,
): Promise<OpenApiDocument> {
  const library = await import('zod-openapi');
  const { paths, tags } = describe(surfaces, createExampleAnswers(baseUrl));
  const info = {
    title,
    version,
    summary: 'Share a secret once: a link that opens one time.',
    description,
    license: { name: 'MIT', identifier: 'MIT' },
  };
  return library.createDocument(
    {
      openapi: '3.1.0',
      info,
      servers: [{ url: baseUrl, description: 'This installation' }],
      tags: Array.from(tags, ([name, told]) => ({ name, description: told })),
      paths,
      components: { headers, securitySchemes },
    },
    { override: closed ? keepExamples : openAndKeepExamples },
  );
}

type Override = NonNullable<CreateDocumentOptions['override']>;

/** Restores the examples of transformed inputs, which Zod drops. */
const keepExamples: Override = ({ zodSchema, jsonSchema }) => {
  const examples = z.globalRegistry.get(zodSchema)?.examples;
  if (Array.isArray(examples)) jsonSchema.examples = examples;
};

const openAndKeepExamples: Override = (context) => {
  keepExamples(context);
  const { def } = context.zodSchema._zod;
  if (def.type === 'object' && !('catchall' in def && def.catchall !== undefined))
    delete context.jsonSchema.additionalProperties;
};

function describe(surfaces: readonly ApiSurface[], examples: ExampleAnswers) {
  const paths: Record<string, ZodOpenApiPathItemObject> = {};
  const tags = new Map<string, string>();
  for (const surface of surfaces) {
    const version = versionOf(surface);
    const answers = createAnswers(version.toUpperCase(), examples);
    for (const operation of surface.operations) {
      const tag = tagOf(operation, version);
      tags.set(tag, `${operation.document.tag}, API ${version}`);
      for (const [at, way] of waysOf(operation).entries()) {
        const path = templateOf(surface, way.path);
        const item = paths[path] ?? {};
        if (item[way.method]) throw new Error(`two operations answer ${way.method} ${path}`);
        item[way.method] = {
          operationId: at === 0 ? operation.name : `${operation.name}.${at + 1}`,
          summary: operation.document.summary,
          ...describedWith(operation, way.aliasOf),
          tags: [tag],
          security: securityOf(operation),
          ...takenBy(operation, way),
          responses: answers(operation),
        };
        paths[path] = item;
      }
    }
  }
  return { paths, tags };
}

export function versionOf({ base }: ApiSurface): string {
  return base.split('/').at(-1) ?? '';
}

export function tagOf({ document: { tag } }: Operation, version: string): string {
  return tag === version ? tag : `${version} ${tag}`;
}

/** Returns the full path with its parameters in braces. */
export function templateOf({ base }: ApiSurface, path: string): string {
  return base + path.replace(/:(\w+)/g, '{$1}');
}

/** Returns an operation's description, which may be `''`. */
export function proseOf({ document, scope, bodyCapBytes }: Operation, aliasOf: string | null = null): string {
  return [
    document.description,
    scope && `An account's API token needs the scope \`${scope}\`.`,
    typeof bodyCapBytes === 'number' && `A body of more than ${bodyCapBytes} bytes is not read.`,
    aliasOf && `The same as \`${aliasOf}\`.`,
  ]
    .filter(Boolean)
    .join('\n\n');
}

function describedWith(operation: Operation, aliasOf: string | null) {
  const prose = proseOf(operation, aliasOf);
  return prose === '' ? {} : { description: prose };
}

interface Way {
  readonly method: 'get' | 'head' | 'post' | 'patch';
  readonly path: string;
  /** The operation's own method and path if this is an alias; otherwise `null`. */
  readonly aliasOf: string | null;
}

const lower = { POST: 'post', PATCH: 'patch' } as const satisfies Partial<
  Record<OperationMethod, Way['method']>
>;

/** Returns the operation's own path, then its aliases; every GET also has a HEAD. */
function waysOf({ method: ownMethod, path: ownPath, aliases = [] }: Operation): readonly Way[] {
  return [{ method: ownMethod, path: ownPath }, ...aliases].flatMap(({ method, path }): Way[] => {
    const isOwn = path === ownPath && method === ownMethod;
    const aliasOf = isOwn ? null : `${ownMethod} ${ownPath}`;
    if (method !== 'GET') return [{ method: lower[method], path, aliasOf }];
    return [
      { method: 'get', path, aliasOf },
      { method: 'head', path, aliasOf: aliasOf ?? `GET ${path}` },
    ];
  });
}

/** For schemes other than OAuth, the list names roles (OpenAPI 3.1, §4.8.30); here it names the token's scope. */
function securityOf({ access, scope }: Operation): Record<string, string[]>[] {
  if (access === 'open') return [];
  const basic = { basic: scope === undefined ? [] : [scope] };
  return access === 'account' ? [basic] : [{}, basic];
}

/** Returns path, query and header parameters as zod objects. */
export function parametersOf(path: string, { params, query, headers: sent }: Operation['document']) {
  const names = Array.from(path.matchAll(/:(\w+)/g), ([, name = '']) => name);
  const inPath = names.map((name) => {
    const told = params?.[name];
    return [name, told === undefined ? z.string() : z.string().meta({ description: told })] as const;
  });
  return {
    ...(inPath.length > 0 && { path: z.object(Object.fromEntries(inPath)) }),
    ...(query && { query }),
    ...(sent && { header: sent }),
  };
}

function takenBy(operation: Operation, { method, path }: Way): Partial<ZodOpenApiOperationObject> {
  const { document } = operation;
  const requestParams = parametersOf(path, document);
  const { body } = document;
  return {
    ...(Object.keys(requestParams).length > 0 && { requestParams }),
    ...(body &&
      mayChange(method.toUpperCase()) && {
        requestBody: {
          required: body.required,
          content: Object.fromEntries(
            body.contentTypes.map((type) => [type, { schema: body.schema, example: exampleBody(operation) }]),
          ),
        },
      }),
  };
}

/** Operations with the same response share one component. */
function createAnswers(prefix: string, examples: ExampleAnswers) {
  const known = new Map<
    string,
    { readonly schema: Answer['schema']; readonly response: ZodOpenApiResponseObject }[]
  >();
  const counts = new Map<string, number>();
  const responseOf = (status: string, answer: Answer, operation: Operation) => {
    const { description: told, schema } = answer;
    const names = headersOf(Number(status), operation);
    const example = exampleOfAnswer(status, answer, operation, examples);
    const key = [status, told, ...names, JSON.stringify(example)].join('\n');
    const same = known.get(key)?.find((one) => one.schema === schema);
    if (same !== undefined) return same.response;
    const count = (counts.get(status) ?? 0) + 1;
    counts.set(status, count);
    const response: ZodOpenApiResponseObject = {
      id: `${prefix}_${status}${count === 1 ? '' : `_${count}`}`,
      description: told,
      headers: Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
      content: { 'application/json': { schema, example } },
    };
    known.set(key, [...(known.get(key) ?? []), { schema, response }]);
    return response;
  };
  return (operation: Operation) =>
    Object.fromEntries(
      Object.entries(operation.document.responses).map(([status, answer]) => [
        status,
        responseOf(status, answer, operation),
      ]),
    );
}

function exampleOfAnswer(
  status: string,
  { schema, example }: Answer,
  { name }: Operation,
  examples: ExampleAnswers,
): unknown {
  const [code = ''] = codesOf(schema);
  return examples(status === '200' ? name : code) ?? example ?? exampleOf(schema);
}

const text = { type: 'string' } as const;

const headers = {
  'Cache-Control': { description: 'Always `no-store`.', schema: { const: 'no-store' } },
  'X-Request-Id': { description: 'Names this request in the logs of the service.', schema: text },
  'WWW-Authenticate': { description: 'The Basic challenge.', schema: text },
  Allow: { description: 'The methods that this path answers.', schema: text },
  'Retry-After': {
    description: 'Seconds after which to try again.',
    schema: { ...text, pattern: '^[0-9]+$' },
  },
  RateLimit: {
    description: 'The rest of the limit, as in the IETF draft, if a rate limit refused.',
    schema: text,
  },
  'RateLimit-Policy': {
    description: 'The limit, as in the IETF draft, if a rate limit refused.',
    schema: text,
  },
  'Mayfly-Ignored': {
    description:
      'The names of unknown parameters, if any, as a comma list. A name that is long or has other characters is cut and ends ' +
      'in `*`; a list of more than 20 ends in `...`.',
    schema: { ...text, examples: ['passphase, tll'] },
  },
};

const headersOfStatus: Readonly<Record<number, readonly string[]>> = {
  401: ['WWW-Authenticate'],
  405: ['Allow'],
  429: ['Retry-After', 'RateLimit', 'RateLimit-Policy'],
  503: ['Retry-After'],
};

function headersOf(status: number, { limit, document }: Operation): readonly string[] {
  const own = headersOfStatus[status] ?? [];
  const sent = limit === 'none' ? own.filter((name) => !name.startsWith('RateLimit')) : own;
  return ['Cache-Control', 'X-Request-Id', ...sent, ...(document.answerHeaders ?? [])];
}

const securitySchemes = {
  basic: {
    type: 'http',
    scheme: 'basic',
    description:
      "The account's e-mail address and one of its API tokens. A token has scopes: `create` (conceal and generate), " +
      "`manage` (see and burn by the metadata key, and the domains), `read-recent` (list the account's records). A call is " +
      'refused if the token lacks its scope, even if it needs no account. Revealing needs none.',
  },
} as const;

/** Formats the document like the copy in the repository. */
export function renderOpenApiJson(document: OpenApiDocument): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}
