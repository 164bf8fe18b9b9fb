/** Loaded before a test that is measured: notes after each test which probes it has passed (see probes.ts). */
import { Database } from 'bun:sqlite';
import { afterEach, beforeEach } from 'bun:test';
import { appendFileSync } from 'node:fs';
import { resolve } from 'node:path';
import pg from 'pg';
import { type BrowserContext, chromium } from 'playwright-core';
import { marksFile, testsFile } from './probes.ts';

const root = resolve(import.meta.dir, '../..');
const marks = Bun.mmap(resolve(root, marksFile));

function take(): number[] {
  const passed = [...marks.keys()].filter((mark) => marks[mark] !== 0);
  marks.fill(0);
  return passed;
}

let before: number[] = [];
beforeEach(() => {
  before = take();
});
afterEach(() => appendFileSync(resolve(root, testsFile), `${JSON.stringify({ before, within: take() })}\n`));

function markSql(sql: unknown): void {
  for (const [, mark] of String(sql).matchAll(/\/\*(\d+)\*\//g)) marks[Number(mark)] = 1;
}

type Methods = Record<string, (...args: unknown[]) => unknown>;

/** Calls `first` with the arguments, and then the method itself. */
function preface(of: object, name: string, first: (...args: unknown[]) => void): void {
  const methods = of as Methods;
  const method = methods[name];
  methods[name] = function (this: unknown, ...args) {
    first(...args);
    return method?.apply(this, args);
  };
}

const prefaced = new WeakSet<object>();
for (const name of ['prepare', 'query'] as const) {
  const make = Database.prototype[name] as (sql: string) => object;
  Database.prototype[name] = function (this: Database, sql: string) {
    const statement = make.call(this, sql);
    const isNew = !prefaced.has(statement);
    prefaced.add(statement);
    if (isNew && sql.includes('/*'))
      for (const run of ['get', 'all', 'run', 'values', 'iterate'])
        preface(statement, run, () => markSql(sql));
    return statement;
  } as never;
}
for (const name of ['run', 'exec']) preface(Database.prototype, name, markSql);
preface(pg.Client.prototype, 'query', (query) => markSql((query as { text?: string }).text ?? query));

/** Scripts of pages have no such memory: they call back. */
async function listen<Context extends BrowserContext>(context: Context): Promise<Context> {
  await context.exposeBinding('mayflyPassed', (_source, mark: number) => {
    marks[mark] = 1;
  });
  await context.addInitScript(() => {
    const page = globalThis as unknown as { mayflyProbes: object; mayflyPassed(mark: number): void };
    const passed: Record<string, number> = {};
    page.mayflyProbes = new Proxy(passed, {
      set(_target, mark: string) {
        if (!(mark in passed)) page.mayflyPassed(Number(mark));
        passed[mark] = 1;
        return true;
      },
    });
  });
  return context;
}
const launch = chromium.launch.bind(chromium);
chromium.launch = async (options) => {
  const browser = await launch(options);
  const newContext = browser.newContext.bind(browser);
  browser.newContext = async (ofContext) => listen(await newContext(ofContext));
  return browser;
};
const launchWithFolder = chromium.launchPersistentContext.bind(chromium);
chromium.launchPersistentContext = async (...args) => listen(await launchWithFolder(...args));
