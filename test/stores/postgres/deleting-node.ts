/**
 * A node that deletes an account until it is killed: `deleting-node.ts URL SCHEMA ACCOUNT`. Prints after each batch how many
 * secrets it has burned.
 */
import type { AccountId } from '../../../src/core/account.ts';
import { openPostgresStore } from '../../../src/store/postgres/store.ts';
import { createSettableClock } from '../conformance/check.ts';

const [url = '', schema = '', account] = process.argv.slice(2);
const id = Number(account) as AccountId;
const store = await openPostgresStore({ url, schema, clock: createSettableClock(), durability: 'single' });
await store.deleteAccount(id);
for (;;) console.log((await store.continueDeletion(id, 500))?.burned);
