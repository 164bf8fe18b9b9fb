/**
 * Example calls as curl commands.
 *
 * Owns: what an example shows, and the quoting. Invariant: the first example is the smallest request that works when it
 * is pasted, with a key in its place and, where an account is needed, credentials; whatever an example holds, the command
 * is one the shell reads back unchanged.
 */
import { exampleOf } from '../openapi-example.ts';
import type { Method, OpenApiDocument, OperationObject } from '../openapi-types.ts';

const jsonType = 'application/json';

/** The smallest call; and one by an account with the body's other fields, where there are some. */
export function curlExamples(
  document: OpenApiDocument,
  path: string,
  method: Method,
  operation: OperationObject,
): readonly string[] {
  const baseUrl = document.servers[0]?.url ?? '';
  const [least, whole] = bodiesOf(document, operation);
  const needed = operation.security.length > 0 && operation.security.every((way) => 'basic' in way);
  const command = (body: Body | null, isSignedIn: boolean) =>
    curlCommand(baseUrl + path, method, body, isSignedIn);
  const first = command(least, needed);
  const second = command(whole, true);
  const addsSomething = operation.security.length > 0 && JSON.stringify(least) !== JSON.stringify(whole);
  return addsSomething ? [first, second] : [first];
}

/** What is sent, and as what. */
interface Body {
  readonly type: string;
  readonly example: unknown;
}

/** The smallest body, `null` for none, and the one that the document shows. */
function bodiesOf(
  { components }: OpenApiDocument,
  { requestBody }: OperationObject,
): readonly [least: Body | null, whole: Body | null] {
  const [first] = Object.entries(requestBody?.content ?? {});
  if (requestBody === undefined || first === undefined) return [null, null];
  const [type, { schema, example }] = first;
  const whole = isBlank(example) ? null : { type, example };
  if (!requestBody.required) return [null, whole];
  const least = exampleOf(schema, components.schemas, 'least');
  return [isBlank(least) ? whole : { type, example: least }, whole];
}

/** Whether nothing is said in it. */
function isBlank(example: unknown): boolean {
  return typeof example === 'object' && example !== null && Object.values(example).every(isBlank);
}

function curlCommand(address: string, method: Method, body: Body | null, isSignedIn: boolean): string {
  // A key goes where the braces are; curl itself would read braces as a set of addresses.
  const url = quote(address.replace(/\{(\w+)\}/g, (_all, name: string) => `<${name}>`));
  const call = `curl ${url}${methodFlag(method, body)}`;
  const credentials = isSignedIn ? ["--user '<username>:<api token>'"] : [];
  return [call, ...credentials, ...(body === null ? [] : dataFlags(body))].join(' \\\n  ');
}

function methodFlag(method: Method, body: Body | null): string {
  if (method === 'head') return ' --head';
  if (method === 'patch') return ' --request PATCH';
  return method === 'post' && body === null ? ' --request POST' : '';
}

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
