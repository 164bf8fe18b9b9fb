/**
 * Renders the chart in deploy/helm without Helm: the small part of Go's templates and of Helm's functions that the chart uses, and nothing
 * else. What it does not know, it refuses, so that the chart cannot grow beyond what is tested. `npm test -- --long` holds it against Helm.
 *
 * Source: https://pkg.go.dev/text/template and https://helm.sh/docs/chart_template_guide/function_list/
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../support/started-server.ts';

export const chartFolder = join(repositoryRoot, 'deploy/helm/mayfly');

export type Data = Readonly<Record<string, unknown>>;

/** The chart does not allow it, in its own words. */
export class ChartRefusal extends Error {}

type Node =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'print'; readonly expression: string }
  | { readonly kind: 'set'; readonly name: string; readonly expression: string }
  /** Its `else`, with or without a condition of its own, is `otherwise`. */
  | { readonly kind: 'if'; readonly expression: string; readonly inner: Node[]; readonly otherwise: Node[] }
  | {
      readonly kind: 'range';
      readonly names: readonly [string, string];
      readonly expression: string;
      readonly inner: Node[];
    };

interface Templates {
  readonly named: Map<string, Node[]>;
}

interface Scope {
  readonly dot: unknown;
  readonly variables: ReadonlyMap<string, unknown>;
}

interface Piece {
  readonly text: string;
  readonly isAction: boolean;
}

/** Texts and actions in turn; `{{-` and `-}}` take the white space beside them. Comments are gone. */
function piecesOf(template: string): Piece[] {
  const pieces = template.split(/(\s*\{\{-(?:(?!\}\}).)*\}\}|\{\{(?:(?!\}\}).)*\}\})/s);
  let trimsNext = false;
  return pieces.flatMap((text) => {
    const action = /^\s*\{\{-?\s*(.*?)\s*(-?)\}\}$/s.exec(text);
    if (action === null) {
      const piece = { text: trimsNext ? text.trimStart() : text, isAction: false };
      trimsNext = false;
      return [piece];
    }
    trimsNext = action[2] === '-';
    return action[1]?.startsWith('/*') ? [] : [{ text: action[1] ?? '', isAction: true }];
  });
}

/** The nodes up to the `end` or `else` that belongs to them, which stays. */
function parse(pieces: Piece[], templates: Templates): Node[] {
  const nodes: Node[] = [];
  for (let piece = pieces.shift(); piece !== undefined; piece = pieces.shift()) {
    if (piece.isAction && /^(end|else\b.*)$/.test(piece.text)) {
      pieces.unshift(piece);
      return nodes;
    }
    const node = piece.isAction
      ? parseAction(piece.text, pieces, templates)
      : ({ kind: 'text', text: piece.text } as const);
    if (node !== null) nodes.push(node);
  }
  return nodes;
}

function parseIf(expression: string, pieces: Piece[], templates: Templates): Node {
  const inner = parse(pieces, templates);
  const closing = pieces.shift()?.text ?? '';
  if (closing === 'end') return { kind: 'if', expression, inner, otherwise: [] };
  const [, next] = /^else(?: if (.*))?$/.exec(closing) ?? [];
  if (next !== undefined)
    return { kind: 'if', expression, inner, otherwise: [parseIf(next, pieces, templates)] };
  const otherwise = parse(pieces, templates);
  pieces.shift();
  return { kind: 'if', expression, inner, otherwise };
}

function parseAction(text: string, pieces: Piece[], templates: Templates): Node | null {
  const [, word, rest = ''] = /^(if|range|define) (.*)$/.exec(text) ?? [];
  if (word === 'if') return parseIf(rest, pieces, templates);
  if (word === 'range') {
    const [, key = '', item = '', expression] = /^(\$\w+), (\$\w+) := (.*)$/.exec(rest) ?? [];
    if (expression === undefined) throw new Error(`the test does not know ${text}`);
    const inner = parse(pieces, templates);
    pieces.shift();
    return { kind: 'range', names: [key, item], expression, inner };
  }
  if (word === 'define') {
    templates.named.set(JSON.parse(rest), parse(pieces, templates));
    pieces.shift();
    return null;
  }
  const [, name, expression] = /^(\$\w+) := (.*)$/.exec(text) ?? [];
  return name === undefined || expression === undefined
    ? { kind: 'print', expression: text }
    : { kind: 'set', name, expression };
}

