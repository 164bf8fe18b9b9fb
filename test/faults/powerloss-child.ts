/**
 * The process that loses power: stores, reads, reads again and burns secrets, and notes in a ledger what it began and what it was
 * promised or told. Arguments: the store's folder, the ledger, a seed; `synced`, `failing`, where a sync fails now and then, or, as a seeded defect, `unsynced`; and another seeded defect, if any.
 */
import { openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { ServiceError } from '../../src/core/errors.ts';
import { maxAnswers } from '../../src/core/request.ts';
import { loopSettings, openConnection, writerSettings } from '../../src/store/sqlite/database.ts';
import { writeOut } from '../../src/store/sqlite/log.ts';
import { clientStays, newRecord } from '../stores/conformance/check.ts';
import { newRequest } from '../stores/conformance/request-fixtures.ts';
import { steadyClock } from '../support/clocks.ts';
import { createDice } from '../support/run-seed.ts';
import {
  answerOf,
  burnerOf,
  hasLook,
  idsOf,
  isAnswer,
  type LedgerLine,
  lookFor,
  powerlossSteps,
  powerlossTime,
  sealedOf,
  tagOf,
} from './powerloss-ledger.ts';
import { heldCount, holdFlag } from './shim-flags.ts';
import { seedDefect } from './told-defects.ts';

const [directory = '', ledgerPath = '', seed = '', sync = '', defect = ''] = process.argv.slice(2);
const ledger = openSync(ledgerPath, 'a');
const note = (line: LedgerLine): void => void writeSync(ledger, `${JSON.stringify(line)}\n`);

async function run(): Promise<void> {
  seedDefect(defect);
  const { openWith } = await import('../../src/store/sqlite/store.ts');
  const dice = createDice(Number(seed));
  await using store = await openWith(
    {
      directory,
      clock: steadyClock(() => powerlossTime),
      ballastBytes: (sync === 'failing' ? 256 : 64) * 1024,
    },
    { settings: { ...loopSettings, synchronous: 'NORMAL' }, isSynced: sync !== 'unsynced' },
  );

  async function put(n: number): Promise<void> {
    note({ began: 'put', n });
    const record = { ...newRecord(powerlossTime), ...idsOf(n), sealedSecret: sealedOf(n) };
    if (!isAnswer(n)) await store.put(record);
    // Sent again, as a client does that got no answer.
    else for (const _ of [1, 2]) await store.putAnswer({ ...answerOf(n), record });
    note({ promised: 'put', n });
  }

  /** Notes what others are told of a secret while something is being done to it. */
  async function watch(n: number, deed: Promise<unknown>): Promise<void> {
    let isDone = false;
    const done = deed.finally(() => {
      isDone = true;
    });
    done.catch(() => {});
    const { secretId, receiptId } = idsOf(n);
    while (!isDone) {
      const [secret, receipt] = await Promise.all([store.findSecret(secretId), store.findReceipt(receiptId)]);
      if (secret === null) note({ promised: 'gone', n });
      if (receipt?.state === 'received') note({ promised: 'claim', n });
      if (receipt?.state === 'burned') note({ promised: 'burn', n });
      await new Promise(setImmediate);
    }
    await done;
  }

  async function claim(n: number): Promise<void> {
    const secret = await store.findSecret(idsOf(n).secretId);
    if (secret === null) return;
    note({ began: 'claim', n });
    const look = hasLook(n) ? lookFor(n) : null;
    const claiming = store.claim(secret, clientStays, look);
    await watch(n, claiming);
    if ((await claiming) === 'won') note({ promised: 'claim', n });
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
    await watch(n, burning);
    if ((await burning) !== null) note({ promised: 'burn', n });
  }

  /** Between a commit and its sync, another process writes the log out. */
  async function writeOutBeforeSync(deed: () => Promise<unknown>): Promise<void> {
    // A failure in there would be told to the store as well, once: the shim does not.
    if (sync === 'failing') return void (await deed());
    const held = heldCount();
    writeFileSync(holdFlag(), '');
    const doing = deed();
    while (sync === 'synced' && heldCount() === held) await new Promise(setImmediate);
    const beside = openConnection(join(directory, 'mayfly.db'), writerSettings, 'store');
    writeOut(beside, 'PASSIVE');
    rmSync(holdFlag());
    await doing;
    beside.close();
  }

  const { requestId: id } = answerOf(0);
  await store.putRequest({ ...newRequest(store), id, places: maxAnswers }, null);
  let stored = 0;
  const several = () =>
    Promise.all([put(stored++), claim(dice(stored - 1)), burn(dice(stored - 1)), put(stored++)]);
  // Whatever the dice say, one secret is read again.
  for (const begin of [put, put, claim, answer]) await begin(begin === put ? stored++ : 1);
  async function take(): Promise<unknown> {
    const kind = dice(13);
    if (kind < 4) return put(stored++);
    if (kind < 6) return claim(dice(stored));
    if (kind < 8) return burn(dice(stored));
    if (kind < 9) return several();
    if (kind < 10) return writeOutBeforeSync(several);
    if (kind < 11) return store.scrub();
    if (kind < 12) return answer(1 + 2 * dice(Math.max(1, stored >> 1)));
    return finish(1 + 2 * dice(Math.max(1, stored >> 1)));
  }
  async function takeOn(failing: boolean, deed: () => Promise<unknown>): Promise<void> {
    if (failing) writeFileSync(process.env.SHIM_FAIL_ONCE ?? '', '');
    try {
      await deed();
    } catch (error) {
      if (sync !== 'failing' || !(error instanceof ServiceError)) throw error;
      note({ failed: stored });
      while (!(await store.assertCommits(true).then(isTrue, isFalse))) await Bun.sleep(2);
    }
  }
  // Whatever the dice say, what fails changes pages of which the log has earlier ones, and it is asked what became of it.
  for (let n = 0; sync === 'failing' && n < 5; n += 1) {
    const first = stored;
    stored += 3;
    await put(first);
    await put(first + 1);
    await takeOn(true, () => Promise.all([claim(first), put(first + 2)]));
    await watch(first, Promise.resolve());
  }
  const steps = sync === 'failing' ? powerlossSteps / 2 : powerlossSteps;
  for (let step = 0; step < steps; step += 1) await takeOn(sync === 'failing' && dice(4) === 0, take);
}

const isTrue = () => true;
const isFalse = () => false;

await run();
