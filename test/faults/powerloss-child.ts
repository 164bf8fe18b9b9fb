/**
 * The process that loses power: stores, reads and burns secrets, and notes in a ledger what it began and what it was
 * promised. Arguments: the store's folder, the ledger, a seed, and the value of `synchronous`.
 */
import { openSync, writeSync } from 'node:fs';
import { writerSettings } from '../../src/store/sqlite/database.ts';
import { openWithSettings } from '../../src/store/sqlite/store.ts';
import { clientStays, newRecord } from '../stores/conformance/check.ts';
import { steadyClock } from '../support/clocks.ts';
import { createDice } from '../support/run-seed.ts';
import { idsOf, type LedgerLine, powerlossSteps, powerlossTime, sealedOf } from './powerloss-ledger.ts';

const [directory = '', ledgerPath = '', seed = '', synchronous = ''] = process.argv.slice(2);
const ledger = openSync(ledgerPath, 'a');
const note = (line: LedgerLine): void => void writeSync(ledger, `${JSON.stringify(line)}\n`);

async function run(): Promise<void> {
  const dice = createDice(Number(seed));
  await using store = await openWithSettings(
    { directory, clock: steadyClock(() => powerlossTime), ballastBytes: 64 * 1024 },
    { ...writerSettings, synchronous: synchronous === 'NORMAL' ? 'NORMAL' : 'FULL' },
  );

  async function put(n: number): Promise<void> {
    note({ began: 'put', n });
    await store.put({ ...newRecord(powerlossTime), ...idsOf(n), sealedSecret: sealedOf(n) });
    note({ promised: 'put', n });
  }

  async function claim(n: number): Promise<void> {
    const secret = await store.findSecret(idsOf(n).secretId);
    if (secret === null) return;
    note({ began: 'claim', n });
    if ((await store.claim(secret, clientStays)) === 'won') note({ promised: 'claim', n });
  }

  async function burn(n: number): Promise<void> {
    note({ began: 'burn', n });
    if ((await store.burn(idsOf(n).receiptId, clientStays)) !== null) note({ promised: 'burn', n });
  }

  let stored = 0;
  for (let step = 0; step < powerlossSteps; step += 1) {
    const kind = dice(10);
    if (stored === 0 || kind < 4) await put(stored++);
    else if (kind < 6) await claim(dice(stored));
    else if (kind < 8) await burn(dice(stored));
    else if (kind < 9)
      await Promise.all([put(stored++), claim(dice(stored - 1)), burn(dice(stored - 1)), put(stored++)]);
    else await store.scrub();
  }
}

await run();
