/**
 * `mayfly serve|migrate|doctor|router|burn-all|store set-time`.
 *
 * Given invalid settings, these commands only report the problems. `burn-all` and `store set-time` show what will change and ask first.
 */
import type { Settings } from '../config/read.ts';
import type { ClockReport } from '../core/ports/clock.ts';
import { burnAll } from '../core/secrets/burn.ts';
import { Sensitive } from '../core/sensitive.ts';
import type { Finding } from '../ops/doctor.ts';
import { clockOwner, differenceWords } from '../ops/start-words.ts';
import {
  addressForm,
  type Command,
  command,
  type ExitCode,
  type Input,
  printDone,
  printResult,
  Refusal,
  readSettings,
} from './command.ts';
import {
  confirm,
  type OpenAccounts,
  type OperatorWorld,
  perSecrets,
  withAccounts,
  yesOption,
} from './operator.ts';
import { plural, type Tint, timeOf } from './terminal.ts';

const marks: Readonly<Record<Finding['verdict'], readonly [Tint, string]>> = {
  ok: ['done', 'ok    '],
  advice: ['warning', 'advice'],
  fault: ['refusal', 'FAULT '],
};

function report(findings: readonly Finding[], input: Input, world: OperatorWorld): ExitCode {
  const width = Math.max(...findings.map(({ what }) => what.length));
  const lines = findings.map(({ what, verdict, words }) => {
    const [tint, mark] = marks[verdict];
    return `${world.terminal.tint('out', tint, mark)}  ${what.padEnd(width)}  ${words}`;
  });
  printResult(world, input, findings, lines);
  return findings.some(({ verdict }) => verdict === 'fault') ? 1 : 0;
}

async function runDoctor(input: Input, world: OperatorWorld): Promise<ExitCode> {
  const reading = await world.readConfig();
  if (reading.outcome === 'refused') {
    const faults = reading.refusals.map((words) => ({ what: 'settings', verdict: 'fault', words }) as const);
    return report(faults, input, world);
  }
  const settings: Finding = {
    what: 'settings',
    verdict: 'ok',
    words: `${reading.settings.given.size} set, the others at their defaults (see mayfly config --explain)`,
  };
  const mailTo = input.texts['mail-to'];
  const recipient = mailTo === undefined ? null : new Sensitive(mailTo);
  const found = await world.terminal.waiting('Checking', () => world.examine(reading.settings, recipient));
  const isSettingWrong = found.some(({ what }) => what === settings.what);
  return report(isSettingWrong ? found : [settings, ...found], input, world);
}

async function runMigrate(input: Input, world: OperatorWorld): Promise<ExitCode> {
  const settings = await readSettings(world);
  const migrated = await world.migrate(settings, (words) => world.terminal.err(`${words}\n`));
  if (migrated.outcome === 'refused') throw new Refusal('failed', migrated.problem);
  const { outcome, where } = migrated;
  return printDone(world, input, { outcome }, migrateWords[outcome](where));
}

const migrateWords = {
  made: (where: string) => `Done. Created a new store at ${where}.`,
  updated: (where: string) => `Done. The store at ${where} is now up to date.`,
  up_to_date: (where: string) => `The store at ${where} is up to date: nothing to do.`,
} as const;

const settingsNote = 'Settings come from the environment: mayfly config lists them.';

export const serverCommands: readonly Command<OperatorWorld>[] = [
  command('serve', {
    summary: 'run the server',
    example: 'PORT=8080 mayfly serve',
    examples: ['HOST=0.0.0.0 MAYFLY_BASE_URL=https://secrets.example.org mayfly serve'],
    note: settingsNote,
    run: async (_input, world) => world.serve(await readSettings(world)),
  }),
  command('migrate', {
    summary: 'bring the store’s tables up to date',
    example: 'mayfly migrate',
    note: 'A starting server does this too. Waits until the database can be reached.',
    run: runMigrate,
  }),
  command('doctor', {
    summary: 'check settings, folder, keys, store, disk, address and email',
    options: {
      'mail-to': {
        value: 'ADDRESS',
        form: addressForm,
        doc: 'send a test email there and print the reply of the mail server',
      },
    },
    example: 'mayfly doctor --mail-to jo@example.org',
    run: runDoctor,
  }),
];

