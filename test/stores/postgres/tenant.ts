/** A database on a server with another role, the traps that it sets there, and a store that does one of each. */
import pg from 'pg';
import { createMachineClock } from '../../../src/ops/machine-clock.ts';
import { openPostgresStore, type PostgresStore } from '../../../src/store/postgres/store.ts';
import { StoreRefusal } from '../../../src/store/store.ts';
import { type PostgresServer, startPostgres } from '../../support/postgres.ts';
import {
  logIn,
  newAccount,
  newPassword,
  newTicket,
  newToken,
  personNamed,
} from '../conformance/account-fixtures.ts';
import { clientStays, found, newSecretId, putNew } from '../conformance/check.ts';
import { domainOf, fullBrand } from '../conformance/domain-fixtures.ts';
import { opened } from '../conformance/look-fixtures.ts';

let databases = 0;

export async function startTenantedServer(): Promise<PostgresServer> {
  const server = await startPostgres();
  await server.ask('CREATE ROLE service LOGIN');
  await server.ask('CREATE ROLE tenant LOGIN');
  return server;
}

export interface Database {
  readonly url: string;
  /** Statements of one role, in one transaction; the rows of the last. */
  as(role: 'mayfly' | 'service' | 'tenant', sql: string): Promise<Record<string, unknown>[]>;
}

/** As the docs said until now: nothing is revoked. On 14 everybody may create in `public`. */
export async function newDatabase(at: PostgresServer): Promise<Database> {
  databases += 1;
  const name = `tenanted_${databases}`;
  await at.ask(`CREATE DATABASE ${name} OWNER service`);
  const urlOf = (role: string) => `postgres://${role}@127.0.0.1:${at.port}/${name}`;
  async function as(role: string, sql: string) {
    const client = new pg.Client({ connectionString: urlOf(role) });
    await client.connect();
    try {
      const result: pg.QueryResult | pg.QueryResult[] = await client.query(sql);
      return (Array.isArray(result) ? result.at(-1) : result)?.rows ?? [];
    } finally {
      await client.end();
    }
  }
  await as('mayfly', 'GRANT CREATE ON SCHEMA public TO PUBLIC');
  return { url: urlOf('service'), as };
}

type Open = typeof openPostgresStore;
export const openAt: Open = (options) =>
  openPostgresStore({ ...options, clock: createMachineClock(), durability: 'single', poolSize: 3 });
export const openStore = ({ url }: Pick<Database, 'url'>, open = openAt, allowsUnsafe = false) =>
  open({ url, clock: createMachineClock(), durability: 'single', poolSize: 3, allowsUnsafe });

/** What PostgreSQL prefers for a parameter whose type it must guess, and what others make of it. */
const types = [
  'text',
  'bytea',
  'bigint',
  'int',
  'numeric',
  'boolean',
  'name',
  'text[]',
  'bytea[]',
  'bigint[]',
  'int[]',
];
const calls: Readonly<Record<string, number>> = {
  ...{
    lock_account: 2,
    add_domain: 7,
    note_domain_check: 5,
    change_password: 8,
    redeem_reset: 7,
    redeem_sign_up: 8,
  },
  ...{ replace_reset_tickets: 4, hand_ticket: 4, use_ticket: 3, count_calls: 6 },
};
const builtIns = [
  'substr',
  'get_byte',
  'set_byte',
  'octet_length',
  'floor',
  'cardinality',
  'encode',
  'to_regclass',
  'count',
];
const operators = ['=', '<>', '<', '>', '<=', '>=', '+', '-', '*', '||'];
const tables = ['records', 'accounts', 'store_time', 'tokens', 'limits', 'move', 'attempts'];

/** Notes who ran it; what it was called for fails then. */
export const trap = `LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO public.loot VALUES (current_user); RETURN NULL; END $$`;

