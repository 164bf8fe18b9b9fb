/** The four pairs of stores that moves are tested between, and two places for each test. */
import { afterAll, afterEach, beforeAll, beforeEach } from 'bun:test';
import type { MoveSource, MoveTarget } from '../../src/store/move/move.ts';
import { StoreRefusal } from '../../src/store/store.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { createSettableClock, type SettableClock } from './conformance/check.ts';
import {
  contentsOf,
  type MakePlace,
  makePostgresPlace,
  makeSqlitePlace,
  type Place,
} from './move-fixtures.ts';

let server: PostgresServer;
/** Of the test that runs, as the two places are. */
export let clock: SettableClock;
let make: { readonly from: MakePlace; readonly to: MakePlace };
export let from: Place;
export let to: Place;

beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server[Symbol.asyncDispose]());

const makers = { SQLite: makeSqlitePlace, PostgreSQL: (at: SettableClock) => makePostgresPlace(server)(at) };
type Kind = keyof typeof makers;

export const pairs: readonly [Kind, Kind][] = [
  ['SQLite', 'SQLite'],
  ['SQLite', 'PostgreSQL'],
  ['PostgreSQL', 'SQLite'],
  ['PostgreSQL', 'PostgreSQL'],
];

export async function freshPlaces(): Promise<void> {
  [from, to] = [await make.from(clock), await make.to(clock)];
}

export async function removePlaces(): Promise<void> {
  await from[Symbol.asyncDispose]();
  await to[Symbol.asyncDispose]();
}

export function usePlaces(kindFrom: Kind, kindTo: Kind): void {
  beforeEach(async () => {
    clock = createSettableClock();
    make = { from: makers[kindFrom], to: makers[kindTo] };
    await freshPlaces();
  });
  afterEach(removePlaces);
}

/** Another place of the kind that is moved to. */
export const makeAnother = (): Promise<Place> => make.to(clock);

/** What is moved of the store there. */
export async function contentsAt(place: Place) {
  await using source = await place.source();
  return await contentsOf(source);
}

/** The refusal of a store that does not open; `null` when it opens. */
export async function refusalAt(place: Place): Promise<string | null> {
  try {
    await using _store = await place.open();
    return null;
  } catch (error) {
    if (!(error instanceof StoreRefusal)) throw error;
    return error.message;
  }
}

/** Calls `before` before each call of a method, by its name. */
export function watched<Side extends MoveSource | MoveTarget>(
  side: Side,
  before: (name: string, args: readonly unknown[]) => unknown,
  after: (name: string, args: readonly unknown[]) => unknown = () => {},
): Side {
  const get = (target: Side, name: string | symbol): unknown => {
    const method = Reflect.get(target, name);
    if (typeof name === 'symbol') return method;
    return async (...args: unknown[]) => {
      await before(name, args);
      const result = await (method as (...given: unknown[]) => unknown)(...args);
      await after(name, args);
      return result;
    };
  };
  return new Proxy(side, { get });
}
