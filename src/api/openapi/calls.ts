/** The API page's curl commands. An operation's first is the smallest that works when pasted. Every example is shell-quoted. */
import { mayChange, type Operation, type OperationMethod } from '../../http/operation.ts';
import { exampleOf } from './schema.ts';

export type Called = Pick<Operation, 'method' | 'access' | 'document'>;

/** Returns the smallest call and, if the body has other fields, one with them, with credentials unless they are ignored. */
export function curlExamples(operation: Called, address: string): readonly string[] {
  const { method, access } = operation;
  const [least, whole] = bodiesOf(operation);
  const first = curlCommand(address, method, least, access === 'account');
  const addsNothing = JSON.stringify(least) === JSON.stringify(whole);
  return addsNothing ? [first] : [first, curlCommand(address, method, whole, access !== 'open')];
}

export interface CalledBody {
  readonly type: string;
  readonly example: unknown;
}

/** Returns the smallest body and the one shown in the document. */
export function bodiesOf(operation: Called): readonly [least: CalledBody | null, whole: CalledBody | null] {
  const { body } = operation.document;
  const type = body?.contentTypes[0];
  if (body === undefined || type === undefined || !mayChange(operation.method)) return [null, null];
  const example = exampleBody(operation);
  const whole = isBlank(example) ? null : { type, example };
  if (!body.required) return [null, whole];
  const least = exampleOf(body.schema, 'least');
  return [isBlank(least) ? whole : { type, example: least }, whole];
}

/** Returns the example body, without the fields that need an account if the operation ignores credentials. */
export function exampleBody({ access, document: { body } }: Called): unknown {
  const example = body === undefined ? null : exampleOf(body.schema);
  return access === 'open' ? withoutAccount(example) : example;
}

const accountFields: ReadonlySet<string> = new Set(['recipient', 'notify']);

function withoutAccount(example: unknown): unknown {
  if (typeof example !== 'object' || example === null || Array.isArray(example)) return example;
  const fields = Object.entries(example).filter(([name]) => !accountFields.has(name));
  return Object.fromEntries(fields.map(([name, field]) => [name, withoutAccount(field)]));
}

function isBlank(example: unknown): boolean {
  return typeof example === 'object' && example !== null && Object.values(example).every(isBlank);
}

function curlCommand(
  address: string,
  method: OperationMethod,
  body: CalledBody | null,
  isSignedIn: boolean,
): string {
  // curl expands braces into several URLs.
  const url = quote(address.replace(/\{(\w+)\}/g, (_all, name: string) => `<${name}>`));
  const call = `curl ${url}${methodFlag(method, body)}`;
  const credentials = isSignedIn ? ["--user '<username>:<api token>'"] : [];
  return [call, ...credentials, ...(body === null ? [] : dataFlags(body))].join(' \\\n  ');
}

function methodFlag(method: OperationMethod, body: CalledBody | null): string {
  if (method === 'PATCH') return ' --request PATCH';
  return method === 'POST' && body === null ? ' --request POST' : '';
}

const jsonType = 'application/json';

function dataFlags({ type, example }: CalledBody): readonly string[] {
  if (type.startsWith('image/')) return [`--header 'Content-Type: ${type}'`, '--data-binary @logo.png'];
  if (type === jsonType)
    return [`--header 'Content-Type: ${jsonType}'`, `--data ${quote(JSON.stringify(example))}`];
  const fields = Object.entries(example as Record<string, unknown>);
  return fields.map(([name, value]) => `--data-urlencode ${quote(`${name}=${String(value)}`)}`);
}

/** Wraps a text in POSIX single quotes. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
