/**
 * Sends a decision with the query that confirms it, or a read with one that reports where it ran, in one write on one
 * connection. A pooler may send each transaction to a different server; behind one, each decision or read also
 * queries, within its transaction, which server it runs on.
 */
import { ServiceError } from '../../core/errors.ts';
import type { Connection, Query } from './connection.ts';
import { faultOf, isLostConnection, NotExecutedError } from './faults.ts';
import { type Place, recordsColumn, type ServerWatch } from './server-watch.ts';
import { statement } from './statement.ts';
import type { TimeRow } from './time.ts';

const queryOf = (text: string): Query => ({ statement: statement(text), values: [] });
const begin = queryOf('BEGIN');
const commit = queryOf('COMMIT');
/** Always writes: once it is confirmed, so is everything before it in the log. */
export const touch = queryOf('UPDATE mayfly_store.store_time SET seconds = seconds');

export const unconfirmed = (cause?: unknown) =>
  new ServiceError('unavailable', 'PostgreSQL did not confirm a decision.', { cause });

export interface Decided {
  readonly rows: readonly unknown[];
  readonly row: TimeRow & Place;
}

interface Checks {
  readonly watch: ServerWatch;
  readonly known: TimeRow | null;
}

async function sendDecision(
  connection: Connection,
  query: Query,
  watch: ServerWatch,
  deadlineMs: number,
): Promise<Decided> {
  const sent = connection.isPooled ? [begin, watch.place(), query, commit] : [query];
  const noticesBefore = connection.noticeCount();
  const replies = await connection.ask([...sent, watch.afterDecision()], deadlineMs);
  const decided = replies[sent.indexOf(query)];
  if (decided?.status !== 'fulfilled') throw faultOf(decided?.reason);
  const rows = replies.map((reply) => (reply.status === 'fulfilled' ? reply.value : null));
  // The row is absent while a dump is being loaded.
  const row = rows.at(-1)?.[0] as Decided['row'];
  const place = connection.isPooled ? (rows[1]?.[0] as Place | undefined) : row;
  const isWhole = !rows.includes(null) && connection.noticeCount() === noticesBefore;
  if (!isWhole || place?.server_started !== row?.server_started) throw unconfirmed();
  return { rows: decided.value, row };
}

/**
 * A settings reload may have ended the wait for the standby. Then one more write is confirmed under the new settings,
 * and with it the decision, which precedes it in the log.
 */
export async function decideConfirmed(
  connection: Connection,
  query: Query,
  { watch, known }: Checks,
  deadlineMs: number,
): Promise<Decided> {
  const { rows, ...decided } = await sendDecision(connection, query, watch, deadlineMs);
  for (let { row } = decided; ; ) {
    const change = watch.changeSince(connection, row, known);
    if (change === 'none') return { rows, row };
    try {
      await watch.check(connection, deadlineMs);
      if (change === 'settings') ({ row } = await sendDecision(connection, touch, watch, deadlineMs));
    } catch (cause) {
      throw unconfirmed(cause);
    }
    if (change === 'place') throw unconfirmed();
  }
}

interface Read {
  readonly rows: readonly unknown[];
  readonly place: Place;
}

/** Returns rows only from the store that the connection was checked against; otherwise rejects. */
export async function readWithPlace(
  connection: Connection,
  query: Query,
  { watch, known }: Checks,
  deadlineMs: number,
): Promise<Read> {
  const isSaid = !connection.isPooled && query.statement.text.includes(recordsColumn);
  const sent = isSaid ? [query] : [query, watch.place()];
  const all = connection.isPooled ? [begin, ...sent, commit] : sent;
  const replies = await connection.ask(all, deadlineMs);
  const [rows = [], [place] = []] = replies.slice(all.indexOf(query)).map((reply) => {
    if (reply.status === 'fulfilled') return reply.value;
    if (!isLostConnection(reply.reason)) throw faultOf(reply.reason);
    // A read can always be retried.
    throw new NotExecutedError('A read was cut.', { mayTryAgain: true, cause: reply.reason });
  });
  const checked = watch.placeOf(connection);
  const { records_table } = (rows[0] ?? {}) as Partial<Place>;
  const said = (isSaid ? { ...known, ...checked, records_table } : place) as Place;
  if (watch.changeSince(connection, said, known) === 'none') return { rows, place: said };
  throw new NotExecutedError('The store is not the one that was checked.', { mayTryAgain: true });
}
