/**
 * A backup while secrets come and go, `kill -9` in the middle of the work, and a restore in another folder: nothing opens a second time
 * (P1), and every receipt that was acknowledged before the backup is there (P5).
 */
import { expect, test } from 'bun:test';
import { copyFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readReceiptState, receiptRequest } from '../support/calls.ts';
import { createLedger, type Entry } from '../support/ledger.ts';
import { openConnection } from '../support/raw-client.ts';
import { announceSeed, seededFractions } from '../support/run-seed.ts';
import { createAccount, makeDataDir, runProduct, startServer } from '../support/started-server.ts';
import { attemptOne, runLoad } from '../support/storm.ts';

const answersBefore = 400;
const answersAfter = 400;

test('P1, P5: a backup under load, a kill and a restore: nothing opens twice, and what was acknowledged is known', async () => {
  const seed = announceSeed('backup');
  const [dataDir, other] = [await makeDataDir(), await makeDataDir()];
  const backup = `${dataDir}.backup`;
  try {
    const { basic } = await createAccount(dataDir, 'storm@example.org');
    const ledger = createLedger(seed.toString(36));
    await using server = await startServer({ dataDir });
    let acknowledged: Entry[] = [];
    let answeredAtEnd = Number.POSITIVE_INFINITY;
    let answeredSoFar = 0;
    const onAnswer = (answered: number) => {
      answeredSoFar = answered;
      if (answered === answersBefore) void backUp();
      if (answered === answeredAtEnd) server.kill('SIGKILL');
    };
    const made = Promise.withResolvers<Awaited<ReturnType<typeof runProduct>>>();
    const backUp = async () => {
      acknowledged = ledger.entries.filter((entry) => entry.made !== null);
      made.resolve(
        await runProduct(['src/main.ts', 'backup', backup, '--json'], { MAYFLY_DATA_DIR: dataDir }),
      );
      answeredAtEnd = answeredSoFar + answersAfter;
    };
    const random = seededFractions(seed);
    const load = { port: server.port, ledger, basic, random, connectionCount: 16, goesOn: () => true };
    const { answered } = await runLoad({ ...load, onAnswer });
    const { code, stdout, stderr } = await made.promise;
    expect([code, stderr]).toEqual([0, '']);

    await copyFile(join(dataDir, 'keys.json'), join(other, 'keys.json'));
    const env = { MAYFLY_DATA_DIR: other };
    const restore = await runProduct(['src/main.ts', 'restore', backup, '--yes', '--json'], env);
    expect(restore.code).toBe(0);
    expect(JSON.parse(restore.stdout)).toEqual({ ...JSON.parse(stdout), burned: JSON.parse(stdout).waiting });

    await using again = await startServer({ dataDir: other });
    const connection = await openConnection(again.port);
    const before = ledger.entries.reduce((sum, { releases }) => sum + releases, 0);
    for (const entry of ledger.entries) {
      if (entry.made === null) continue;
      // Twice, so that the ledger does not expect it to be there.
      entry.attempts += 1;
      await attemptOne(ledger, entry, connection, 'v1.reveal', basic);
    }
    expect(ledger.entries.reduce((sum, { releases }) => sum + releases, 0) - before).toBe(0);
    const states = new Set<string>();
    for (const { made } of acknowledged)
      if (made !== null) states.add(readReceiptState(await connection.send(receiptRequest(made, basic))));
    connection.destroy();
    expect([...states].sort()).toEqual(['burned', 'received']);
    expect(ledger.faults).toEqual([]);
    console.log(
      `backup: ${answered} answers, ${acknowledged.length} acknowledged before it, ${JSON.parse(stdout).waiting} waited in it`,
    );
  } finally {
    for (const path of [dataDir, other, backup]) await rm(path, { recursive: true, force: true });
  }
}, 120_000);
