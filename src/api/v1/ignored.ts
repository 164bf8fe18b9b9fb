/**
 * The names of the parameters that a call gave and its operation does not know.
 *
 * Owns: the header that names them. Invariant: names and never a value (P18), and whatever a name holds, one short line
 * of harmless ASCII, so that nothing of a request can end the header or begin another.
 */
import type { Exchange } from '../../http/operation.ts';

export const ignoredHeader = 'mayfly-ignored';
const maxNames = 20;
/** What is shown of a name: up to its first other character, and no more than the longest that somebody may mean. */
const shownStart = /^[\w.[\]-]{0,40}/;

/** A name that is cut ends in `*`, a list that is cut in `...`. */
export function nameIgnored(exchange: Exchange, names: Iterable<string>): void {
  const shown = [...new Set(Array.from(names, shownName))];
  if (shown.length === 0) return;
  const listed = shown.length > maxNames ? [...shown.slice(0, maxNames), '...'] : shown;
  exchange.setAnswerHeader(ignoredHeader, listed.join(', '));
}

function shownName(name: string): string {
  const [start = ''] = shownStart.exec(name) ?? [];
  return start === name && name !== '' ? name : `${start}*`;
}
