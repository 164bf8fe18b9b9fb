/**
 * Operators' commands for the store itself. Nothing is changed before the operator has seen what it means and agreed.
 */
import type { ClockReport } from '../core/time.ts';
import { differenceWords } from '../ops/clock-words.ts';
import { withAccounts } from './accounts.ts';
import {
  type Command,
  type ExitCode,
  type Input,
  type OpenAccounts,
  printResult,
  refuse,
  type World,
} from './command.ts';
import { timeOf } from './times.ts';

const plural = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

function effectOf({ storeTime, wall }: ClockReport, expiring: number): string {
  if (wall >= storeTime) {
    return expiring === 0
      ? 'No waiting secret expires by it.'
      : `${plural(expiring, 'waiting secret')} then ${expiring === 1 ? 'has' : 'have'} expired and will be erased.`;
  }
  return (
    'What has expired by the present store time is erased first. Secrets made at a time that has not come yet wait longer ' +
    'than asked, by the difference.'
  );
}

async function setTime(input: Input, world: World, { store }: OpenAccounts): Promise<ExitCode> {
  const report = store.clock();
  const { storeTime, wall, verdict } = report;
  if (verdict === 'agreed' && Math.abs(wall - storeTime) <= 1) {
    if (!input.json) world.terminal.err('Store time and the clock of this machine agree: nothing to do.\n');
    printResult(world, input, { changed: false, time: storeTime }, []);
    return 0;
  }
  const expiring = wall >= storeTime ? await store.countExpiringBy(wall) : 0;
  world.terminal.err(
    `Store time            ${timeOf(storeTime)}\n` +
      `This machine's clock  ${timeOf(wall)}, ${differenceWords(wall - storeTime)}\n` +
      `${effectOf(report, expiring)}\n`,
  );
  if (!input.flags.has('yes')) {
    const answer = await world.terminal.ask('Set store time to the clock of this machine? [y/N] ');
    if (answer === null) return refuse(world, input, 'not_confirmed', 'Nobody can be asked here: add --yes.');
    if (!/^y(es)?$/i.test(answer.trim()))
      return refuse(world, input, 'not_confirmed', 'Nothing was changed.');
  }
  await store.setTime();
  if (!input.json) world.terminal.err('Done. A server that is running follows within a second.\n');
  printResult(world, input, { changed: true, time: store.now() }, []);
  return 0;
}

export const storeCommands: readonly Command[] = [
  {
    path: ['store', 'set-time'],
    summary: "set store time to this machine's clock",
    words: [],
    options: { yes: { type: 'boolean', doc: 'do not ask' } },
    example: 'mayfly store set-time',
    run: (input, world) => withAccounts(input, world, (accounts) => setTime(input, world, accounts)),
  },
];
