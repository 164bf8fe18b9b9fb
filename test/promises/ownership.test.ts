/**
 * P16 for every door: each operation of `ownership-rows.ts` by each caller, on a record of an account and on one made without.
 * Operations, addresses and commands come from what serves them, so that a new one without a row is noticed.
 */
import { describe, expect, it } from 'bun:test';
import { sections } from '../../src/cli/commands.ts';
import { readConfig } from '../../src/config/read.ts';
import type { AccountId } from '../../src/core/account.ts';
import { waysTo } from '../../src/http/api.ts';
import { type RouteName, routes } from '../../src/web/kit/routes.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { runCli } from '../support/cli-world.ts';
import { surfacesOf } from '../v2/documented-app.ts';
import {
  apiRows,
  commandRows,
  type Keys,
  otherPages,
  pageRows,
  type Row,
  type Standing,
} from './ownership-rows.ts';
import { domain, obfuscated, openWorld, standingOf, texts, type Who, type World } from './ownership-world.ts';

const unknownKey = '0'.repeat(31);

type Door = 'v1' | 'v2' | 'guest' | 'page' | 'page of a share domain' | 'command';
type Verdict = 'done' | 'unknown' | 'no account' | 'account needed' | 'no scope' | 'stale' | 'log in';

const scopeOf = { manage: 'manage', list: 'read-recent', create: 'create', link: null } as const;

function callerAt(door: Door, who: Who): Who['api'] | Who['page'] {
  if (door === 'page') return who.page;
  return door === 'guest' || door === 'page of a share domain' ? 'nobody' : who.api;
}

/** The rule, apart from the code that keeps it. */
function verdictOf(row: Row, door: Door, who: Who, world: World, isOwned: boolean, isPost: boolean): Verdict {
  if (row.kind === 'apart') throw new Error('there is nothing to judge');
  const isPage = door.startsWith('page');
  const caller = callerAt(door, who);
  if (caller === 'wrong') return 'no account';
  if ('selected' in row && typeof caller === 'string') return 'log in';
  if (caller === 'stale' && isPost) return 'stale';
  const holder = typeof caller === 'string' ? null : caller;
  const scope = scopeOf[row.kind];
  if (holder !== null && scope !== null && !holder.scopes.includes(scope)) return 'no scope';
  if (row.kind === 'link' || row.kind === 'create') return 'done';
  if (row.kind === 'list') return holder !== null ? 'done' : isPage ? 'log in' : 'no account';
  const isUpstream =
    world.dialects[door === 'v1' ? 'v1' : 'v2'] === 'upstream' && !isPage && row.account !== true;
  if (isUpstream) return 'done';
  const isByPage = isPage || (row.onPage === true && !isOwned);
  if (!isByPage && holder === null) return 'no account';
  if (isOwned) return holder?.id === world.alice ? 'done' : 'unknown';
  return holder === null && row.account === true ? 'account needed' : 'done';
}

const statuses: Readonly<Record<Exclude<Verdict, 'done'>, number>> = {
  unknown: 404,
  'no account': 401,
  'account needed': 403,
  'no scope': 403,
  stale: 403,
  'log in': 303,
};

interface Answer {
  readonly status: number;
  readonly text: string;
}

interface Cell {
  readonly world: World;
  readonly row: Exclude<Row, { readonly kind: 'apart' }>;
  readonly door: Door;
  readonly who: Who;
  readonly isOwned: boolean;
  readonly isPost: boolean;
  readonly ask: (keys: Keys) => Promise<Answer>;
}

/** What is wrong with one cell of the table; empty when nothing is. */
async function faultsOf(cell: Cell): Promise<string[]> {
  const { world, row, door, who, isOwned, ask } = cell;
  const keys = await world.fresh(isOwned);
  const before = await standingOf(world, keys);
  const answer = await ask(keys);
  await world.app.service.settled();
  const stored = world.takeStored();
  const verdict = verdictOf(row, door, who, world, isOwned, cell.isPost);
  const expected = { ...before, ...(verdict === 'done' ? changesOf(row, before) : {}) };
  const after = await standingOf(world, keys);
  const faults = Bun.deepEquals(after, expected)
    ? []
    : [`${verdict}, but ${JSON.stringify(before)} became ${JSON.stringify(after)}`];
  const status = verdict === 'done' ? statusOf(row) : refusalOf(verdict, door, world, row);
  if (door === 'command' ? (answer.status === 0) !== (verdict === 'done') : answer.status !== status)
    faults.push(`${verdict}, but the answer is ${answer.status}`);
  const owner = row.kind !== 'create' || verdict !== 'done' ? [] : [creatorOf(door, who)];
  if (!Bun.deepEquals(stored, owner)) faults.push(`stored for ${JSON.stringify(stored)}`);
  return [
    ...faults,
    ...wordsFaults(cell, keys, verdict, answer),
    ...(await otherwise(cell, verdict, keys, answer)),
  ];
}

