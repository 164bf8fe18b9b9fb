/**
 * An example call as a curl command.
 *
 * Owns: the quoting. Invariant: whatever an example holds, the command is one the shell reads back unchanged.
 */
import type { MediaType, Method, OperationObject } from '../openapi-types.ts';

const jsonType = 'application/json';

export function curlExample(
  baseUrl: string,
  path: string,
  method: Method,
  operation: OperationObject,
): string {
  // A key goes where the braces are; curl itself would read braces as a set of addresses.
  const url = quote(baseUrl + path.replace(/\{(\w+)\}/g, (_all, name: string) => `<${name}>`));
  const call = `curl ${url}${methodFlag(method, operation)}`;
  return [call, ...credentials(operation), ...body(operation)].join(' \\\n  ');
}

function methodFlag(method: Method, operation: OperationObject): string {
  if (method === 'head') return ' --head';
  if (method === 'patch') return ' --request PATCH';
  return method === 'post' && operation.requestBody === undefined ? ' --request POST' : '';
}

function credentials(operation: OperationObject): readonly string[] {
  const needed = operation.security.length > 0 && operation.security.every((way) => 'basic' in way);
  return needed ? ["--user '<username>:<api token>'"] : [];
}

function body(operation: OperationObject): readonly string[] {
  const content = operation.requestBody?.content ?? {};
  const [first] = Object.entries(content);
  if (first === undefined) return [];
  const [type, media] = first;
  if (type.startsWith('image/')) return [`--header 'Content-Type: ${type}'`, '--data-binary @logo.png'];
  return type === jsonType ? jsonBody(media) : formBody(media);
}

function jsonBody(media: MediaType): readonly string[] {
  return [`--header 'Content-Type: ${jsonType}'`, `--data ${quote(JSON.stringify(media.example ?? {}))}`];
}

function formBody(media: MediaType): readonly string[] {
  const fields = Object.entries((media.example ?? {}) as Record<string, unknown>);
  if (fields.length === 0) return ['--request POST'];
  return fields.map(([name, value]) => `--data-urlencode ${quote(`${name}=${String(value)}`)}`);
}

/** POSIX single quotes. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
