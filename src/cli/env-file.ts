/**
 * Reads `NAME=value` lines (an environment file) and `NAME=LINK` lines.
 *
 * Programs disagree on quotes, comments and `$` in such files. Anything they read differently is refused, and nothing is expanded. A
 * refusal gives the line's number but never its text, which may be the secret (P18).
 */

export interface Line {
  readonly number: number;
  readonly text: string;
}

/** Skips empty lines and comments. */
export function contentLines(text: string): Line[] {
  const lines = text.split('\n').map((each, index) => ({ number: index + 1, text: each }));
  return lines.filter((line) => !/^[ \t]*(#.*)?$/.test(line.text));
}

export const nameRule = 'NAME consists of letters, digits and _, and does not begin with a digit';
const assignmentForm = /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/s;

/** Splits at the first `=`; returns `null` if no valid name precedes it. */
export function splitAssignment(text: string): readonly [name: string, rest: string] | null {
  const [, name, rest] = assignmentForm.exec(text) ?? [];
  return name === undefined || rest === undefined ? null : [name, rest];
}

export interface Assignment {
  readonly name: string;
  readonly value: string;
}

export type EnvFileOutcome =
  | { readonly outcome: 'read'; readonly assignments: readonly Assignment[] }
  | { readonly outcome: 'refused'; readonly refusals: readonly { line: number; problem: string }[] };

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', '"': '"', '\\': '\\' };

const doubleQuoted = /^"((?:[^"\\]|\\[nt"\\])*)"$/;
const singleQuoted = /^'([^']*)'$/;
const unquoted = /^[^\s'"`\\#$]*$/;

type ParsedValue = { readonly value: string } | { readonly problem: string };

function parseValue(text: string): ParsedValue {
  const double = doubleQuoted.exec(text)?.[1];
  if (double !== undefined)
    return { value: double.replace(/\\(.)/g, (_escape, letter: string) => escapes[letter] ?? '') };
  const single = singleQuoted.exec(text)?.[1];
  if (single !== undefined) return { value: single };
  if (unquoted.test(text)) return { value: text };
  if (text.startsWith('"'))
    return {
      problem: 'double quotes must enclose the whole value, with \\n, \\t, \\" and \\\\ as the only escapes',
    };
  if (text.startsWith("'"))
    return { problem: 'single quotes must enclose the whole value, with no single quote inside' };
  return { problem: 'a value with spaces, quotes, #, $, ` or \\ must be in quotes' };
}

function parseLine(text: string): Assignment | { readonly problem: string } {
  // Tabs are text. Other control characters suggest another encoding or cannot appear in an environment.
  if (/[^\P{Cc}\t]/u.test(text)) return { problem: 'it contains a control character' };
  const split = splitAssignment(text.replace(/^export +/, ''));
  if (split === null) return { problem: `it is not NAME=value; ${nameRule}` };
  const [name, rest] = split;
  const parsed = parseValue(rest);
  if ('problem' in parsed) return parsed;
  return parsed.value === '' ? { problem: 'the value is empty' } : { name, value: parsed.value };
}

export function parseEnvFile(text: string): EnvFileOutcome {
  const assignments = new Map<string, Assignment>();
  const refusals: { line: number; problem: string }[] = [];
  for (const line of contentLines(text)) {
    const parsed = parseLine(line.text);
    if ('problem' in parsed) refusals.push({ line: line.number, problem: parsed.problem });
    else if (assignments.has(parsed.name))
      refusals.push({ line: line.number, problem: 'an earlier line has the same name' });
    else assignments.set(parsed.name, parsed);
  }
  if (refusals.length > 0) return { outcome: 'refused', refusals };
  return { outcome: 'read', assignments: [...assignments.values()] };
}

/**
 * Few enough that a server allows three requests for each (status, passphrase, reveal) without a pause, and that the values fit into
 * a program's environment.
 */
export const maxVariables = 40;

export function fileLabel(path: string): string {
  return path === '-' ? 'Standard input' : path;
}
