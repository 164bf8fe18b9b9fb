/** Shared by v1 and v2: dialects, operations bound to a dialect, and tables of refusals. */
import type { Caller } from '../core/account.ts';
import type { Access, Exchange, Operation, Reply } from '../http/operation.ts';

/** As documented, or like the existing service. */
export type DialectName = 'documented' | 'upstream';

export interface Row<T> {
  /** The existing service's behaviour, or the clients that depend on it. */
  readonly evidence: string;
  readonly documented: T;
  readonly upstream: T;
}

export function row<T>(evidence: string, documented: T, upstream: T): Row<T> {
  return { evidence, documented, upstream };
}

export const managementAuthority = row<'owner' | 'holder'>(
  'The existing service lets anyone with the metadata key manage the record, even another account.',
  'owner',
  'holder',
);

export type SideOf<Differences extends Readonly<Record<string, Row<unknown>>>> = {
  readonly [Name in keyof Differences]: Differences[Name]['documented'];
};

export function sideOf<Differences extends Readonly<Record<string, Row<unknown>>>>(
  differences: Differences,
  dialect: DialectName,
): SideOf<Differences> {
  const side = Object.entries(differences).map(([name, difference]) => [name, difference[dialect]]);
  // `fromEntries` cannot express that each name keeps its row's type.
  return Object.fromEntries(side) as SideOf<Differences>;
}

/** The API that an operation is bound to. */
interface Binding {
  readonly dialect: { readonly managementAccess: Access };
}

/** An operation not yet bound to a service and a dialect. */
export interface Unbound<Api extends Binding, Input = unknown>
  extends Omit<Operation, 'access' | 'bodyCapBytes' | 'decode' | 'handle'> {
  /** `manager`: anyone whom the dialect allows to manage a record. */
  readonly access: Access | 'manager';
  readonly bodyCapBytes?:
    | number
    | ((caller: Caller, api: Api, params: Exchange['params']) => number | Promise<number>);
  decode(exchange: Exchange, dialect: Api['dialect']): Input | Promise<Input>;
  handle(input: Input, caller: Caller, api: Api, exchange: Exchange): Promise<Reply> | Reply;
}

export function bind<Api extends Binding>(operation: Unbound<Api>, api: Api): Operation {
  const { dialect } = api;
  const { bodyCapBytes: cap, ...rest } = operation;
  const bodyCapBytes: Operation['bodyCapBytes'] =
    typeof cap === 'function' ? (caller, params) => cap(caller, api, params) : cap;
  return {
    ...rest,
    ...(bodyCapBytes !== undefined && { bodyCapBytes }),
    access: accessIn(operation.access, dialect),
    decode: (exchange) => operation.decode(exchange, dialect),
    handle: (input, caller, exchange) => operation.handle(input, caller, api, exchange),
  };
}

function accessIn(access: Access | 'manager', { managementAccess }: Binding['dialect']): Access {
  return access === 'manager' ? managementAccess : access;
}

/** Contains one entry for each member of a union, by its tag. */
export type Table<Union, Tag extends keyof Union, Rest extends readonly unknown[] = []> = {
  readonly [Name in Union[Tag] & string]: (member: Extract<Union, Record<Tag, Name>>, ...rest: Rest) => Reply;
};

export function answerFrom<Union, Tag extends keyof Union, Rest extends readonly unknown[]>(
  table: Table<Union, Tag, Rest>,
  tag: Tag,
  member: Union,
  ...rest: Rest
): Reply {
  const name = member[tag] as Union[Tag] & string;
  // The entry takes exactly this member, which TypeScript cannot infer through the index.
  return table[name](member as never, ...rest);
}
