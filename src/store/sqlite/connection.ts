/**
 * The writing connection, with every statement of the writer prepared.
 *
 * Owns: what has to be opened anew together when the connection is.
 */
import type { Database } from 'bun:sqlite';
import type { UnixSeconds } from '../../core/time.ts';
import { createAccountDeletion, createAccountWrites } from './accounts.ts';
import { createAttemptWrites } from './attempts.ts';
import { createDomainWrites } from './domains.ts';
import { IndexMerge } from './locator.ts';
import type { Ask, BatchTime, Decisions } from './protocol.ts';
import { createRecordWrites, type RecordWrites } from './records.ts';
import { createRootWrites } from './roots.ts';
import { createPasswordWrites, createSessionWrites } from './sessions.ts';
import { type ConnectionSettings, openConnection } from './settings.ts';
import { createLogKeeper, createSweep, type LogKeeper } from './sweep.ts';
import { createTimeKeeper, createTimeSetter } from './time.ts';

export interface WritingConnection {
  readonly db: Database;
  readonly records: RecordWrites;
  readonly merge: IndexMerge;
  readonly log: LogKeeper;
  readonly begin: () => void;
  readonly commit: () => void;
  /** Keeps the batch's time if it is later than what is kept; the time to judge the batch by. */
  readonly keepTime: (time: BatchTime) => UnixSeconds;
  readonly decide: (now: UnixSeconds, ask: Ask) => unknown;
}

/** The decision of that name, with its arguments, at store time. */
type Decide = (now: UnixSeconds, ...args: readonly unknown[]) => unknown;

export function openWritingConnection(
  database: string,
  settings: ConnectionSettings,
  logLimitBytes: number,
): WritingConnection {
  const db = openConnection(database, settings);
  const records = createRecordWrites(db);
  const [begin, commit] = [db.query('BEGIN IMMEDIATE'), db.query('COMMIT')];
  return {
    db,
    records,
    merge: new IndexMerge(db),
    log: createLogKeeper(db, logLimitBytes),
    begin: () => void begin.run(),
    commit: () => void commit.run(),
    keepTime: createTimeKeeper(db),
    decide: createDecide(db, records),
  };
}

function createDecide(db: Database, records: RecordWrites): WritingConnection['decide'] {
  const sweep = createSweep(db);
  const decisions: Record<keyof Decisions, (now: UnixSeconds, ...args: never[]) => unknown> = {
    burn: records.burn,
    markViewed: records.markViewed,
    setMemo: records.setMemo,
    queueDelivery: records.queueDelivery,
    setDelivery: records.setDelivery,
    takeDueNotices: records.takeDueNotices,
    ...createAttemptWrites(db),
    ...createAccountWrites(db),
    ...createPasswordWrites(db),
    ...createSessionWrites(db),
    ...createAccountDeletion(db),
    ...createDomainWrites(db),
    ...createRootWrites(db),
    sweep,
    keepTime: () => undefined,
    setTime: createTimeSetter(db, sweep),
    withdrawn: () => 'abandoned',
  };
  return (now, ask) => (decisions[ask.name as keyof Decisions] as Decide)(now, ...ask.args);
}