const isMap = (value: unknown): value is Data =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** As Go writes a map: with its names in order. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (!isMap(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((name) => [name, inOrder(value[name])]),
  );
}

/** JSON is YAML, a line for each of the first names or items. */
function toYaml(value: unknown): string {
  if (Array.isArray(value) && value.length > 0)
    return value.map((each) => `- ${JSON.stringify(each)}`).join('\n');
  if (!isMap(value) || Object.keys(value).length === 0) return JSON.stringify(value);
  return Object.entries(value)
    .map(([name, each]) => `${JSON.stringify(name)}: ${JSON.stringify(each)}`)
    .join('\n');
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
  print: (value) => String(value),
  default: (fallback, value) => (isEmpty(value) ? fallback : value),
  toYaml,
  toJson: (value) => JSON.stringify(inOrder(value)),
  nindent: (spaces, text) => `\n${String(text).replace(/^/gm, ' '.repeat(Number(spaces)))}`,
  trunc: (length, text) => String(text).slice(0, Number(length)),
  trimSuffix: (suffix, text) => String(text).replace(new RegExp(`${suffix}$`), ''),
  replace: (from, to, text) => String(text).replaceAll(String(from), String(to)),
  contains: (part, text) => String(text).includes(String(part)),
  printf: (form, ...values) =>
    values.reduce<string>((text, value) => text.replace('%s', () => String(value)), String(form)),
  sha256sum: (text) => createHash('sha256').update(String(text)).digest('hex'),
  eq: (one, other) => one === other,
  not: (value) => isEmpty(value),
  or: (...values) => values.find((value) => !isEmpty(value)) ?? values.at(-1),
  fail(words) {
    throw new ChartRefusal(String(words));
  },
  required(words, value) {
    if (isEmpty(value)) throw new ChartRefusal(String(words));
    return value;
  },
};

function wordValue(word: string, { dot, variables }: Scope): unknown {
  if (word.startsWith('"')) return JSON.parse(word);
  if (/^\d+$/.test(word)) return Number(word);
  const [root = '', ...path] = word.split('.');
  if (root !== '' && !root.startsWith('$')) throw new Error(`the test does not know ${word}`);
  const start = root === '' ? dot : variables.get(root);
  const names = path.filter((name) => name !== '');
  return names.reduce<unknown>((value, name) => (value as Data | undefined)?.[name], start);
}

/** `function argument … | function argument …`, where an argument may be such a thing in parentheses. */
function evaluate(words: string[], scope: Scope, templates: Templates): unknown {
  let piped: readonly unknown[] = [];
  for (;;) {
    const [name = '', ...args] = wordsOfCall(words, scope, templates);
    const isWord = typeof name === 'string';
    const all = [...args.map(({ value }) => value), ...piped];
    piped = [isWord ? call(name, all, scope, templates) : name.value];
    if (words.shift() !== '|') return piped[0];
  }
}

interface Value {
  readonly value: unknown;
}

/** The function's name, or the one value, and what it is given; up to the pipe or parenthesis that ends the call. */
function wordsOfCall(
  words: string[],
  scope: Scope,
  templates: Templates,
): [string | Value | undefined, ...Value[]] {
  const call: Value[] = [];
  let name: string | undefined;
  for (let word = words[0]; word !== undefined && word !== '|' && word !== ')'; word = words[0]) {
    words.shift();
    if (word === '(') call.push({ value: evaluate(words, scope, templates) });
    else if (name === undefined && call.length === 0 && /^[a-z]/i.test(word)) name = word;
    else call.push({ value: wordValue(word, scope) });
  }
  if (name !== undefined) return [name, ...call];
  if (call.length > 1) throw new Error('the test does not know a value with arguments');
  return [call[0]];
}

