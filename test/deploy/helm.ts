/**
 * Renders the chart in deploy/helm without Helm: the small part of Go's templates that the chart uses, and nothing else of it. What it does
 * not know, it refuses, so that the chart cannot grow beyond what is tested.
 *
 * Source: https://pkg.go.dev/text/template and https://helm.sh/docs/chart_template_guide/function_list/
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../support/started-server.ts';

export const chartFolder = join(repositoryRoot, 'deploy/helm/mayfly');

type Data = Readonly<Record<string, unknown>>;
type Scope = ReadonlyMap<string, unknown>;

/** The chart does not allow it, in its own words. */
export class ChartRefusal extends Error {}

interface Piece {
  readonly text: string;
  readonly isAction: boolean;
}

/** Texts and actions in turn; `{{-` and `-}}` take the white space beside them. */
function piecesOf(template: string): Piece[] {
  return template.split(/(\s*\{\{-[^}]*\}\}|\{\{[^}]*\}\})/).map((text) => {
    const action = /^\s*\{\{-?\s*([^}]*?)\s*\}\}$/.exec(text);
    return action === null ? { text, isAction: false } : { text: action[1] ?? '', isAction: true };
  });
}

function toYaml(value: unknown, indent = ''): string {
  if (Array.isArray(value)) return value.map((each) => `${indent}- ${JSON.stringify(each)}`).join('\n');
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const line = ([name, each]: [string, unknown]) =>
    typeof each === 'object' && each !== null
      ? `${indent}${name}:\n${toYaml(each, `${indent}  `)}`
      : `${indent}${name}: ${JSON.stringify(each)}`;
  return Object.entries(value).map(line).join('\n');
}

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  value === false ||
  value === 0 ||
  (typeof value === 'object' && Object.keys(value).length === 0);

/** The last argument is the one that a pipe hands on. */
const functions: Readonly<Record<string, (...args: readonly unknown[]) => unknown>> = {
  quote: (value) => JSON.stringify(String(value)),
  default: (fallback, value) => (isEmpty(value) ? fallback : value),
  toYaml: (value) => toYaml(value),
  nindent: (spaces, text) => `\n${String(text).replace(/^/gm, ' '.repeat(Number(spaces)))}`,
  required(words, value) {
    if (isEmpty(value)) throw new ChartRefusal(String(words));
    return value;
  },
};

function wordValue(word: string, data: Data, scope: Scope): unknown {
  if (word.startsWith('"')) return JSON.parse(word);
  if (/^\d+$/.test(word)) return Number(word);
  const [root = '', ...path] = word.split('.');
  if (root !== '' && !root.startsWith('$')) throw new Error(`the test does not know ${word}`);
  const start = root === '' ? data : scope.get(root);
  return path.reduce<unknown>((value, name) => (value as Data | undefined)?.[name], start);
}

/** `function argument … | function argument …` */
function evaluate(expression: string, data: Data, scope: Scope): unknown {
  return expression.split(' | ').reduce<unknown>((piped, call, at) => {
    const [name = '', ...words] = call.match(/"[^"]*"|\S+/g) ?? [];
    const args = words.map((word) => wordValue(word, data, scope));
    const use = functions[name];
    if (use !== undefined) return use(...args, ...(at === 0 ? [] : [piped]));
    if (at > 0 || words.length > 0) throw new Error(`the test does not know ${call}`);
    return wordValue(name, data, scope);
  }, undefined);
}

const isBlock = ({ text, isAction }: Piece): boolean => isAction && /^(?:if|range) /.test(text);

/** Where the block that begins at `from` ends. */
function endOf(pieces: readonly Piece[], from: number): number {
  let depth = 0;
  return pieces.findIndex((piece, at) => {
    if (at < from) return false;
    if (isBlock(piece)) depth += 1;
    else if (piece.isAction && piece.text === 'end') depth -= 1;
    return depth === 0;
  });
}

function render(pieces: readonly Piece[], data: Data, scope: Scope): string {
  const [piece, ...others] = pieces;
  if (piece === undefined) return '';
  if (!isBlock(piece)) {
    const text = piece.isAction ? String(evaluate(piece.text, data, scope)) : piece.text;
    return text + render(others, data, scope);
  }
  const end = endOf(pieces, 0);
  const inner = renderBlock(piece.text, pieces.slice(1, end), data, scope);
  return inner + render(pieces.slice(end + 1), data, scope);
}

function renderBlock(head: string, inner: readonly Piece[], data: Data, scope: Scope): string {
  const [, key = '', item = '', list] = /^range (\$\w+), (\$\w+) := (.*)$/.exec(head) ?? [];
  if (list === undefined)
    return isEmpty(evaluate(head.replace(/^if /, ''), data, scope)) ? '' : render(inner, data, scope);
  return Object.entries((evaluate(list, data, scope) ?? {}) as Data)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => render(inner, data, new Map([...scope, [key, name], [item, value]])))
    .join('');
}

const read = (path: string) => readFileSync(join(chartFolder, path), 'utf8');

/** Every manifest of the chart, with these values over its own. Throws `ChartRefusal` when one is missing that it needs. */
export function renderChart(changes: Data): Record<string, unknown>[] {
  const own = Bun.YAML.parse(read('values.yaml')) as Record<string, Data>;
  const merged = Object.entries(changes).map(([name, value]) => {
    const isMap = typeof value === 'object' && value !== null;
    return [name, isMap ? { ...own[name], ...value } : value];
  });
  const chart = Bun.YAML.parse(read('Chart.yaml')) as Record<string, unknown>;
  const data = {
    Values: { ...own, ...Object.fromEntries(merged) },
    Release: { Name: 'secrets' },
    Chart: { AppVersion: chart.appVersion },
  };
  const templates = readdirSync(join(chartFolder, 'templates')).filter((name) => name.endsWith('.yaml'));
  return templates
    .map((name) => render(piecesOf(read(`templates/${name}`)), data, new Map()))
    .filter((text) => text.trim() !== '')
    .map((text) => Bun.YAML.parse(text) as Record<string, unknown>);
}