function changesOf(row: Cell['row'], before: Standing): Partial<Standing> {
  const changes = 'changes' in row ? (row.changes ?? {}) : {};
  const { mails = 0, allowances = 0 } = changes;
  return { ...changes, mails: before.mails + mails, allowances: before.allowances + allowances };
}

function statusOf(row: Cell['row']): number {
  return ('status' in row ? row.status : undefined) ?? 200;
}

/** The `upstream` dialect of version 1 says 404 for most. */
function refusalOf(
  verdict: Exclude<Verdict, 'done'>,
  door: Door,
  { dialects }: World,
  row: Cell['row'],
): number {
  if ('selected' in row && verdict === 'unknown') return 409;
  return dialects.v1 === 'upstream' && door === 'v1' ? 404 : statuses[verdict];
}

function creatorOf(door: Door, who: Who): AccountId | null {
  const caller = callerAt(door, who);
  return typeof caller === 'string' ? null : caller.id;
}

/** What the answer holds, and must not. */
function wordsFaults({ row, isOwned }: Cell, keys: Keys, verdict: Verdict, { text }: Answer): string[] {
  const told = {
    link: keys.secret,
    value: texts.value,
    memo: texts.memo,
    state: 'new',
    recipient: obfuscated,
  };
  if (verdict === 'done' && row.kind !== 'list') {
    const shows = 'shows' in row ? row.shows : undefined;
    return shows === undefined || text.includes(told[shows]) ? [] : [`the answer does not show the ${shows}`];
  }
  // A page that refuses what takes an account may be the receipt of its holder.
  const ofRecord = verdict !== 'done' && isOwned ? (['memo', 'recipient'] as const) : [];
  const hidden = [...(row.kind === 'link' ? [] : (['link'] as const)), 'value' as const, ...ofRecord];
  const leaked = hidden.filter((name) => text.includes(told[name]));
  return leaked.map((name) => `${verdict}, but the answer shows the ${name}`);
}

/** Of another's record, the answer of an unknown key; of a list, only the caller's own. */
async function otherwise(
  { row, world, who, ask, door, isOwned }: Cell,
  verdict: Verdict,
  keys: Keys,
  answer: Answer,
) {
  if (verdict === 'done' && row.kind === 'list') {
    const caller = callerAt(door, who);
    const isAlice = typeof caller !== 'string' && caller.id === world.alice;
    return answer.text.includes(keys.metadata) === (isAlice && isOwned)
      ? []
      : ['the list is not the caller’s'];
  }
  if (verdict !== 'unknown') return [];
  const unknown = await ask({ secret: unknownKey, metadata: unknownKey });
  const plain = ({ text }: Answer, key: string) => text.replaceAll(key, 'KEY');
  return plain(answer, keys.metadata) === plain(unknown, unknownKey)
    ? []
    : ['an unknown key is answered otherwise'];
}

async function answerOf(response: Response): Promise<Answer> {
  return { status: response.status, text: await response.text() };
}

const fieldsOf = (row: Row, keys: Keys) => ('fields' in row ? row.fields?.(keys) : undefined) ?? {};

function askApi(app: TestApp, method: string, path: string, row: Row, { headers }: Who) {
  return async (keys: Keys): Promise<Answer> => {
    const key = row.kind === 'manage' ? keys.metadata : keys.secret;
    const body = method === 'GET' ? null : JSON.stringify(fieldsOf(row, keys));
    const type = body === null ? {} : { 'content-type': 'application/json' };
    const init = { method, body, headers: { ...headers, ...type } };
    return answerOf(await app.fetch(path.replace(/:\w+/, key), init));
  };
}

/** With the cookie of the browser that has just shared, which shows a link and proves nothing. */
function askPage(app: TestApp, method: string, name: RouteName, row: Row, who: Who, host: string) {
  return async (keys: Keys): Promise<Answer> => {
    const key = row.kind === 'manage' ? keys.metadata : keys.secret;
    const cookie = ['just-created=1', who.headers.cookie ?? []].flat().join('; ');
    // A share domain knows no session, so its forms have no token.
    const form = { 'form-token': host === domain ? '' : who.formToken, ...fieldsOf(row, keys) };
    const body = method === 'GET' ? null : new URLSearchParams(form);
    const headers = { ...who.headers, cookie, host };
    return answerOf(await app.fetch(routes[name].replace(':key', key), { method, body, headers }));
  };
}

