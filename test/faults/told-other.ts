/** Another process on the folder: ends what it is asked to, and says when its own sync is over. Argument: the store's folder. */
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { steadyClock } from '../support/clocks.ts';
import { powerlossTime } from './powerloss-ledger.ts';
import { type EndName, ends, type Subject } from './told-ends.ts';

const store = await openSqliteStore({
  directory: process.argv[2] ?? '',
  clock: steadyClock(() => powerlossTime),
  ballastBytes: 64 * 1024,
});

process.on('message', async (asked: { end: EndName; subject: Subject } | 'see' | 'end') => {
  if (asked === 'end') {
    await store[Symbol.asyncDispose]();
    process.exit(0);
  }
  // So that the next sync is that of the end.
  if (asked === 'see') await store.hasAccounts();
  else await ends[asked.end].end(store, asked.subject);
  process.send?.('done');
});
process.send?.('ready');