function call(name: string, args: readonly unknown[], scope: Scope, templates: Templates): unknown {
  if (name === 'include') {
    const nodes = templates.named.get(String(args[0]));
    if (nodes === undefined) throw new Error(`there is no template ${args[0]}`);
    return render(nodes, { ...scope, dot: args[1] }, templates);
  }
  const use = functions[name];
  if (use === undefined) throw new Error(`the test does not know ${name}`);
  return use(...args);
}

const evaluated = (expression: string, scope: Scope, templates: Templates) =>
  evaluate(expression.match(/"(?:[^"\\]|\\.)*"|[()|]|[^\s()|]+/g) ?? [], scope, templates);

function render(nodes: readonly Node[], start: Scope, templates: Templates): string {
  let scope = start;
  let written = '';
  for (const node of nodes) {
    if (node.kind === 'text') written += node.text;
    else if (node.kind === 'print') written += String(evaluated(node.expression, scope, templates));
    else if (node.kind === 'set') {
      const value = evaluated(node.expression, scope, templates);
      scope = { ...scope, variables: new Map([...scope.variables, [node.name, value]]) };
    } else if (node.kind === 'if') {
      const isSo = !isEmpty(evaluated(node.expression, scope, templates));
      written += render(isSo ? node.inner : node.otherwise, scope, templates);
    } else {
      const [key, item] = node.names;
      const entries = Object.entries((evaluated(node.expression, scope, templates) ?? {}) as Data);
      for (const [name, value] of entries.sort(([a], [b]) => (a < b ? -1 : 1))) {
        const variables = new Map([...scope.variables, [key, name], [item, value]]);
        written += render(node.inner, { ...scope, variables }, templates);
      }
    }
  }
  return written;
}

const read = (path: string) => readFileSync(join(chartFolder, path), 'utf8');

/** What Helm makes of values.yaml and of those over it: maps come together, and anything else is replaced. */
export function mergeValues(changes: Data, own = Bun.YAML.parse(read('values.yaml')) as Data): Data {
  const merged = Object.entries(changes).map(([name, value]) => {
    const before = own[name];
    return [name, isMap(value) && isMap(before) ? mergeValues(value, before) : value];
  });
  return { ...own, ...Object.fromEntries(merged) };
}

export interface Release {
  readonly name?: string;
}

/** Every file of the chart by its path, with these values over its own. Throws `ChartRefusal` when one is missing that it needs. */
function renderFiles(changes: Data, { name = 'mayfly' }: Release): Map<string, string> {
  const chart = Bun.YAML.parse(read('Chart.yaml')) as Record<string, unknown>;
  const dot = {
    Values: mergeValues(changes),
    Release: { Name: name, Service: 'Helm' },
    Chart: { Name: chart.name, Version: chart.version, AppVersion: chart.appVersion },
  };
  const templates: Templates = { named: new Map() };
  const scope: Scope = { dot, variables: new Map([['$', dot]]) };
  const paths = readdirSync(join(chartFolder, 'templates'), { recursive: true })
    .map(String)
    .filter((path) => /\.(yaml|tpl|txt)$/.test(path))
    .sort();
  const parsed = paths.map((path) => [path, parse(piecesOf(read(`templates/${path}`)), templates)] as const);
  return new Map(parsed.map(([path, nodes]) => [path, render(nodes, scope, templates)]));
}

export type Manifest = Readonly<Record<string, unknown>>;

export function renderChart(changes: Data, release: Release = {}): Manifest[] {
  return [...renderFiles(changes, release)]
    .filter(([path, text]) => path.endsWith('.yaml') && text.trim() !== '')
    .map(([, text]) => Bun.YAML.parse(text) as Manifest);
}

/** What Helm prints after an installation. */
export function renderNotes(changes: Data, release: Release = {}): string {
  return renderFiles(changes, release).get('NOTES.txt') ?? '';
}
