/**
 * Reads operators' JSON files, and reports each wrong entry in a sentence that names its path. Refuses unknown fields, because a typo must
 * not silently leave a default in place.
 */
import { z } from 'zod';
import { readAs } from './text.ts';

export type JsonReading<T> = { readonly value: T } | { readonly problems: readonly string[] };

/**
 * In a schema's messages, `{at}` is the path of the wrong entry, `{key}` its last part and `{in}` the path before that. A message
 * without these placeholders is printed after the path.
 * @param root the name of the whole file
 */
export function readJson<T>(file: Uint8Array | string, schema: z.ZodType<T>, root = 'it'): JsonReading<T> {
  const json = parseJson(file);
  const parsed = schema.safeParse(json);
  if (parsed.success) return { value: parsed.data };
  const found = parsed.error.issues.flatMap(placesOf);
  const places = found.map((place) => ({ ...place, position: positionOf(place.path, json) }));
  places.sort((one, other) => one.position.localeCompare(other.position, 'en', { numeric: true }));
  return { problems: places.map((place) => sentenceAt(place, root)) };
}

function parseJson(file: Uint8Array | string): unknown {
  try {
    return JSON.parse(readAs('document', file));
  } catch {
    // Drops the parser's message, which may quote the file.
    return undefined;
  }
}

type Path = readonly PropertyKey[];

interface Place {
  readonly path: Path;
  readonly message: string;
}

function placesOf(issue: z.core.$ZodIssue): Place[] {
  const { path, message } = issue;
  if (issue.code !== 'unrecognized_keys') return [{ path, message }];
  return issue.keys.map((key) => ({ path: [...path, key], message }));
}

/** Returns a key that sorts entries in file order. */
function positionOf(path: Path, json: unknown): string {
  let node = json;
  const positions = path.map((part) => {
    const entries = Object.entries(node ?? {});
    const index = entries.findIndex(([key]) => key === String(part));
    node = entries[index]?.[1];
    return index;
  });
  return positions.join('.');
}

function sentenceAt({ path, message }: Place, root: string): string {
  const at = pathText(path) || root;
  if (!message.includes('{')) return `${at} ${message}`;
  return message
    .replace('{at}', () => at)
    .replace('{key}', () => String(path.at(-1)))
    .replace('{in}', () => pathText(path.slice(0, -1)) || root);
}

/** Returns a path such as `links[0].url` or `domains["a.example"].name`. */
function pathText(path: Path): string {
  const parts = path.map((part) => {
    if (typeof part === 'number') return `[${part}]`;
    return /^\w+$/.test(String(part)) ? `.${String(part)}` : `[${JSON.stringify(String(part))}]`;
  });
  return parts.join('').replace(/^\./, '');
}

export function fieldsOf<S extends z.ZodRawShape>(
  shape: S,
  { mustBe, unknown }: { readonly mustBe: string; readonly unknown: string },
) {
  return z.strictObject(shape, { error: ({ code }) => (code === 'unrecognized_keys' ? unknown : mustBe) });
}

export function namesOf(table: object): string {
  return Object.keys(table).join(', ');
}
