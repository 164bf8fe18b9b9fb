/** A failed migration is rolled back completely. */
import { Database } from 'bun:sqlite';
import { expect, it } from 'bun:test';
import { migrate } from './database.ts';

it('a migration that fails leaves the database as it was, and in no transaction', () => {
  const db = new Database(':memory:');
  migrate(db);
  const numberOf = (pragma: string) => db.query(`PRAGMA ${pragma}`).values()[0]?.[0];
  // As if the fifth migration had not been applied, but with its tables already there.
  db.run('PRAGMA user_version = 4');
  const tables = () => db.query('SELECT name FROM sqlite_schema ORDER BY name').values();
  const before = tables();
  expect(() => migrate(db)).toThrow();
  expect([db.inTransaction, numberOf('user_version')]).toEqual([false, 4]);
  expect(tables()).toEqual(before);
  db.close();
});
