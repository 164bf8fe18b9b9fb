/**
 * Operators' commands for the server, its store and the router: `mayfly serve|doctor|router|burn-all|store set-time`.
 *
 * None of them starts or reports anything with wrong settings, and the store is not changed before the operator has seen what that
 * means and agreed.
 */
import type { Settings } from '../config/read.ts';
import type { ClockReport } from '../core/ports/clock.ts';
import { burnAll } from '../core/secrets/burn.ts';
import { Sensitive } from '../core/sensitive.ts';
import type { Finding } from '../ops/doctor.ts';
import { clockOwner, differenceWords } from '../ops/start-words.ts';
import { withAccounts } from './accounts.ts';
import {
  addressForm,
  type Command,
  type ExitCode,
  type Input,
  type OpenAccounts,
  printResult,
  readSettings,
  refuse,
  unlessConfirmed,
  type World,
} from './command.ts';
import { perSecrets } from './progress.ts';
import { plural, timeOf } from './terminal.ts';

async function runServe(_input: Input, world: World): Promise<ExitCode> {
  return world.serve(await readSettings(world));
}

const marks: Readonly<Record<Finding['verdict'], string>> = {
  ok: 'ok    ',
  advice: 'advice',
  fault: 'FAULT ',
};

function report(findings: readonly Finding[], input: Input, world: World): ExitCode {
  const width = Math.max(...findings.map(({ what }) => what.length));
  const lines = findings.map(
    ({ what, verdict, words }) => `${marks[verdict]}  ${what.padEnd(width)}  ${words}`,
  );
  printResult(world, input, findings, lines);
  return findings.some(({ verdict }) => verdict === 'fault') ? 1 : 0;
}

async function runDoctor(input: Input, world: World): Promise<ExitCode> {
  const reading = await world.readConfig();
  if (reading.outcome === 'refused') {
    const faults = reading.refusals.map((words) => ({ what: 'settings', verdict: 'fault', words }) as const);
    return report(faults, input, world);
  }
  const settings: Finding = {
    what: 'settings',
    verdict: 'ok',
    words: `${reading.settings.given.size} set, the others at their defaults (mayfly config --explain)`,
  };
  const mailTo = input.texts['mail-to'];
  const recipient = mailTo === undefined ? null : new Sensitive(mailTo);
  const found = await world.terminal.waiting('Checking', () => world.examine(reading.settings, recipient));
  const isSettingWrong = found.some(({ what }) => what === settings.what);
  return report(isSettingWrong ? found : [settings, ...found], input, world);
}

async function runMigrate(input: Input, world: World): Promise<ExitCode> {
  const settings = await readSettings(world);
  const migrated = await world.migrate(settings, (words) => world.terminal.err(`${words}\n`));
  if (migrated.outcome === 'refused') return refuse(world, input, 'failed', migrated.problem);
  const { outcome, where } = migrated;
  if (!input.json) world.terminal.err(`${migrateWords[outcome](where)}\n`);
  return printResult(world, input, { outcome }, []);
}

const migrateWords = {
  made: (where: string) => `Done. ${where} has the tables of a new store.`,
  updated: (where: string) => `Done. The store at ${where} is up to date now.`,
  up_to_date: (where: string) => `The store at ${where} is up to date: nothing to do.`,
} as const;

const settingsNote = 'Settings come from the environment: mayfly config shows all of them.';

export const serverCommands: readonly Command[] = [
  {
    path: ['serve'],
    summary: 'serve until stopped',
    example: 'PORT=8080 mayfly serve',
    examples: ['HOST=0.0.0.0 MAYFLY_BASE_URL=https://secrets.example.org mayfly serve'],
    note: settingsNote,
    run: runServe,
  },
  {
    path: ['migrate'],
    summary: "bring the store's tables up to date",
    example: 'mayfly migrate',
    note: 'A server does so at its start, too. This waits for a database that is away.',
    run: runMigrate,
  },
  {
    path: ['doctor'],
    summary: 'check settings, folder, keys, store, disk, address and mail',
    options: {
      'mail-to': {
        type: 'string',
        value: 'ADDRESS',
        form: addressForm,
        doc: 'send a test mail there and say what the mail server replied',
      },
    },
    example: 'mayfly doctor --mail-to jo@example.org',
    run: runDoctor,
  },
];

