/** Stores to move between, a store with something of everything in it, and what a store holds as a move sees it. */
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { countedId } from '../../src/core/ports/attempts.ts';
import type { CreationId } from '../../src/core/secret.ts';
import { type MoveOptions, type MoveSource, type MoveTarget, moveStore } from '../../src/store/move/move.ts';
import { keyOf, type MovedRow, movedTables } from '../../src/store/move/tables.ts';
import { openEngine } from '../../src/store/postgres/engine.ts';
import { openPostgresSource, openPostgresTarget } from '../../src/store/postgres/moving.ts';
import { createPostgresStore } from '../../src/store/postgres/store.ts';
import { openSqliteSource, openSqliteTarget } from '../../src/store/sqlite/moving.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import type { Store } from '../../src/store/store.ts';
import type { PostgresServer } from '../support/postgres.ts';
import { accountNamed, logIn, personNamed, ticketFor } from './conformance/account-fixtures.ts';
import { limits } from './conformance/attempt-fixtures.ts';
import { clientStays, found, fullRecord, putNew, type SettableClock } from './conformance/check.ts';
import { domainOf, newLogo } from './conformance/domain-fixtures.ts';
import { opened } from './conformance/look-fixtures.ts';
import { answer, ask } from './conformance/request-fixtures.ts';
import { makeMemoryFolder } from './memory-folder.ts';
import { testBallastBytes } from './subjects.ts';

/** A place that holds one store, or none yet. */
export interface Place extends AsyncDisposable {
  readonly kind: string;
  /** Opens the store as a server does. */
  open(): Promise<Store & AsyncDisposable>;
  source(): Promise<MoveSource>;
  target(): Promise<MoveTarget>;
}

export type MakePlace = (clock: SettableClock) => Promise<Place>;

export const makeSqlitePlace: MakePlace = async (clock) => {
  const directory = makeMemoryFolder();
  return {
    kind: 'SQLite',
    open: () => openSqliteStore({ directory, clock, ballastBytes: testBallastBytes }),
    source: async () => openSqliteSource(directory, clock),
    target: async () => openSqliteTarget(directory),
    [Symbol.asyncDispose]: async () => rmSync(directory, { recursive: true, force: true }),
  };
};

let schemas = 0;

export const makePostgresPlace =
  (server: PostgresServer): MakePlace =>
  async (clock) => {
    schemas += 1;
    const address = { url: server.url, schema: `move_${schemas}` };
    await server.ask(`CREATE SCHEMA ${address.schema}`);
    const open = async () =>
      createPostgresStore(await openEngine({ ...address, clock, durability: 'single', poolSize: 4 }));
    const prepare = async () => (await open())[Symbol.asyncDispose]();
    return {
      kind: 'PostgreSQL',
      open,
      source: () => openPostgresSource(address, prepare),
      target: () => openPostgresTarget(address, prepare),
      [Symbol.asyncDispose]: async () => void (await server.ask(`DROP SCHEMA ${address.schema} CASCADE`)),
    };
  };

/** Moves with small pages, so that a small store takes many steps. */
export async function moveBetween(
  source: MoveSource,
  target: MoveTarget,
  options: Partial<MoveOptions> = {},
) {
  return moveStore({
    source,
    target,
    freshId: new Uint8Array(randomBytes(16)),
    isFinishing: true,
    onProgress: () => {},
    pageRows: 3,
    ...options,
  });
}

/** A run of the command from its beginning to its end. */
export async function runMove(from: Place, to: Place, options: Partial<MoveOptions> = {}) {
  await using source = await from.source();
  await using target = await to.target();
  return await moveBetween(source, target, options);
}

/** All that is moved, by table and key; sealed bytes of a source that was erased are not in it. */
export async function contentsOf(source: MoveSource): Promise<Map<string, MovedRow>> {
  const rows = new Map<string, MovedRow>();
  for (const table of movedTables)
    for (const row of await source.readPage(table, null, 1_000_000))
      rows.set(`${table.name} ${keyOf(table, row)}`, row);
  return rows;
}

const creation = (tokenId: number) => ({
  id: new Uint8Array(randomBytes(16)) as CreationId,
  wrappedSeed: new Uint8Array([2, 0, 1, ...randomBytes(80)]),
  bodyMac: new Uint8Array(randomBytes(32)),
  tokenId,
});

/** Something of everything that a store keeps. */
export async function fill(store: Store): Promise<void> {
  await store.addRootCheck(1, new Uint8Array(randomBytes(32)));
  for (const day of [0, 1, 30]) await store.epochFor(store.now() + day * 86_400);
  const { id } = await accountNamed(store, 'one@example.org');
  await store.setSenderName(id, 'IT Helpdesk');
  const person = await personNamed(store, 'two@example.org');
  await logIn(store, person);
  await ticketFor(store, 'sign_up', 'three@example.org');
  await domainOf(store, id, 'share.example.org');
  await store.setDomainLogo(id, 'share.example.org', newLogo());
  for (const owner of [id, person.account.id]) {
    const record = fullRecord(store.now(), owner);
    await store.put(record);
    await store.setDelivery(record.receiptId, {
      state: 'accepted',
      staleAt: null,
      noteBox: new Uint8Array(randomBytes(50)),
      addressBox: new Uint8Array(randomBytes(90)),
    });
    await store.markViewed(record.receiptId);
    const [lookTag, codeTag] = [new Uint8Array(randomBytes(16)), new Uint8Array(randomBytes(16))];
    await store.putCode(record.secretId, { lookTag, codeTag });
    await store.setCodeState(record.secretId, codeTag, 'accepted');
    await store.reserve(countedId(record.secretId, 'wrongCodes'), new Uint8Array(randomBytes(16)), limits);
  }
  const [waiting, received, burned, rejected] = [
    await putNew(store),
    await putNew(store),
    await putNew(store),
    await putNew(store),
  ];
  await store.claim(await found(store, received.secretId), clientStays);
  await store.burn(burned.receiptId, clientStays);
  await store.burnFound(await found(store, rejected.secretId), clientStays);
  await opened(store);
  await store.reserve(waiting.secretId, new Uint8Array(randomBytes(16)), limits);
  const [token] = await store.listTokens(id);
  if (token === undefined) throw new Error('the account has no token');
  const [done, open] = [creation(token.tokenId), creation(token.tokenId)];
  await store.reserveCreation(done);
  await putNew(store, { hold: done });
  await store.reserveCreation(open);
  const request = await ask(store, { owner: id, places: 2, notify: true, shareDomain: 'share.example.org' });
  await answer(store, request);
  await store.discardAnswer(request.id, (await answer(store, request)).id);
  await store.takeRequestNotice(request.id);
  await store.reportRequest(request.id);
  await store.endRequest((await ask(store)).id);
  const leaving = await accountNamed(store, 'four@example.org');
  await putNew(store, { owner: leaving.id });
  await store.deleteAccount(leaving.id);
}
