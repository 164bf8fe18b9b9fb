/** The store over PostgreSQL keeps every promise of the ports, also with two nodes on the same data. */
import { afterAll, beforeAll, describe, it } from 'bun:test';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { type Means, type StoreUnderTest, throughTwo } from './conformance/check.ts';
import { clockChecks } from './conformance/clock.ts';
import { twoHandleChecks } from './conformance/two-handles.ts';
import { conformanceChecks } from './conformance.ts';
import { openNarrowSubject, openPostgresSubject } from './subjects.ts';

const subjects: { open: (server: PostgresServer) => Promise<StoreUnderTest>; has: readonly Means[] }[] = [
  { open: openPostgresSubject, has: ['openSecond', 'reopen'] },
  { open: openNarrowSubject, has: ['holdWrites'] },
];
let server: PostgresServer;

beforeAll(async () => {
  server = await startPostgres();
});

afterAll(() => server[Symbol.asyncDispose]());

const known = new Set(twoHandleChecks.map(({ name }) => name));

/** Not those of the clock: a node that is idle hears of another's time only with its next call. */
const throughTwoNodes = conformanceChecks
  .filter((check) => !known.has(check.name) && !clockChecks.includes(check))
  .map(throughTwo)
  .filter(({ name }) => !known.has(name));

describe('the PostgreSQL store', () => {
  for (const check of [...conformanceChecks, ...throughTwoNodes]) {
    const subject = subjects.find(({ has }) => check.needs.every((means) => has.includes(means)));
    if (subject === undefined) continue;
    it(`${check.promise}: ${check.name}`, () => check.run(() => subject.open(server)));
  }
});
