/**
 * `mayfly backup`, `mayfly restore` and `mayfly store accept-restore`.
 *
 * A restored store opens nothing that waited when its backup was taken, because it may have been opened since. The operator sees what
 * that means, and agrees, before anything is written.
 */
import type { BackupFacts } from '../core/store-copies.ts';
import {
  type Command,
  type ExitCode,
  type Input,
  printResult,
  readSettings,
  refuse,
  unlessConfirmed,
  type World,
} from './command.ts';
import { perTenth } from './progress.ts';
import { plural, timeOf } from './terminal.ts';

const mebibyte = 2 ** 20;

/** Nine steps: the command's own end is the tenth, so a small backup prints no progress. */
const progressOf = (input: Input, world: World) =>
  perTenth(9, (bytes) => `${Math.ceil(bytes / mebibyte)} MiB`, input, world);

const contents = ({ waiting, accounts }: BackupFacts): string =>
  `${plural(waiting, 'waiting secret')}, ${plural(accounts, 'account')}`;

const jsonOf = ({ takenAt, waiting, accounts }: BackupFacts) => ({ taken_at: takenAt, waiting, accounts });

async function runBackup(input: Input, world: World): Promise<ExitCode> {
  const settings = await readSettings(world);
  const [file = ''] = input.words;
  const written = await world.backups.write(settings, file, progressOf(input, world));
  if (written.outcome === 'refused')
    return refuse(world, input, 'failed', `No backup was made. ${written.problem}`);
  const { facts } = written;
  if (!input.json)
    world.terminal.err(
      `${file} holds the store of ${timeOf(facts.takenAt)}, checked: ${contents(facts)}.\n` +
        `It does not hold the keys. Keep a copy of ${settings.rootKeysFile}, in another place.\n`,
    );
  return printResult(world, input, jsonOf(facts), []);
}

const consequences = (facts: BackupFacts, dataDir: string): string =>
  `The backup is of ${timeOf(facts.takenAt)}: ${contents(facts)}. It becomes the store in ${dataDir}.\n${losses}`;

const losses =
  'What waited then may have been opened since, so all of it is burned: those links no longer open.\n' +
  'Accounts, passwords, tokens and domains are again as they were then: what was revoked, deleted or changed since has to be ' +
  'revoked, deleted or changed again. Everybody is logged out.\n';

async function runRestore(input: Input, world: World): Promise<ExitCode> {
  const settings = await readSettings(world);
  const [file = ''] = input.words;
  const seen = await world.backups.preview(settings, file);
  if (seen.outcome === 'refused')
    return refuse(world, input, 'failed', `${file} is not restored. ${seen.problem}`);
  world.terminal.err(consequences(seen.facts, settings.dataDir));
  const unconfirmed = await unlessConfirmed(world, input, 'Restore it?');
  if (unconfirmed !== null) return unconfirmed;
  const restored = await world.backups.restore(settings, file, progressOf(input, world));
  if (restored.outcome === 'refused')
    return refuse(world, input, 'failed', `${file} is not restored. ${restored.problem}`);
  if (!input.json)
    world.terminal.err(
      `Done. Put its keys at ${settings.rootKeysFile}, if they are not there yet, and start the server.\n`,
    );
  return printResult(world, input, { ...jsonOf(restored.facts), burned: restored.facts.waiting }, []);
}

async function acceptRestored(input: Input, world: World): Promise<ExitCode> {
  const settings = await readSettings(world);
  const seen = await world.restores.preview(settings);
  if (seen.outcome === 'refused') return refuse(world, input, 'failed', seen.problem);
  const { facts } = seen;
  world.terminal.err(
    `The store that was restored is of ${timeOf(facts.takenAt)}: ${contents(facts)}.\n${losses}`,
  );
  const unconfirmed = await unlessConfirmed(world, input, 'Burn what waits, and use the store again?');
  if (unconfirmed !== null) return unconfirmed;
  const accepted = await world.restores.accept(settings);
  if (accepted.outcome === 'refused')
    return refuse(world, input, 'failed', `Nothing was changed. ${accepted.problem}`);
  if (!input.json) world.terminal.err('Done. Start the servers.\n');
  return printResult(world, input, { ...jsonOf(facts), burned: facts.waiting }, []);
}

export const backupCommands: readonly Command[] = [
  {
    path: ['backup'],
    summary: 'write a backup of the store, also while it serves',
    words: ['FILE'],
    example: 'mayfly backup /backups/mayfly-2026-11-23.db',
    run: runBackup,
  },
  {
    path: ['restore'],
    summary: 'make a store from a backup; what waited in it is burned',
    words: ['FILE'],
    options: { yes: { type: 'boolean', doc: 'do not ask' } },
    example: 'MAYFLY_DATA_DIR=/srv/mayfly mayfly restore /backups/mayfly-2026-11-23.db',
    run: runRestore,
  },
  {
    path: ['store', 'accept-restore'],
    summary: 'burn what waits in a restored PostgreSQL store; it serves then',
    options: { yes: { type: 'boolean', doc: 'do not ask' } },
    example: 'mayfly store accept-restore',
    run: acceptRestored,
  },
];