function askCommand(app: TestApp, args: (keys: Keys) => readonly string[], { token }: Who) {
  return async (keys: Keys): Promise<Answer> => {
    const account = token === null ? {} : { MAYFLY_USERNAME: token.username, MAYFLY_TOKEN: token.text };
    const env = { MAYFLY_SERVER: app.links.baseUrl, ...account };
    const ran = await runCli(
      args(keys),
      {
        readConfig: async () => readConfig(env),
        fetch: async (url, init) => app.fetch(url.slice(app.links.baseUrl.length), init),
      },
      'x',
    );
    return { status: ran.code, text: ran.out + ran.err };
  };
}

interface Line {
  readonly name: string;
  readonly door: Door;
  readonly row: Cell['row'];
  readonly isPost: boolean;
  readonly asked: (app: TestApp, who: Who) => Cell['ask'];
}

const doorOfApi = (name: string): Door =>
  name.startsWith('v2.guest.') ? 'guest' : name.startsWith('v1.') ? 'v1' : 'v2';

function linesOf(app: TestApp): Line[] {
  const lines: Line[] = [];
  for (const { base, operations } of surfacesOf(app))
    for (const operation of operations) {
      const row = apiRows[operation.name];
      if (row === undefined || row.kind === 'apart') continue;
      for (const { method, path } of waysTo(operation))
        lines.push({
          ...{
            name: `${method} ${base}${path}`,
            door: doorOfApi(operation.name),
            row,
            isPost: method !== 'GET',
          },
          asked: (place, who) => askApi(place, method, base + path, row, who),
        });
    }
  for (const [action, row] of Object.entries(pageRows)) {
    if (row.kind === 'apart') continue;
    const [method = '', name = ''] = action.split(' ');
    for (const [door, host] of [
      ['page', 'mayfly.example'],
      ['page of a share domain', domain],
    ] as const) {
      // The list is the site's alone.
      if (door !== 'page' && (row.kind === 'list' || 'selected' in row)) continue;
      lines.push({
        ...{ name: `${door}: ${action}`, door, row, isPost: method === 'POST' },
        asked: (place, who) => askPage(place, method, name as RouteName, row, who, host),
      });
    }
  }
  for (const [name, { row, args }] of Object.entries(commandRows)) {
    if (row.kind === 'apart' || args === undefined) continue;
    lines.push({
      ...{ name: `mayfly ${name}`, door: 'command', row, isPost: true },
      asked: (place, who) => askCommand(place, args, who),
    });
  }
  return lines;
}

describe.each([
  ['documented', 'documented', false],
  ['documented', 'documented', true],
  ['upstream', 'upstream', false],
  ['upstream', 'upstream', true],
  ['upstream', 'documented', false],
  ['documented', 'upstream', false],
] as const)('in the dialects v1 %s and v2 %s, with the owner locked: %p', (v1, v2, isLocked) => {
  it.each([true, false])(
    'each caller gets by every door what P16 allows (a record with an owner: %p)',
    async (isOwned) => {
      const world = await openWorld({ v1, v2 }, isLocked);
      const found: string[] = [];
      let cells = 0;
      for (const { name, door, row, isPost, asked } of linesOf(world.app)) {
        // The command asks a server of ours, in its documented dialect.
        if (door === 'command' && v2 === 'upstream') continue;
        for (const [caller, who] of world.callers) {
          cells += 1;
          const cell = { world, row, door, who, isOwned, isPost, ask: asked(world.app, who) };
          for (const fault of await faultsOf(cell)) found.push(`${name}, ${caller}: ${fault}`);
        }
      }
      expect(found).toEqual([]);
      expect(cells).toBeGreaterThan(600);
      expect(world.app.faults).toEqual([]);
    },
    120_000,
  );
});

describe('a new operation, page or command', () => {
  it('has a row here', async () => {
    const app = createTestApp();
    const operations = surfacesOf(app).flatMap((surface) => surface.operations);
    expect(Object.keys(apiRows).sort()).toEqual(operations.map(({ name }) => name).sort());
    const actions: string[] = [];
    for (const [name, path] of Object.entries(routes)) {
      const { headers } = await app.fetch(path.replace(':key', 'x'), { method: 'OPTIONS' });
      for (const method of ['GET', 'POST'])
        if (headers.get('allow')?.split(', ').includes(method)) actions.push(`${method} ${name}`);
    }
    const rowless = actions.filter((action) => !Object.hasOwn(pageRows, action));
    expect(rowless.filter((action) => !otherPages.has(action.split(' ')[1] ?? ''))).toEqual([]);
    expect(Object.keys(pageRows).filter((action) => !actions.includes(action))).toEqual([]);
    const people = sections['Share and read'] ?? [];
    // An agent's tools touch only what they have made; requests have tests of their own.
    const others = ['login', 'logout', 'whoami', 'mcp', 'ask', 'answers', 'answer'];
    const known = new Set([...Object.keys(commandRows), ...others]);
    expect(people.map(({ path }) => path.join(' ')).filter((command) => !known.has(command))).toEqual([]);
  });
});
