/**
 * Example calls as curl commands. The first is the smallest request that works when it is pasted, with a key in its place
 * and, where an account is needed, credentials; whatever an example holds, the shell reads the command back unchanged.
 */
import { mayChange, type Operation, type OperationMethod } from '../../http/operation.ts';
import { exampleOf } from './schema.ts';

type Called = Pick<Operation, 'method' | 'access' | 'document'>;

/** The smallest call; and one by an account with the body's other fields, where there are some. */
export function curlExamples(operation: Called, address: string): readonly string[] {
  const { method, access } = operation;
  const [least, whole] = bodiesOf(operation);
  const first = curlCommand(address, method, least, access === 'account');
  const addsSomething = access !== 'open' && JSON.stringify(least) !== JSON.stringify(whole);
  return addsSomething ? [first, curlCommand(address, method, whole, true)] : [first];
}

/** What is sent, and as what. */
interface Body {
  readonly type: string;
  readonly example: unknown;
}

/** The smallest body, and the one that the document shows. */
function bodiesOf({ method, document: { body } }: Called): readonly [least: Body | null, whole: Body | null] {
  const type = body?.contentTypes[0];
  if (body === undefined || type === undefined || !mayChange(method)) return [null, null];
  const example = exampleOf(body.schema);
  const whole = isBlank(example) ? null : { type, example };
  if (!body.required) return [null, whole];
  const least = exampleOf(body.schema, 'least');
  return [isBlank(least) ? whole : { type, example: least }, whole];
}

/** Whether nothing is said in it. */
function isBlank(example: unknown): boolean {
  return typeof example === 'object' && example !== null && Object.values(example).every(isBlank);
}

function curlCommand(
  address: string,
  method: OperationMethod,
  body: Body | null,
  isSignedIn: boolean,
): string {
  // A key goes where the braces are; curl itself would read braces as a set of addresses.
  const url = quote(address.replace(/\{(\w+)\}/g, (_all, name: string) => `<${name}>`));
  const call = `curl ${url}${methodFlag(method, body)}`;
  const credentials = isSignedIn ? ["--user '<username>:<api token>'"] : [];
  return [call, ...credentials, ...(body === null ? [] : dataFlags(body))].join(' \\\n  ');
}

function methodFlag(method: OperationMethod, body: Body | null): string {
  if (method === 'PATCH') return ' --request PATCH';
  return method === 'POST' && body === null ? ' --request POST' : '';
}

const jsonType = 'application/json';

function dataFlags({ type, example }: Body): readonly string[] {
  if (type.startsWith('image/')) return [`--header 'Content-Type: ${type}'`, '--data-binary @logo.png'];
  if (type === jsonType)
    return [`--header 'Content-Type: ${jsonType}'`, `--data ${quote(JSON.stringify(example))}`];
  const fields = Object.entries(example as Record<string, unknown>);
  return fields.map(([name, value]) => `--data-urlencode ${quote(`${name}=${String(value)}`)}`);
}

/** POSIX single quotes. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
