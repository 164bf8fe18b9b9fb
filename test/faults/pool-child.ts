/**
 * A store beside passphrases that are being guessed and names that cannot be looked up: prints as JSON what was still under way when a
 * put was acknowledged, or `null` when it never was. Arguments: the store's folder, the flag that holds the look-ups, and the seeded
 * defect, if any.
 */
import { lookup } from 'node:dns';
import { rmSync, writeFileSync } from 'node:fs';
import { createPassphraseHasher } from '../../src/ops/slow-hashes.ts';
import { putNew } from '../stores/conformance/check.ts';
import { steadyClock } from '../support/clocks.ts';
import { heldCount } from './shim-flags.ts';
import { seedDefect } from './told-defects.ts';

const [directory = '', namesFlag = '', defect = ''] = process.argv.slice(2);
/** More than the runtime's pool has threads. */
const names = 32;
const guesses = 200;
/** Only where it is never acknowledged. */
const neverMs = 3_000;

seedDefect(defect);
const { openSqliteStore } = await import('../../src/store/sqlite/store.ts');
await using store = await openSqliteStore({
  directory,
  clock: steadyClock(() => 1_800_000_000),
  ballastBytes: 64 * 1024,
});
const hasher = createPassphraseHasher();
let hashing = guesses;
for (let n = 0; n < guesses; n += 1)
  hasher
    .stretch(new Uint8Array(8), new Uint8Array(16), { client: `10.0.${n}.0`, purpose: 'prove' })
    .catch(() => {})
    .finally(() => {
      hashing -= 1;
    });
writeFileSync(namesFlag, '');
let resolving = names;
for (let n = 0; n < names; n += 1)
  lookup(`name-${n}.invalid`, () => {
    resolving -= 1;
  });
while (heldCount(namesFlag) === 0) await new Promise(setImmediate);
const never = Promise.withResolvers<null>();
const timer = setTimeout(() => never.resolve(null), neverMs);
const acknowledged = putNew(store).then(() => ({ hashing, resolving }));
const atPut = await Promise.race([acknowledged, never.promise]);
clearTimeout(timer);
rmSync(namesFlag);
await acknowledged;
console.log(JSON.stringify(atPut));
process.exit();
