/**
 * Mutants of a source file: one operator, constant, condition, guard, statement or piece of SQL changed. Types, comments
 * and imports, which do not exist at run time, are left alone.
 */
import { type Node, type SourceFile, SyntaxKind } from 'typescript/unstable/ast';
import { isTypeNode } from 'typescript/unstable/ast/is';
import { changesOf, isSql } from './sql.ts';

/** What runs whenever a mutant's code does: a statement, or the expression that a function returns. */
export interface Site {
  readonly start: number;
  readonly end: number;
  readonly form: 'statement in a list' | 'lone statement' | 'expression';
}

export interface Mutant {
  readonly path: string;
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
  readonly kind: string;
  /** Where it runs; a constant of the file, where it is used. */
  readonly sites: readonly Site[];
}

const swaps: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '&&': '||',
  '||': '&&',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '%': '*',
  '<<': '>>>',
  '>>>': '<<',
  '&': '|',
  '|': '&',
  '^': '&',
  '+=': '-=',
  '-=': '+=',
  '++': '--',
  '--': '++',
};

const calls: Readonly<Record<string, string>> = {
  'Math.max': 'Math.min',
  'Math.min': 'Math.max',
  some: 'every',
  every: 'some',
};

const leftAlone = new Set<SyntaxKind>([
  SyntaxKind.ImportDeclaration,
  SyntaxKind.InterfaceDeclaration,
  SyntaxKind.TypeAliasDeclaration,
]);

const statements = new Set<SyntaxKind>([
  SyntaxKind.ExpressionStatement,
  SyntaxKind.IfStatement,
  SyntaxKind.ReturnStatement,
  SyntaxKind.ThrowStatement,
  SyntaxKind.VariableStatement,
  SyntaxKind.ForStatement,
  SyntaxKind.ForOfStatement,
  SyntaxKind.WhileStatement,
  SyntaxKind.DoStatement,
  SyntaxKind.SwitchStatement,
]);

const lists = new Set<SyntaxKind>([
  SyntaxKind.SourceFile,
  SyntaxKind.Block,
  SyntaxKind.CaseClause,
  SyntaxKind.DefaultClause,
]);

/** The parts that a node may have. */
type Parts = Readonly<
  Partial<
    Record<'operatorToken' | 'left' | 'right' | 'expression' | 'condition' | 'body' | 'elseStatement', Node>
  >
>;

