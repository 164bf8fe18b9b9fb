/**
 * A process that is asked about what has ended, while the syncs of that end are held: prints as JSON what it told when. Arguments: the
 * store's folder, the flag that holds the other process's syncs, and the seeded defect, if any.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { clientStays, putNew } from '../stores/conformance/check.ts';
import { steadyClock } from '../support/clocks.ts';
import { powerlossTime } from './powerloss-ledger.ts';
import { heldCount, holdFlag } from './shim-flags.ts';
import { seedDefect } from './told-defects.ts';
import {
  ask,
  type DoorName,
  type EndName,
  endNames,
  ends,
  prepare,
  type Subject,
  toldOf,
} from './told-ends.ts';

const [directory = '', otherFlag = '', defect = ''] = process.argv.slice(2);

export type Whose = 'own' | 'another process’s' | 'another process’s, during an own sync';
export interface Told {
  readonly whose: Whose;
  readonly end: EndName;
  readonly early: readonly string[];
  readonly isWaitingFoundEarly: boolean;
  readonly late: Readonly<Record<string, unknown>>;
}

seedDefect(defect);
const { openSqliteStore } = await import('../../src/store/sqlite/store.ts');
const clock = steadyClock(() => powerlossTime);
await using store = await openSqliteStore({ directory, clock, ballastBytes: 64 * 1024 });

const turn = () => new Promise(setImmediate);
const hold = (flag: string) => writeFileSync(flag, '');

function startOther() {
  const said: string[] = [];
  const process_ = Bun.spawn([process.execPath, join(import.meta.dir, 'told-other.ts'), directory], {
    env: { ...process.env, SHIM_HOLD_FLAG: otherFlag },
    stdout: 'inherit',
    stderr: 'inherit',
    ipc: (message: string) => said.push(message),
  });
  const heard = async (word: string) => {
    while (said[0] !== word) await turn();
    said.shift();
  };
  return { heard, send: (message: unknown) => process_.send(message), exited: process_.exited };
}

/** Names of what has been answered. */
class Answers {
  readonly #answered = new Map<string, unknown>();
  readonly #asked: Promise<void>[] = [];

  add(name: string, answer: Promise<unknown>): void {
    const kept = answer.then((value) => void this.#answered.set(name, value));
    this.#asked.push(kept);
  }
  get names(): string[] {
    return [...this.#answered.keys()];
  }
  get areAll(): boolean {
    return this.#answered.size === this.#asked.length;
  }
  async all(): Promise<Record<string, unknown>> {
    await Promise.all(this.#asked);
    return Object.fromEntries(this.#answered);
  }
}

/** Until one more of this process's syncs is held, or there is nothing left that would begin one. */
async function untilHeld(before: number, isOver: () => boolean): Promise<void> {
  while (heldCount() === before && !isOver()) await turn();
}

const other = startOther();
await other.heard('ready');

async function endElsewhere(end: EndName, subject: Subject): Promise<void> {
  other.send('see');
  await other.heard('done');
  const before = heldCount(otherFlag);
  hold(otherFlag);
  other.send({ end, subject });
  while (heldCount(otherFlag) === before) await turn();
}

async function tell(whose: Whose, end: EndName, n: number): Promise<Told> {
  const waiting = await putNew(store);
  const { subject, target } = await prepare(store, n);
  const answers = new Answers();
  let held = heldCount();
  hold(holdFlag());
  if (whose === 'own') {
    answers.add('its own answer', ends[end].end(store, subject));
    await untilHeld(held, () => answers.areAll);
  } else if (whose === 'another process’s') await endElsewhere(end, subject);
  else {
    answers.add('an own view', store.markViewed(waiting.receiptId));
    await untilHeld(held, () => answers.areAll);
    await endElsewhere(end, subject);
    held = heldCount();
  }
  const found = new Answers();
  found.add('waiting', store.findSecret(waiting.secretId));
  for (const door of Object.keys(toldOf(end)) as DoorName[])
    answers.add(door, ask(door, store, subject, target));
  // The own sync that had begun before the end says nothing of it.
  if (whose === 'another process’s, during an own sync') writeFileSync(`${holdFlag()}.pass`, '');
  if (whose !== 'own') await untilHeld(held, () => answers.areAll);
  for (let turns = 0; turns < 20; turns += 1) await turn();
  const early = answers.names.filter((name) => name !== 'an own view');
  const isWaitingFoundEarly = found.areAll;
  rmSync(holdFlag());
  const { 'an own view': _, 'its own answer': __, ...late } = await answers.all();
  await found.all();
  if (whose !== 'own') {
    rmSync(otherFlag);
    await other.heard('done');
  }
  // For the burn of everything.
  await store.burn(waiting.receiptId, clientStays);
  return { whose, end, early, isWaitingFoundEarly, late };
}

const told: Told[] = [];
let n = 1;
for (const whose of ['own', 'another process’s', 'another process’s, during an own sync'] as const)
  for (const end of endNames) told.push(await tell(whose, end, n++));
other.send('end');
await other.exited;
console.log(JSON.stringify(told));
