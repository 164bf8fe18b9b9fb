/**
 * How a contract of API v2 is put together.
 *
 * Owns: which refusals an operation's access, limit and body bring along, the operations below `/guest`, and binding. Invariant:
 * a contract lists every answer that its operation may give.
 */
import type { z } from 'zod';
import { type Exchange, mayChange, type Operation, type OperationDocument } from '../../http/operation.ts';
import type { Dialect } from './dialect.ts';
import { type RefusalCode, refusalResponses } from './refusals.ts';

/** An operation without its handler, in either dialect. */
export type Contract<Input> = Omit<Operation<Input>, 'handle' | 'decode'> & {
  readonly decode: (exchange: Exchange, dialect: Dialect) => Input | Promise<Input>;
};

type Document = Omit<OperationDocument, 'responses'>;

interface Answers {
  readonly description: string;
  readonly schema: z.ZodType;
  readonly refuses: readonly RefusalCode[];
}

/** A contract whose answers are not put together yet. */
type Undescribed<Input> = Omit<Contract<Input>, 'document'> & {
  readonly document: Document;
  readonly answers: Answers;
};

/** The answers of one operation: its success, its own refusals, and those that its access and its body bring along. */
export function describe<Input>(operation: Undescribed<Input>): Contract<Input> {
  const { answers, document, ...rest } = operation;
  const { description, schema, refuses } = answers;
  const responses = {
    200: { description, schema },
    ...refusalResponses([...refuses, ...commonRefusals(rest, document)]),
  };
  return { ...rest, document: { ...document, responses } };
}

function commonRefusals(
  operation: Pick<Operation, 'access' | 'method' | 'limit' | 'scope'>,
  document: Document,
): readonly RefusalCode[] {
  const takesInput =
    document.body !== undefined || document.query !== undefined || document.headers !== undefined;
  const codes: readonly (readonly [RefusalCode, boolean])[] = [
    ['malformed', takesInput || document.params !== undefined],
    ['not_authorized', operation.access !== 'open'],
    ['insufficient_scope', operation.scope !== undefined],
    ['cross_site', mayChange(operation.method)],
    ['method_not_allowed', true],
    ['too_large', document.body !== undefined],
    ['unsupported_media_type', document.body !== undefined],
    ['invalid_field', document.body !== undefined],
    ['rate_limited', operation.limit !== 'none'],
    ['internal', true],
    ['unavailable', true],
  ];
  return codes.filter(([, applies]) => applies).map(([code]) => code);
}

/**
 * The same below `/guest`, as newer clients call it: whatever credentials come along are not looked at, and the caller is
 * anonymous.
 */
export function forGuests<Input>({ scope: _scope, ...operation }: Undescribed<Input>): Contract<Input> {
  const { name, path, document } = operation;
  const description = [document.description, 'Credentials are not looked at: the caller is anonymous.'];
  return describe({
    ...operation,
    name: `v2.guest.${name.slice('v2.'.length)}`,
    path: `/guest${path}`,
    access: 'open',
    document: {
      ...document,
      summary: `${document.summary}, as a guest`,
      description: description.filter(Boolean).join('\n\n'),
      tag: 'Guests',
    },
  });
}

/** Keeps what `decode` yields. */
export function undescribed<Input>(operation: Undescribed<Input>): Undescribed<Input> {
  return operation;
}

export function jsonBody(schema: z.ZodType, required: boolean) {
  return { schema, required, contentTypes: ['application/json'] };
}

/** A contract with its handler, in one dialect. A list of operations forgets the input's type, which only the two share. */
export function createBind(dialect: Dialect) {
  return <Input>(described: Contract<Input>, handle: Operation<Input>['handle']): Operation => {
    const decode = (exchange: Exchange) => described.decode(exchange, dialect);
    return { ...described, decode, handle } as Operation;
  };
}

export type Bind = ReturnType<typeof createBind>;
