/** The store over PostgreSQL keeps every promise of the ports, also with two nodes on the same data. */
import { afterAll, beforeAll, describe, it } from 'bun:test';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import type { Means } from './conformance/check.ts';
import { conformanceChecks } from './conformance.ts';
import { openPostgresSubject } from './subjects.ts';

const has: readonly Means[] = ['openSecond', 'reopen'];
let server: PostgresServer;

beforeAll(async () => {
  server = await startPostgres();
});

afterAll(() => server[Symbol.asyncDispose]());

describe('the PostgreSQL store', () => {
  for (const check of conformanceChecks.filter(({ needs }) => needs.every((means) => has.includes(means)))) {
    it(`${check.promise}: ${check.name}`, () => check.run(() => openPostgresSubject(server)));
  }
});
