/**
 * The answers of operations in the document, each told once and referred to.
 *
 * Owns: what belongs to a status beside its body (the headers), and what the transport may answer in any operation's
 * place. Invariant: statuses and sentences of such refusals are asked from the version's own table of problems.
 */
import { type ZodType, z } from 'zod';
import { builtInPlans } from '../core/plans.ts';
import type { ApiSurface } from '../http/api.ts';
import { bodyCapBytesFor } from '../http/body.ts';
import { mayChange, type Operation } from '../http/operation.ts';
import type { Problem } from '../http/problem.ts';
import { exampleOf } from './openapi-example.ts';
import type { SchemaCollector } from './openapi-schemas.ts';
import type { Header, JsonSchema, Reference, ResponseObject } from './openapi-types.ts';

export interface ResponseCollector {
  /** Every status the operation can answer. */
  responsesOf(surface: ApiSurface, operation: Operation, version: string): Record<string, Reference>;
  readonly components: Record<string, ResponseObject>;
}

interface Documented {
  readonly description: string;
  readonly schema: ZodType;
}

const jsonType = 'application/json';

export function createResponseCollector(schemas: SchemaCollector): ResponseCollector {
  const components: Record<string, ResponseObject> = {};
  const names = new Map<string, string>();

  function describe(
    status: string,
    { description, schema }: Documented,
    operation: Operation,
    version: string,
  ) {
    const converted = schemas.toSchema(schema, version, 'output');
    const example = exampleOf(converted, schemas.components);
    const content = { [jsonType]: { schema: converted, example } };
    return { description, headers: headersOf(Number(status), operation), content };
  }

  function referTo(response: ResponseObject, stem: string): Reference {
    const text = JSON.stringify(response);
    const name = names.get(text) ?? freeName(stem, components);
    names.set(text, name);
    components[name] = response;
    return { $ref: `#/components/responses/${name}` };
  }

  return {
    components,
    responsesOf(surface, operation, version) {
      const documented: Record<string, Documented> = {
        ...problemResponses(surface, operation),
        ...operation.document.responses,
      };
      const references = Object.entries(documented).map(([status, answer]) => {
        const response = describe(status, answer, operation, version);
        return [status, referTo(response, `${version.toUpperCase()}_${status}`)] as const;
      });
      return Object.fromEntries(references);
    },
  };
}

function freeName(stem: string, taken: Readonly<Record<string, unknown>>): string {
  let name = stem;
  for (let number = 2; name in taken; number += 1) name = `${stem}_${number}`;
  return name;
}

const someProblem = z.looseObject({ message: z.string() }).meta({ id: 'Problem' });

/** What the transport may answer in this operation's place, in the version's own statuses and words. */
function problemResponses(surface: ApiSurface, operation: Operation): Record<string, Documented> {
  const facts = { path: operation.path, params: {}, operation: operation.name, method: operation.method };
  const messages = new Map<number, Set<string>>();
  for (const [problem, applies] of problemsOf(operation)) {
    if (!applies) continue;
    const { status, body } = surface.encodeProblem(problem, facts);
    messages.set(status, (messages.get(status) ?? new Set()).add(messageIn(body) ?? problem.problem));
  }
  return Object.fromEntries(
    Array.from(messages, ([status, known]) => [
      status,
      { description: `${[...known].join('. ')}.`, schema: someProblem },
    ]),
  );
}

function messageIn(body: unknown): string | null {
  if (typeof body !== 'object' || body === null || !('message' in body)) return null;
  return typeof body.message === 'string' ? body.message : null;
}

function problemsOf(operation: Operation): readonly (readonly [Problem, boolean])[] {
  const { body, query, params } = operation.document;
  const jsonOnly = body?.contentTypes.every((type) => type === jsonType) ?? false;
  const retry = { retryAfterSeconds: 1 };
  return [
    [{ problem: 'malformed', message: 'The request cannot be read' }, Boolean(body ?? query ?? params)],
    [{ problem: 'not_authorized' }, operation.access !== 'open'],
    [{ problem: 'scope_missing', scope: operation.scope ?? 'manage' }, operation.scope !== undefined],
    [{ problem: 'cross_site' }, mayChange(operation.method)],
    [{ problem: 'method_not_allowed', allow: operation.method }, true],
    [
      { problem: 'body_too_large', capBytes: operation.bodyCapBytes ?? bodyCapBytesFor(builtInPlans) },
      body !== undefined,
    ],
    [{ problem: 'unsupported_media_type' }, jsonOnly],
    [{ problem: 'rate_limited', ...retry }, operation.limit !== 'none'],
    [{ problem: 'internal', requestId: '' }, true],
    [{ problem: 'unavailable', ...retry }, true],
  ];
}

const text: JsonSchema = { type: 'string' };

/** Header names in components are the names on the wire. */
export const headers: Readonly<Record<string, Header>> = {
  'Cache-Control': { description: 'Always `no-store`.', schema: { const: 'no-store' } },
  'X-Request-Id': { description: 'Names this request in the logs of the service.', schema: text },
  'WWW-Authenticate': { description: 'The Basic challenge.', schema: text },
  Allow: { description: 'The methods that this path answers.', schema: text },
  'Retry-After': {
    description: 'Seconds after which to try again.',
    schema: { type: 'string', pattern: '^[0-9]+$' },
  },
  RateLimit: {
    description: 'What is left, as the IETF draft has it; where a rate limit refused.',
    schema: text,
  },
  'RateLimit-Policy': {
    description: 'The limit, as the IETF draft has it; where a rate limit refused.',
    schema: text,
  },
  'Mayfly-Ignored': {
    description:
      'The names of parameters that the call gave and the operation does not know, if any: a comma list. A name that is ' +
      'long or holds other characters is cut and ends in `*`; a list of more than 20 ends in `...`.',
    schema: { type: 'string', examples: ['passphase, tll'] },
  },
};

const headersOfStatus: Readonly<Record<number, readonly string[]>> = {
  401: ['WWW-Authenticate'],
  405: ['Allow'],
  429: ['Retry-After', 'RateLimit', 'RateLimit-Policy'],
  503: ['Retry-After'],
};

function headersOf(status: number, operation: Operation): Record<string, Reference> {
  const own = headersOfStatus[status] ?? [];
  const sent = operation.limit === 'none' ? own.filter((name) => !name.startsWith('RateLimit')) : own;
  const names = ['Cache-Control', 'X-Request-Id', ...sent, ...(operation.document.answerHeaders ?? [])];
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