async function runRouter(_input: Input, world: World): Promise<ExitCode> {
  return world.route(await readSettings(world));
}

export const routerCommands: readonly Command[] = [
  {
    path: ['router'],
    summary: 'stand before several regions, until stopped',
    example: 'MAYFLY_REGIONS=us=https://us.example.com,eu=https://eu.example.com PORT=8080 mayfly router',
    note: settingsNote,
    run: runRouter,
  },
];

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

async function setTime(
  input: Input,
  world: World,
  { store }: OpenAccounts,
  settings: Settings,
): Promise<ExitCode> {
  const isOnServer = settings.store !== 'sqlite';
  const owner = clockOwner(isOnServer);
  const whose = isOnServer ? 'The server’s clock' : "This machine's clock";
  const report = store.clock();
  const { storeTime, wall, verdict } = report;
  if (verdict === 'agreed' && Math.abs(wall - storeTime) <= 1) {
    if (!input.json) world.terminal.err(`Store time and the clock of ${owner} agree: nothing to do.\n`);
    return printResult(world, input, { changed: false, time: storeTime }, []);
  }
  const expiring = wall >= storeTime ? await store.countExpiringBy(wall) : 0;
  world.terminal.err(
    `Store time            ${timeOf(storeTime)}\n` +
      `${whose.padEnd(22)}${timeOf(wall)}, ${differenceWords(wall - storeTime)}\n` +
      `${effectOf(report, expiring)}\n`,
  );
  const unconfirmed = await unlessConfirmed(world, input, `Set store time to the clock of ${owner}?`);
  if (unconfirmed !== null) return unconfirmed;
  await store.setTime();
  if (!input.json) world.terminal.err('Done. A server that is running follows within a second.\n');
  return printResult(world, input, { changed: true, time: store.now() }, []);
}

async function runBurnAll(input: Input, world: World, { store }: OpenAccounts): Promise<ExitCode> {
  const waiting = await store.countExpiringBy(Number.MAX_SAFE_INTEGER);
  if (waiting === 0) {
    if (!input.json) world.terminal.err('No secret waits: nothing to do.\n');
    return printResult(world, input, { burned: 0 }, []);
  }
  world.terminal.err(
    `${plural(waiting, 'secret')} ${waiting === 1 ? 'waits' : 'wait'}. Burned, whoever made them, they never open again, and their ` +
      'receipts say so. This cannot be undone.\n',
  );
  const unconfirmed = await unlessConfirmed(world, input, 'Burn all of them?');
  if (unconfirmed !== null) return unconfirmed;
  const burned = await burnAll(store, perSecrets(50_000, waiting, input, world));
  if (!input.json) world.terminal.err(`Done. ${plural(burned, 'secret')} burned.\n`);
  return printResult(world, input, { burned }, []);
}

export const storeCommands: readonly Command[] = [
  {
    path: ['burn-all'],
    summary: 'burn every secret that waits, whoever made it',
    options: { yes: { type: 'boolean', doc: 'do not ask' } },
    example: 'mayfly burn-all',
    run: (input, world) => withAccounts(input, world, (accounts) => runBurnAll(input, world, accounts)),
  },
  {
    path: ['store', 'set-time'],
    summary: "set store time to this machine's clock, or the database server's",
    options: { yes: { type: 'boolean', doc: 'do not ask' } },
    example: 'mayfly store set-time',
    run: (input, world) =>
      withAccounts(input, world, (accounts, settings) => setTime(input, world, accounts, settings)),
  },
];
