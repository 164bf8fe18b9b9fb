/**
 * Mutants of SQL: comparisons, terms of a condition, written values. Works on text; statements are not parsed.
 */

export interface Change {
  /** Offset within the text. */
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
  readonly kind: string;
}

export const isSql = (text: string): boolean =>
  /\b(SELECT .*|INSERT (OR \w+ )?INTO|UPDATE \w+|DELETE FROM|WHERE|PRAGMA|VALUES)\b/.test(text);

const keywordAfter = /\b(ORDER BY|GROUP BY|LIMIT|RETURNING|UNION|SET|WHERE|FROM|JOIN|AND|OR|SELECT)\b/;

const replacements: readonly (readonly [RegExp, string, string])[] = [
  [/\bmax(?=\()/g, 'min', 'SQL function'],
  [/\bmin(?=\()/g, 'max', 'SQL function'],
  [/\bIS NOT NULL\b/g, 'IS NULL', 'SQL null'],
  [/\bIS NULL\b/g, 'IS NOT NULL', 'SQL null'],
  [/\bNOT EXISTS\b/g, 'EXISTS', 'SQL negation'],
  [/\bNOT(?= \$\{)/g, '', 'SQL negation'],
  [/ \+ (?=\d)/g, ' - ', 'SQL arithmetic'],
  [/ - (?=\d)/g, ' + ', 'SQL arithmetic'],
  [/ DESC\b/g, '', 'SQL order'],
  [/zeroblob\(length\((\w+)\)\)/g, '$1', 'SQL erasure'],
];

const comparisons: Readonly<Record<string, string>> = {
  '=': '<>',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
};

/** All changes to an SQL text, or to a piece of one: templates are split at their placeholders. */
export function changesOf(text: string): Change[] {
  const changes: Change[] = [];
  for (const [pattern, replacement, kind] of replacements)
    for (const match of text.matchAll(pattern))
      changes.push({
        start: match.index,
        end: match.index + match[0].length,
        replacement: replacement.replace('$1', match[1] ?? ''),
        kind,
      });
  for (const match of text.matchAll(/\b(WHERE|ON|AND|OR) (?!CONFLICT|IGNORE|REPLACE)/g))
    changes.push(...termChanges(text, match.index + match[0].length));
  return changes;
}

/** Changes to the condition's term that starts here: its comparison changed, or the whole term made true. */
function termChanges(text: string, start: number): Change[] {
  const end = endOfTerm(text, start);
  const term = text.slice(start, end);
  if (term === '' || /^(NOT )?EXISTS\b/.test(term)) return [];
  // The statement must still name every parameter, or binding would fail.
  const parameters = [...term.matchAll(/\?\d/g)].map(([parameter]) => `${parameter} IS ${parameter}`);
  const dropped = { start, end, replacement: parameters.join(' AND ') || '1', kind: 'SQL term' };
  const [comparison] = term.matchAll(/ (=|<=|<|>=|>) /g);
  if (comparison?.[1] === undefined) return [dropped];
  const at = start + comparison.index + 1;
  const replacement = comparisons[comparison[1]] ?? '';
  return [dropped, { start: at, end: at + comparison[1].length, replacement, kind: 'SQL comparison' }];
}

/** Ends before the next keyword or comma, or before the bracket that closes around the term. */
function endOfTerm(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    if (text[at] === '(') depth += 1;
    if (text[at] === ')') depth -= 1;
    const isOver = text[at] === ',' || startsKeyword(text, at);
    if (depth < 0 || (depth === 0 && isOver)) return trimmedEnd(text, start, at);
  }
  return trimmedEnd(text, start, text.length);
}

const startsKeyword = (text: string, at: number): boolean =>
  !/\w/.test(text[at - 1] ?? ' ') && text.slice(at).search(keywordAfter) === 0;

const trimmedEnd = (text: string, start: number, end: number): number =>
  start + text.slice(start, end).trimEnd().length;
