/** A port has one file for each subject, and both stores implement the subject in a file of that name. */
import { describe, expect, it } from 'bun:test';
import { readdirSync } from 'node:fs';

/** Not a store's: what use cases work with, hashing and word lists; a store of one machine counts its limits in memory. */
const notOfStores = ['core.ts', 'passphrases.ts', 'limits.ts'];

const filesIn = (folder: string) => readdirSync(folder).filter((name) => name.endsWith('.ts'));

const missingIn = (store: readonly string[], ports: readonly string[]) =>
  ports.filter((port) => !notOfStores.includes(port) && !store.includes(port));

describe('the subjects of the ports', () => {
  const ports = filesIn('src/core/ports');

  it('have a file of the same name in both stores', () => {
    for (const store of ['sqlite', 'postgres']) {
      expect({ store, missing: missingIn(filesIn(`src/store/${store}`), ports) }).toEqual({
        store,
        missing: [],
      });
    }
    expect(notOfStores.filter((name) => !ports.includes(name))).toEqual([]);
  });

  it('self-test: a missing file is found', () => {
    expect(missingIn(['secrets.ts'], ['secrets.ts', 'core.ts', 'looks.ts'])).toEqual(['looks.ts']);
  });
});
