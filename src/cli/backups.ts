/**
 * `mayfly backup`, `mayfly restore` and `mayfly store accept-restore`.
 *
 * A restored store opens no secret that was unread in the backup, because it may have been opened since. Before anything is written, the
 * operator sees what that means and must confirm.
 */
import type { BackupFacts } from '../core/store-copies.ts';
import { sizeWords } from '../ops/start-words.ts';
import {
  type Command,
  command,
  type ExitCode,
  type Input,
  printDone,
  Refusal,
  readSettings,
  type World,
} from './command.ts';
import { confirm, type OperatorWorld, perTenth, yesOption } from './operator.ts';
import { plural, timeOf } from './terminal.ts';

/** Stops at 90 %, because the command's result covers the rest. A small backup prints no progress. */
const progressOf = (input: Input, world: World) => perTenth(9, sizeWords, input, world);

/** Such as `2026-11-23 10:00: 2 unread secrets, 1 account`. */
const contents = ({ takenAt, waiting, accounts }: BackupFacts, { terminal }: World): string =>
  `${timeOf(takenAt, terminal.isErrorSeen)}: ${plural(waiting, 'unread secret')}, ${plural(accounts, 'account')}`;

const jsonOf = ({ takenAt, waiting, accounts }: BackupFacts) => ({ taken_at: takenAt, waiting, accounts });

async function runBackup(input: Input, world: OperatorWorld): Promise<ExitCode> {
  const settings = await readSettings(world);
  const [file = ''] = input.args;
  const written = await world.backups.write(settings, file, progressOf(input, world));
  if (written.outcome === 'refused') throw new Refusal('failed', `No backup was made. ${written.problem}`);
  const { facts } = written;
  const done =
    `Wrote and checked ${file}, the store as of ${contents(facts, world)}.\n` +
    `It does not contain the keys. Back up ${settings.rootKeysFile} too, in a different place.`;
  return printDone(world, input, jsonOf(facts), done);
}

const losses =
  'Its unread secrets may have been opened since, so all of them are burned: their links stop working.\n' +
  'Accounts, passwords, tokens and domains go back to that time: anything revoked, deleted or changed since must be revoked, ' +
  'deleted or changed again. Everyone is logged out.\n';

async function runRestore(input: Input, world: OperatorWorld): Promise<ExitCode> {
  const settings = await readSettings(world);
  const [file = ''] = input.args;
  const seen = await world.backups.preview(settings, file);
  if (seen.outcome === 'refused') throw new Refusal('failed', `${file} was not restored. ${seen.problem}`);
  const { dataDir } = settings;
  world.terminal.err(
    `The backup is from ${contents(seen.facts, world)}. It becomes the store in ${dataDir}.\n${losses}`,
  );
  await confirm(world, input, 'Restore it?');
  const restored = await world.backups.restore(settings, file, progressOf(input, world));
  if (restored.outcome === 'refused')
    throw new Refusal('failed', `${file} was not restored. ${restored.problem}`);
  const { facts } = restored;
  const done = `Done. Copy its keys to ${settings.rootKeysFile} if they are not there yet, then start the server.`;
  return printDone(world, input, { ...jsonOf(facts), burned: facts.waiting }, done);
}

async function acceptRestored(input: Input, world: OperatorWorld): Promise<ExitCode> {
  const settings = await readSettings(world);
  const seen = await world.restores.preview(settings);
  if (seen.outcome === 'refused') throw new Refusal('failed', seen.problem);
  const { facts } = seen;
  world.terminal.err(`The restored store is from ${contents(facts, world)}.\n${losses}`);
  await confirm(world, input, 'Burn its unread secrets and use the store again?');
  const accepted = await world.restores.accept(settings);
  if (accepted.outcome === 'refused') throw new Refusal('failed', `Nothing was changed. ${accepted.problem}`);
  const json = { ...jsonOf(facts), burned: facts.waiting };
  return printDone(world, input, json, 'Done. Start the servers.');
}

export const backupCommands: readonly Command<OperatorWorld>[] = [
  command('backup FILE', {
    summary: 'back up the store, even while the server runs',
    example: 'mayfly backup /backups/mayfly-2026-11-23.db',
    run: runBackup,
  }),
  command('restore FILE', {
    summary: 'create a store from a backup; burns its unread secrets',
    options: yesOption,
    example: 'MAYFLY_DATA_DIR=/srv/mayfly mayfly restore /backups/mayfly-2026-11-23.db',
    run: runRestore,
  }),
  command('store accept-restore', {
    summary: 'burn the unread secrets of a restored PostgreSQL store, so that it can serve',
    options: yesOption,
    example: 'mayfly store accept-restore',
    run: acceptRestored,
  }),
];
