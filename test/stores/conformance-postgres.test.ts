/** The store over PostgreSQL keeps every promise of the ports, also with two nodes on the same data. */
import { afterAll, beforeAll, describe, it } from 'bun:test';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { type ConformanceCheck, type Means, throughTwo } from './conformance/check.ts';
import { clockChecks } from './conformance/clock.ts';
import { twoHandleChecks } from './conformance/two-handles.ts';
import { conformanceChecks } from './conformance.ts';
import { openPostgresSubject } from './subjects.ts';

const has: readonly Means[] = ['openSecond', 'reopen'];
let server: PostgresServer;

beforeAll(async () => {
  server = await startPostgres();
});

afterAll(() => server[Symbol.asyncDispose]());

const isPossible = ({ needs }: ConformanceCheck) => needs.every((means) => has.includes(means));
const known = new Set(twoHandleChecks.map(({ name }) => name));

/** Not those of the clock: a node that is idle hears of another's time only with its next call. */
const throughTwoNodes = conformanceChecks
  .filter((check) => !known.has(check.name) && !clockChecks.includes(check))
  .map(throughTwo)
  .filter(({ name }) => !known.has(name));

describe('the PostgreSQL store', () => {
  for (const check of [...conformanceChecks, ...throughTwoNodes].filter(isPossible)) {
    it(`${check.promise}: ${check.name}`, () => check.run(() => openPostgresSubject(server)));
  }
});
