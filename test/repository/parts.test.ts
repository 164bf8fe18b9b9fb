/** The parts of the product: how large each may be, what the server may import, and what ARCHITECTURE.md says of them. */
import { describe, expect, it } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { budgetsOf, partNames, partOf, statsOf } from '../../scripts/stats.mjs';
import { repositoryRoot } from '../support/started-server.ts';
import { importsOf, isTest, readSources, type SourceFile } from './source-files.ts';

type Parts = ReturnType<typeof statsOf>['parts'];

/** A sentence for each part that has outgrown its budget. */
function overBudget(parts: Parts, budgets: Readonly<Record<string, number>>): string[] {
  return parts
    .filter(({ name, lines }) => !(lines <= (budgets[name] ?? 0)))
    .map(
      ({ name, lines }) =>
        `The part ${name} has ${lines} lines, and its budget is ${budgets[name] ?? 0}. Remove what it no longer needs, ` +
        'or raise the budget in scripts/line-budget.json in a commit that says what the lines are for.',
    );
}

function importsBesideProtocol(sources: readonly SourceFile[]): string[] {
  return sources
    .filter(({ path }) => partOf(path) === 'server')
    .flatMap((source) =>
      importsOf(source)
        .filter((target) => !['server', 'protocol', undefined].includes(partOf(target)))
        .map((target) => `${source.path} imports ${target}`),
    );
}

/** The rows of ARCHITECTURE.md's first table, by the part in the first cell. */
function tableOf(text: string): Map<string, { readonly about: number }> {
  const rows = text.matchAll(/^\| \*\*(\w+)\*\* \|.*\| ([\d,]+) \|$/gm);
  return new Map(
    [...rows].map(([, name = '', lines = '']) => [name, { about: Number(lines.replaceAll(',', '')) }]),
  );
}

const { parts } = statsOf(repositoryRoot);

describe('the parts of the product', () => {
  it('stay within their budgets of lines', () => {
    expect(overBudget(parts, budgetsOf(repositoryRoot))).toEqual([]);
  });

  it('have a budget each, and no budget is for a part that has gone', () => {
    expect(Object.keys(budgetsOf(repositoryRoot)).sort()).toEqual([...partNames].sort());
  });

  it('self-test: a line too many, and a part without a budget, are found', () => {
    const [web, sdk] = [
      { name: 'web', lines: 101 },
      { name: 'sdk', lines: 1 },
    ];
    expect(overBudget([web, sdk], { web: 101, sdk: 1 })).toEqual([]);
    expect(overBudget([web, sdk], { web: 100 })).toEqual([
      expect.stringMatching(/^The part web has 101 lines, and its budget is 100\. .*line-budget\.json/),
      expect.stringContaining('The part sdk has 1 lines, and its budget is 0.'),
    ]);
  });

  it('let the server import none of them but the protocol', () => {
    const sources = readSources(['src']).filter((source) => !isTest(source));
    expect(importsBesideProtocol(sources)).toEqual([]);
  });

  it('self-test: an import from the server of another part is found', () => {
    const source = (target: string) => [{ path: 'src/http/x.ts', text: `import { x } from '${target}';` }];
    expect(importsBesideProtocol(source('../web/x.ts'))).toEqual(['src/http/x.ts imports src/web/x.ts']);
    expect(importsBesideProtocol(source('../app.ts'))).toHaveLength(1);
    expect(importsBesideProtocol(source('../../sdk/x.ts'))).toHaveLength(1);
    expect(importsBesideProtocol(source('../protocol/x.ts'))).toEqual([]);
    expect(importsBesideProtocol(source('node:fs'))).toEqual([]);
  });

  it('are in ARCHITECTURE.md’s table, each with about its number of lines', () => {
    const table = tableOf(readFileSync(join(repositoryRoot, 'ARCHITECTURE.md'), 'utf8'));
    expect([...table.keys()].sort()).toEqual([...partNames].sort());
    // A row is corrected when its part has grown or shrunk by more than a tenth and by more than 200 lines.
    const wrong = parts.filter(({ name, lines }) => {
      const about = table.get(name)?.about ?? 0;
      return Math.abs(lines - about) > Math.max(200, about / 10);
    });
    expect(wrong).toEqual([]);
  });
});
