/** Key files for the transcripts, by the name that `MAYFLY_ROOT_KEYS_FILE` has there. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rewrapOlder } from '../../src/core/secrets/rewrap.ts';
import { createKeyRing, type RootKey, rootCheck } from '../../src/crypto/keyring.ts';
import { systemRandom } from '../../src/crypto/random.ts';
import type { MemoryStore } from '../stores/memory.ts';
import { testRoot } from '../support/app.ts';

const second: RootKey = { kid: 2, key: new Uint8Array(32).fill(2) };
const usual = 'data/keys.json';

const files: Readonly<Record<string, { readonly text: string; readonly mode?: number }>> = {
  [usual]: { text: textOf(testRoot) },
  'two-roots.json': { text: textOf(testRoot, second) },
  'rotated.json': { text: textOf(testRoot, second) },
  'other.json': { text: textOf({ ...testRoot, key: new Uint8Array(32).fill(3) }) },
  'damaged.json': { text: '{"version":1,"roots":[]}' },
  'open.json': { text: textOf(testRoot), mode: 0o644 },
};

function textOf(...roots: readonly RootKey[]): string {
  const created = '2025-05-01T00:00:00.000Z';
  const texts = roots.map(({ kid, key }) => ({ kid, key: Buffer.from(key).toString('base64url'), created }));
  return JSON.stringify({ version: 1, roots: texts });
}

export interface KeyFiles {
  pathOf(name: string | undefined): string;
  masked(text: string): string;
  remove(): void;
}

/** Under `rotated.json` all that waits is under the second root. */
export async function makeKeyFiles(store: MemoryStore, name: string | undefined): Promise<KeyFiles> {
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-transcript-'));
  const pathOf = (of = usual) => join(folder, of.replaceAll('/', '-'));
  for (const [of, { text, mode = 0o600 }] of Object.entries(files)) writeFileSync(pathOf(of), text, { mode });
  await store.addRootCheck(testRoot.kid, rootCheck(testRoot));
  if (name === 'rotated.json') {
    await store.addRootCheck(second.kid, rootCheck(second));
    await rewrapOlder({ store, ring: createKeyRing([testRoot, second]), random: systemRandom }, () => {});
  }
  return {
    pathOf,
    masked: (text) =>
      [usual, ...Object.keys(files), 'missing.json'].reduce(
        (left, of) => left.replaceAll(pathOf(of), of),
        text,
      ),
    remove: () => rmSync(folder, { recursive: true }),
  };
}
