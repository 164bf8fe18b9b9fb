/**
 * `mayfly migrate-store FROM TO` copies while the servers on FROM run, and can be repeated at any time. Only `--finish` closes FROM for
 * good and opens TO, after the operator has seen what that means and confirmed.
 */
import {
  type Command,
  command,
  type ExitCode,
  type Input,
  printDone,
  Refusal,
  readSettings,
  UsageError,
} from './command.ts';
import { confirm, type OperatorWorld, perTenth, yesOption } from './operator.ts';
import { plural } from './terminal.ts';

const consequences =
  'When the copy is complete, FROM closes for good: its servers answer 503, and its sealed values are erased. TO takes over with ' +
  'the same links, accounts, tokens and log-ins. Then start the servers on TO, with the same root keys.\n';

async function cancel(input: Input, world: OperatorWorld, from: string): Promise<ExitCode> {
  const settings = await readSettings(world);
  const ended = await world.moves.cancel(settings, from);
  if (ended.outcome === 'refused') throw new Refusal('failed', `Nothing was changed. ${ended.problem}`);
  const isCancelled = ended.outcome === 'cancelled';
  const done = isCancelled
    ? 'Cancelled: FROM keeps serving. Delete the copy in TO.'
    : 'This store is not being moved: nothing to do.';
  return printDone(world, input, { cancelled: isCancelled }, done);
}

async function runMove(input: Input, world: OperatorWorld): Promise<ExitCode> {
  const [from = '', to] = input.args;
  const isFinishing = input.flags.has('finish');
  if (input.flags.has('cancel')) {
    if (to !== undefined || isFinishing) throw new UsageError('--cancel takes only FROM.');
    return cancel(input, world, from);
  }
  if (to === undefined) throw new UsageError('TO is missing: the store to move FROM to.');
  const settings = await readSettings(world);
  if (isFinishing) {
    world.terminal.err(consequences);
    await confirm(world, input, 'Copy the rest and finish the move?');
  }
  const onProgress = perTenth(10, (rows) => plural(rows, 'row'), input, world);
  const moved = await world.moves.move(settings, { from, to, isFinishing, onProgress });
  if (moved.outcome === 'refused') throw new Refusal('failed', moved.problem);
  const { outcome, rows } = moved;
  const done =
    outcome === 'moved'
      ? `Done. The store is now at ${moved.to}: start the servers there, with the same root keys.`
      : `Copied ${plural(rows, 'row')}. ${moved.from} keeps serving; run this again to copy later changes. --finish closes it and ` +
        'opens the copy.';
  return printDone(world, input, { outcome, rows }, done);
}

export const moveCommands: readonly Command<OperatorWorld>[] = [
  command('migrate-store FROM [TO]', {
    summary: 'move a store to another while it serves',
    options: {
      finish: { doc: 'close FROM for good when the copy is complete, and open TO' },
      cancel: { doc: 'cancel an unfinished move of FROM' },
      ...yesOption,
    },
    example: 'mayfly migrate-store sqlite:/var/lib/mayfly postgres://mayfly@db.example.org/mayfly',
    examples: ['mayfly migrate-store sqlite:/var/lib/mayfly @/etc/mayfly/store-url --finish'],
    note: 'FROM, TO: sqlite:FOLDER, postgres://USER@HOST/NAME, or @FILE with one of them.',
    run: runMove,
  }),
];