export function mutantsOf(path: string, source: SourceFile): Mutant[] {
  const mutants: (Mutant & { readonly constant: string })[] = [];
  /** Where values stand that only a type asks for: of a list's elements it says that one may be missing. */
  const neverTaken = new Set<number>();
  const { text } = source;
  let site: Site = { start: 0, end: 0, form: 'statement in a list' };
  /** Where each name is used. */
  const uses = new Map<string, Site[]>();
  /** The file's constant that is being visited: it runs once, and its value is used elsewhere. */
  let constant = '';
  const startOf = (node: Node) => node.getStart(source);
  const textOf = (node: Node) => text.slice(startOf(node), node.end);
  function add(kind: string, start: number, end: number, replacement: string): void {
    mutants.push({ path, start, end, replacement, kind, sites: [site], constant });
  }
  function replace(kind: string, node: Node, replacement: string): void {
    add(kind, startOf(node), node.end, replacement);
  }

  function visit(node: Node, parent: Node = node): void {
    if (leftAlone.has(node.kind) || isTypeNode(node)) return;
    const outer = { site, constant };
    site = siteOf(node, node as unknown as Parts, parent) ?? site;
    if (site !== outer.site)
      constant = (parent.kind === SyntaxKind.SourceFile && /^const (\w+)/.exec(textOf(node))?.[1]) || '';
    if (node.kind === SyntaxKind.Identifier) {
      const name = textOf(node);
      if (name !== constant) uses.set(name, [...(uses.get(name) ?? []), site]);
    }
    mutators[node.kind]?.(node, node as unknown as Parts);
    node.forEachChild((child) => {
      visit(child, node);
      return undefined;
    });
    ({ site, constant } = outer);
  }

  function siteOf(node: Node, { body }: Parts, parent: Node): Site | undefined {
    if (statements.has(node.kind))
      return {
        start: startOf(node),
        end: node.end,
        form: lists.has(parent.kind) ? 'statement in a list' : 'lone statement',
      };
    if (node.kind !== SyntaxKind.ArrowFunction || body === undefined || body.kind === SyntaxKind.Block)
      return;
    return { start: startOf(body), end: body.end, form: 'expression' };
  }

  function sql(node: Node): void {
    const withinQuotes = textOf(node).slice(1, -1);
    const from = startOf(node) + 1;
    if (!isSql(withinQuotes)) return;
    for (const { kind, start, end, replacement } of changesOf(withinQuotes))
      add(kind, from + start, from + end, replacement);
  }

  const mutators: Partial<Record<SyntaxKind, (node: Node, parts: Parts) => void>> = {
    [SyntaxKind.BinaryExpression]: binary,
    [SyntaxKind.PrefixUnaryExpression]: unary,
    [SyntaxKind.PostfixUnaryExpression]: unary,
    [SyntaxKind.IfStatement](node, { expression, elseStatement }) {
      if (elseStatement === undefined) replace('guard removed', node, ';');
      negate(expression);
    },
    [SyntaxKind.WhileStatement]: (_node, { expression }) => negate(expression),
    [SyntaxKind.ConditionalExpression]: (_node, { condition }) => negate(condition),
    [SyntaxKind.ExpressionStatement](node) {
      if (!textOf(node).startsWith('super(')) replace('statement removed', node, ';');
    },
    [SyntaxKind.ThrowStatement]: (node) => replace('statement removed', node, ';'),
    [SyntaxKind.AwaitExpression](node, { expression }) {
      if (expression !== undefined) replace('await removed', node, textOf(expression));
    },
    [SyntaxKind.ArrayBindingPattern](pattern) {
      pattern.forEachChild((element) => {
        element.forEachChild((part) => {
          if (part.kind === SyntaxKind.NumericLiteral) neverTaken.add(startOf(part));
          return undefined;
        });
        return undefined;
      });
    },
    [SyntaxKind.NumericLiteral]: amount,
    [SyntaxKind.TrueKeyword]: (node) => replace('boolean', node, 'false'),
    [SyntaxKind.FalseKeyword]: (node) => replace('boolean', node, 'true'),
    [SyntaxKind.ReturnStatement]: (_node, { expression }) => result(expression),
    [SyntaxKind.ArrowFunction](_node, { body }) {
      if (body?.kind !== SyntaxKind.Block) result(body);
    },
    [SyntaxKind.CallExpression]: call,
    [SyntaxKind.StringLiteral]: sql,
    [SyntaxKind.NoSubstitutionTemplateLiteral]: sql,
    [SyntaxKind.TemplateExpression]: sql,
  };

  function binary(node: Node, { operatorToken: operator, left, right }: Parts): void {
    if (operator === undefined || left === undefined || right === undefined) return;
    if (textOf(operator) === '??' && left.kind === SyntaxKind.ElementAccessExpression && isNothing(right)) {
      neverTaken.add(startOf(right));
      return;
    }
    const swapped = swaps[textOf(operator)];
    if (swapped !== undefined) replace('operator', operator, swapped);
    if (textOf(operator) === '??') replace('fallback removed', node, textOf(left));
  }

  function unary(node: Node): void {
    const whole = textOf(node);
    if (whole.startsWith('!')) add('negation removed', startOf(node), startOf(node) + 1, '');
    if (/^-\w/.test(whole)) add('sign removed', startOf(node), startOf(node) + 1, '');
    const step = /^(\+\+|--)|(\+\+|--)$/.exec(whole);
    if (step !== null)
      add('operator', startOf(node) + step.index, startOf(node) + step.index + 2, swaps[step[0]] ?? '');
  }

  /** Skips conditions that an operator swap or a removed `!` already negates. */
  function negate(condition: Node | undefined): void {
    if (condition === undefined) return;
    const whole = textOf(condition);
    const isSimple = condition.kind === SyntaxKind.BinaryExpression && /^[^&|]* [!=]== [^&|]*$/.test(whole);
    if (!isSimple && !whole.startsWith('!')) replace('condition negated', condition, `!(${whole})`);
  }

  const isNothing = (node: Node): boolean => ['0', '0n', "''", 'Number.NaN'].includes(textOf(node));

  function amount(node: Node): void {
    if (neverTaken.has(startOf(node))) return;
    const value = Number(textOf(node).replaceAll('_', ''));
    // One more than a large limit or unit is no defect that a test should find; twice as much is.
    const [more, less] = value < 100 ? [value + 1, value - 1] : [value * 2, value / 2];
    replace('constant', node, String(more));
    if (less >= 0) replace('constant', node, String(less));
  }

  function result(expression: Node | undefined): void {
    if (expression === undefined) return;
    const isKeyword = [SyntaxKind.NullKeyword, SyntaxKind.TrueKeyword, SyntaxKind.FalseKeyword];
    if (isKeyword.includes(expression.kind) || textOf(expression) === 'undefined') return;
    replace('result', expression, 'null');
  }

  function call(_node: Node, { expression: callee }: Parts): void {
    if (callee === undefined) return;
    const name = textOf(callee);
    const method = name.slice(name.lastIndexOf('.') + 1);
    const other = calls[name] ?? (name.includes('.') ? calls[method] : undefined);
    if (other === undefined) return;
    const length = calls[name] === undefined ? method.length : name.length;
    add('function', callee.end - length, callee.end, other);
  }

  visit(source);
  return mutants.map(({ constant: name, sites, ...mutant }) => ({
    ...mutant,
    sites: uses.get(name) ?? sites,
  }));
}

export function applied(text: string, { start, end, replacement }: Mutant): string {
  return text.slice(0, start) + replacement + text.slice(end);
}

/** The line that a mutant changes, before and after, without indentation. */
export function linesOf(text: string, mutant: Mutant): { number: number; before: string; after: string } {
  const number = text.slice(0, mutant.start).split('\n').length;
  const at = (whole: string) => whole.split('\n')[number - 1]?.trim() ?? '';
  return { number, before: at(text), after: at(applied(text, mutant)) };
}
