/** Another process on the folder: ends or stores what it is asked to, and says when it is done. Argument: the store's folder. */
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { newRecord } from '../stores/conformance/check.ts';
import { steadyClock } from '../support/clocks.ts';
import { idsOf, powerlossTime, sealedOf } from './powerloss-ledger.ts';
import { type EndName, ends, type Subject } from './told-ends.ts';

const store = await openSqliteStore({
  directory: process.argv[2] ?? '',
  clock: steadyClock(() => powerlossTime),
  ballastBytes: 64 * 1024,
});

process.on('message', async (asked: { end: EndName; subject: Subject } | { put: number } | 'see' | 'end') => {
  if (asked === 'end') {
    await store[Symbol.asyncDispose]();
    process.exit(0);
  }
  // So that the next sync is that of the end.
  if (asked === 'see') await store.hasAccounts();
  else if ('put' in asked)
    await store.put({ ...newRecord(powerlossTime), ...idsOf(asked.put), sealedSecret: sealedOf(asked.put) });
  else await ends[asked.end].end(store, asked.subject);
  process.send?.('done');
});
process.send?.('ready');
