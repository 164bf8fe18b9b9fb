/**
 * The process that loses power: stores, reads, reads again and burns secrets, and notes in a ledger what it began and what it was
 * promised. Arguments: the store's folder, the ledger, a seed, and the value of `synchronous`.
 */
import { openSync, writeSync } from 'node:fs';
import { writerSettings } from '../../src/store/sqlite/database.ts';
import { openWithSettings } from '../../src/store/sqlite/store.ts';
import { clientStays, newRecord } from '../stores/conformance/check.ts';
import { steadyClock } from '../support/clocks.ts';
import { createDice } from '../support/run-seed.ts';
import {
  burnerOf,
  hasLook,
  idsOf,
  type LedgerLine,
  lookFor,
  powerlossSteps,
  powerlossTime,
  sealedOf,
  tagOf,
} from './powerloss-ledger.ts';

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
    const look = hasLook(n) ? lookFor(n) : null;
    if ((await store.claim(secret, clientStays, look)) === 'won') note({ promised: 'claim', n });
  }

  const answers = new Map<number, number>();
  async function answer(n: number): Promise<void> {
    const { secretId } = idsOf(n);
    if ((await store.findLook(secretId, tagOf(n))) === null) return;
    const count = 1 + (answers.get(n) ?? 0);
    answers.set(n, count);
    const deed = count === 1 ? 'answer 1' : 'answer 2';
    note({ began: deed, n });
    if ((await store.takeAnswer(secretId, tagOf(n), clientStays)) === 'answered') note({ promised: deed, n });
  }

  async function finish(n: number): Promise<void> {
    const { secretId } = idsOf(n);
    if ((await store.findLook(secretId, tagOf(n))) === null) return;
    note({ began: 'done', n });
    await store.endLook(secretId, tagOf(n));
    note({ promised: 'done', n });
  }

  async function burn(n: number): Promise<void> {
    const { receiptId, secretId } = idsOf(n);
    const isByLink = burnerOf(n) === 'recipient';
    const secret = isByLink ? await store.findSecret(secretId) : null;
    if (isByLink && secret === null) return;
    note({ began: 'burn', n });
    const burning =
      secret === null ? store.burn(receiptId, clientStays) : store.burnFound(secret, clientStays);
    if ((await burning) !== null) note({ promised: 'burn', n });
  }

  let stored = 0;
  // Whatever the dice say, one secret is read again.
  for (const begin of [put, put, claim, answer]) await begin(begin === put ? stored++ : 1);
  for (let step = 0; step < powerlossSteps; step += 1) {
    const kind = dice(12);
    if (kind < 4) await put(stored++);
    else if (kind < 6) await claim(dice(stored));
    else if (kind < 8) await burn(dice(stored));
    else if (kind < 9)
      await Promise.all([put(stored++), claim(dice(stored - 1)), burn(dice(stored - 1)), put(stored++)]);
    else if (kind < 10) await store.scrub();
    else if (kind < 11) await answer(1 + 2 * dice(Math.max(1, stored >> 1)));
    else await finish(1 + 2 * dice(Math.max(1, stored >> 1)));
  }
}

await run();
