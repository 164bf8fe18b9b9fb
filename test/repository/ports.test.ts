/** Every subject of the stores' ports has a file of that name in both stores. */
import { describe, expect, it } from 'bun:test';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { subjectsIn } from '../../scripts/stats.mjs';
import { makeMemoryFolder } from '../stores/memory-folder.ts';

describe('the subjects of the ports', () => {
  it('have a file of the same name in both stores', () => {
    expect(subjectsIn('.')).toEqual({ count: 19, apart: [] });
  });

  it('self-test: a subject that one store lacks is found', () => {
    const root = makeMemoryFolder();
    const files = {
      'core/ports/looks': 'export interface LookStore {}',
      'core/ports/words': '',
      'store/sqlite/looks': '',
    };
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(join(root, 'src', path, '..'), { recursive: true });
      writeFileSync(join(root, 'src', `${path}.ts`), text);
    }
    expect(subjectsIn(root)).toEqual({ count: 1, apart: ['looks.ts'] });
    rmSync(root, { recursive: true });
  });
});
