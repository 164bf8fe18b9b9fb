/**
 * `mayfly migrate-store FROM TO`.
 *
 * It copies while the servers on FROM serve, and may be run again at any time. Only with `--finish` does FROM close for good and TO take
 * its place; the operator sees what that means, and agrees, before anything is closed.
 */
import {
  type Command,
  type ExitCode,
  type Input,
  printResult,
  readSettings,
  refuse,
  UsageError,
  unlessConfirmed,
  type World,
} from './command.ts';
import { perTenth } from './progress.ts';
import { plural } from './terminal.ts';

const consequences =
  'When the copy is complete, FROM closes for good: servers on it answer 503 from then on, and its sealed values are erased. TO ' +
  'takes its place, with the same links, accounts, tokens and log-ins. Then start the servers on TO, with the same root keys.\n';

async function cancel(input: Input, world: World, from: string): Promise<ExitCode> {
  const settings = await readSettings(world);
  const ended = await world.moves.cancel(settings, from);
  if (ended.outcome === 'refused')
    return refuse(world, input, 'failed', `Nothing was changed. ${ended.problem}`);
  const isCancelled = ended.outcome === 'cancelled';
  if (!input.json)
    world.terminal.err(
      isCancelled
        ? 'The move has ended: FROM serves as before. Delete what was copied to TO.\n'
        : 'No move of this store was under way: nothing to do.\n',
    );
  return printResult(world, input, { cancelled: isCancelled }, []);
}

async function runMove(input: Input, world: World): Promise<ExitCode> {
  const [from = '', to] = input.words;
  const isFinishing = input.flags.has('finish');
  if (input.flags.has('cancel')) {
    if (to !== undefined || isFinishing) throw new UsageError('--cancel takes FROM alone.');
    return cancel(input, world, from);
  }
  if (to === undefined) throw new UsageError('Name the store that FROM is moved to.');
  const settings = await readSettings(world);
  if (isFinishing) {
    world.terminal.err(consequences);
    const unconfirmed = await unlessConfirmed(world, input, 'Copy what is left, and finish the move?');
    if (unconfirmed !== null) return unconfirmed;
  }
  const onProgress = perTenth(10, (rows) => plural(rows, 'row'), input, world);
  const moved = await world.moves.move(settings, { from, to, isFinishing, onProgress });
  if (moved.outcome === 'refused') return refuse(world, input, 'failed', moved.problem);
  if (!input.json)
    world.terminal.err(
      moved.outcome === 'moved'
        ? `Done. The store is at ${moved.to} now: start the servers there, with the same root keys.\n`
        : `Copied ${plural(moved.rows, 'row')}. ${moved.from} serves as before, and what changes there is copied when this is run ` +
            'again. With --finish it closes, and the other takes its place.\n',
    );
  return printResult(world, input, { outcome: moved.outcome, rows: moved.rows }, []);
}

export const moveCommands: readonly Command[] = [
  {
    path: ['migrate-store'],
    summary: 'move a store to another, while it serves',
    words: ['FROM', '[TO]'],
    options: {
      finish: { type: 'boolean', doc: 'close FROM for good when the copy is complete, and open TO' },
      cancel: { type: 'boolean', doc: 'end a move of FROM that was not finished' },
      yes: { type: 'boolean', doc: 'do not ask' },
    },
    example: 'mayfly migrate-store sqlite:/var/lib/mayfly postgres://mayfly@db.example.org/mayfly',
    examples: ['mayfly migrate-store sqlite:/var/lib/mayfly @/etc/mayfly/store-url --finish'],
    note: 'A store: sqlite:FOLDER, postgres://USER@HOST/NAME, or @FILE with one of these.',
    run: runMove,
  },
];