export const routerCommands: readonly Command<OperatorWorld>[] = [
  command('router', {
    summary: 'run the router in front of several regions',
    example: 'MAYFLY_REGIONS=us=https://us.example.com,eu=https://eu.example.com PORT=8080 mayfly router',
    note: settingsNote,
    run: async (_input, world) => world.route(await readSettings(world)),
  }),
];

function effectOf({ storeTime, wall }: ClockReport, expiring: number): string {
  if (wall >= storeTime) {
    return expiring === 0
      ? 'No secret expires because of it.'
      : `${plural(expiring, 'unread secret')} will expire and be erased.`;
  }
  return (
    'Secrets that have expired by the current store time are erased first. Secrets created while store time was ahead live ' +
    'longer than requested, by the difference.'
  );
}

async function setTime(
  input: Input,
  world: OperatorWorld,
  { store }: OpenAccounts,
  settings: Settings,
): Promise<ExitCode> {
  const isOnServer = settings.store !== 'sqlite';
  const owner = clockOwner(isOnServer);
  const whose = isOnServer ? 'The server’s clock' : 'This machine’s clock';
  const { isErrorSeen } = world.terminal;
  const report = store.clock();
  const { storeTime, wall, verdict } = report;
  if (verdict === 'agreed' && Math.abs(wall - storeTime) <= 1) {
    const agreed = `Store time and the clock of ${owner} agree: nothing to do.`;
    return printDone(world, input, { changed: false, time: storeTime }, agreed);
  }
  const expiring = wall >= storeTime ? await store.countExpiringBy(wall) : 0;
  world.terminal.err(
    `Store time            ${timeOf(storeTime, isErrorSeen)}\n` +
      `${whose.padEnd(22)}${timeOf(wall, isErrorSeen)}, ${differenceWords(wall - storeTime)}\n` +
      `${effectOf(report, expiring)}\n`,
  );
  await confirm(world, input, `Set store time to the clock of ${owner}?`);
  await store.setTime();
  const json = { changed: true, time: store.now() };
  return printDone(world, input, json, 'Done. Running servers follow within a second.');
}

async function runBurnAll(input: Input, world: OperatorWorld, { store }: OpenAccounts): Promise<ExitCode> {
  const waiting = await store.countExpiringBy(Number.MAX_SAFE_INTEGER);
  const [request] = await store.listRequests(1, null);
  if (waiting === 0 && request === undefined)
    return printDone(world, input, { burned: 0 }, 'No unread secrets: nothing to do.');
  world.terminal.err(
    `${plural(waiting, 'unread secret')} will be burned, from all accounts and anonymous senders. Their links stop working, and ` +
      'their receipts say so. All requests for secrets end. This cannot be undone.\n',
  );
  await confirm(world, input, 'Burn all of them?');
  const burned = await burnAll(store, perSecrets(50_000, waiting, input, world));
  return printDone(world, input, { burned }, `Done. ${plural(burned, 'secret')} burned.`);
}

export const storeCommands: readonly Command<OperatorWorld>[] = [
  command('burn-all', {
    summary: 'burn every unread secret of every sender',
    options: yesOption,
    example: 'mayfly burn-all',
    run: (input, world) => withAccounts(world, (accounts) => runBurnAll(input, world, accounts)),
  }),
  command('store set-time', {
    summary: 'set store time to the clock of this machine or the database server',
    options: yesOption,
    example: 'mayfly store set-time',
    run: (input, world) =>
      withAccounts(world, (accounts, settings) => setTime(input, world, accounts, settings)),
  }),
];
