/**
 * The document's operations as a reader meets them: by version and tag, aliases under their operation.
 *
 * Owns: the order and the grouping of the page. Invariant: every path of the document stands in exactly one entry.
 */
import { type Method, methods, type OpenApiDocument, type OperationObject } from '../openapi-types.ts';

export interface Entry {
  readonly id: string;
  readonly method: Method;
  readonly path: string;
  readonly operation: OperationObject;
  /** Other ways to call the same, `GET /api/v2/receipt/{key}`; HEAD is not told, every GET answers it. */
  readonly aliases: readonly string[];
}

export interface Section {
  readonly tag: string;
  readonly entries: readonly Entry[];
}

export function sectionsOf(document: OpenApiDocument): readonly Section[] {
  const entries = entriesOf(document);
  return document.tags
    .map(({ name }) => ({
      tag: name,
      entries: entries.filter(({ operation }) => operation.tags.includes(name)),
    }))
    .sort((a, b) => versionRank(b.tag) - versionRank(a.tag));
}

/** The newest version first. */
function versionRank(tag: string): number {
  return Number(/^v(\d+)/.exec(tag)?.[1] ?? 0);
}

function entriesOf(document: OpenApiDocument): readonly Entry[] {
  const groups = new Map<string, Omit<Entry, 'aliases'>[]>();
  for (const [path, item] of Object.entries(document.paths)) {
    for (const method of methods) {
      const operation = item[method];
      if (operation === undefined) continue;
      const id = operation.operationId.replace(/\.\d+$/, '');
      groups.set(id, [...(groups.get(id) ?? []), { id, method, path, operation }]);
    }
  }
  return Array.from(groups.values(), entryOf).filter((entry) => entry !== null);
}

/** The member whose operationId has no number is the operation's own path. */
function entryOf(group: readonly Omit<Entry, 'aliases'>[]): Entry | null {
  const own = group.find(({ id, operation }) => operation.operationId === id);
  if (own === undefined) return null;
  const others = group.filter((member) => member !== own && member.method !== 'head');
  return { ...own, aliases: others.map(({ method, path }) => `${method.toUpperCase()} ${path}`) };
}