function trapsOf(): string[] {
  const ofCalls = Object.entries(calls).map(([name, count]) => {
    const given = Array(count).fill('text').join(', ');
    return `CREATE FUNCTION public.${name}(${given}) RETURNS text ${trap}`;
  });
  const ofBuiltIns = builtIns.flatMap((name) =>
    [
      'bytea, text',
      'bytea, bigint',
      'text, bytea',
      'bytea, bigint, bigint',
      'name',
      'int',
      'numeric, text',
      'varchar',
      'bigint[]',
    ].map((given) => `CREATE FUNCTION public.${name}(${given}) RETURNS text ${trap}`),
  );
  // What `format` takes is of any number and type, so one that is written out fits better.
  const ofFormat = `CREATE FUNCTION public.format(text, text, bigint) RETURNS text ${trap}`;
  const ofOperators = types.flatMap((left) =>
    types.map((right) => {
      const name = `trap_${types.indexOf(left)}_${types.indexOf(right)}`;
      const made = operators.map(
        (each) =>
          `CREATE OPERATOR public.${each} (LEFTARG = ${left}, RIGHTARG = ${right}, FUNCTION = public.${name});`,
      );
      return `CREATE FUNCTION public.${name}(${left}, ${right}) RETURNS boolean ${trap}; ${made.join('\n')}`;
    }),
  );
  const ofTables = tables.map((name) => `CREATE TABLE IF NOT EXISTS public.${name} (id int)`);
  return [...ofCalls, ofFormat, ...ofBuiltIns, ...ofOperators, ...ofTables];
}

export const setTraps = (database: Database) =>
  database.as(
    'tenant',
    `CREATE TABLE public.loot (who text); GRANT ALL ON public.loot TO PUBLIC; ${trapsOf().join(';\n')}`,
  );

/** One of each that a store does; what a trap has spoilt ends it. */
export async function liveIn(store: PostgresStore): Promise<void> {
  const person = await personNamed(store, 'ann@example.org');
  const { id } = person.account;
  await logIn(store, person);
  const token = newToken();
  await store.addToken(id, token);
  await store.findToken(token.tokenHash);
  await domainOf(store, id, 'secrets.example.org');
  await store.noteDomainCheck(id, 'secrets.example.org', { state: 'verified', finding: null } as never);
  await store.setDomainBrand(id, 'secrets.example.org', fullBrand);
  await store.findVerifiedDomain('secrets.example.org');
  const password = newPassword(store.now());
  await store.changePassword(id, person.password.verifier, password, 0 as never, 'revoke');
  const reset = newTicket('reset', 'ann@example.org', store.now());
  await store.replaceResetTickets(id, reset);
  await store.redeemReset(reset.ticketHash, newPassword(store.now()), 'keep');
  await store.inviteAccount(
    newAccount('bob@example.org'),
    newTicket('reset', 'bob@example.org', store.now()),
  );
  const secret = await putNew(store, { owner: id });
  await store.claim(await found(store, secret.secretId), clientStays);
  await store.findReceipt(secret.receiptId);
  await store.listReceipts(id, { limit: 9, after: null });
  await store.burn((await putNew(store)).receiptId, clientStays);
  await opened(store);
  await store
    .limitsUnder(new Uint8Array(32))
    .take([{ name: 'a', client: 'b', rule: { limit: 5, windowSeconds: 60, burst: 5 } }]);
  await store.usedBytes();
  await store.sweep(100);
  const limits = { perClient: 5, perSecret: 20, keptForNew: 5, inLife: 100, windowSeconds: 600 } as never;
  await store.reserve(newSecretId(), new Uint8Array(16), limits);
  await store.lockAccount(id);
}

export const lootIn = ({ as }: Database) => as('mayfly', 'SELECT DISTINCT who FROM public.loot');

export const refusalOf = (database: Pick<Database, 'url'>): Promise<string | null> =>
  openStore(database).then(
    async (store) => {
      await store[Symbol.asyncDispose]();
      return null;
    },
    (error) => (error instanceof StoreRefusal && error.reason === 'unsafe_setting' ? error.message : error),
  );
