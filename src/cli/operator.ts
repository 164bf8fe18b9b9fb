/** What operators' commands share: access to the store, confirmation and progress. */
import type { Settings } from '../config/read.ts';
import type { Account } from '../core/account.ts';
import type { AccountAdminCore } from '../core/accounts/admin.ts';
import { unseenWords, usernameOf } from '../core/mail/recipients.ts';
import type { StoreClock } from '../core/ports/clock.ts';
import type { DomainStore } from '../core/ports/domains.ts';
import type { EpochStore } from '../core/ports/epochs.ts';
import type { RequestStore } from '../core/ports/requests.ts';
import type { RootStore, RotationStore } from '../core/ports/roots.ts';
import type { SecretStore } from '../core/ports/secrets.ts';
import type { Sensitive } from '../core/sensitive.ts';
import type {
  BackupOutcome,
  CancelOutcome,
  MigrateOutcome,
  OnProgress,
  StoreMove,
  StoreMoveOutcome,
} from '../core/store-copies.ts';
import type { Finding } from '../ops/doctor.ts';
import { type ExitCode, type Input, Refusal, readSettings, type World } from './command.ts';

export interface OpenAccounts extends AccountAdminCore {
  readonly store: AccountAdminCore['store'] &
    DomainStore &
    StoreClock &
    RootStore &
    RotationStore &
    Pick<EpochStore, 'findEpochKey'> &
    Pick<SecretStore, 'findSecret' | 'burnAll' | 'scrub'> &
    Pick<RequestStore, 'listRequests' | 'endRequest' | 'endRequests'>;
  close(): Promise<void>;
}

export type OpenAccountsOutcome =
  | { readonly outcome: 'open'; readonly accounts: OpenAccounts }
  /** `no_store`: no store exists yet, and only a server creates one. */
  | { readonly outcome: 'no_store' | 'refused'; readonly problem: string };

export interface Backups {
  /** Works while the server runs. */
  write(settings: Settings, file: string, onProgress: OnProgress): Promise<BackupOutcome>;
  /** Reports what `restore` would restore, or why it would refuse; changes nothing. */
  preview(settings: Settings, file: string): Promise<BackupOutcome>;
  /** Creates the store, which must not exist yet, and burns every secret that was waiting. */
  restore(settings: Settings, file: string, onProgress: OnProgress): Promise<BackupOutcome>;
}

export interface Moves {
  move(settings: Settings, asked: StoreMove): Promise<StoreMoveOutcome>;
  /** Cancels an unfinished move. */
  cancel(settings: Settings, from: string): Promise<CancelOutcome>;
}

/** For a store on a database server, restored with the server's own tools. */
export interface Restores {
  /** Reports what the store contains, or why there is nothing to accept; changes nothing. */
  preview(settings: Settings): Promise<BackupOutcome>;
  /** Burns every waiting secret, so that servers may use the store again. */
  accept(settings: Settings): Promise<BackupOutcome>;
}

export interface OperatorWorld extends World {
  /** Explains why a server would refuse these settings. */
  readonly settingProblems: (settings: Settings) => Promise<readonly string[]>;
  /** Opens the store directly, even while a server runs. */
  readonly openAccounts: (settings: Settings) => Promise<OpenAccountsOutcome>;
  readonly backups: Backups;
  readonly moves: Moves;
  readonly restores: Restores;
  /** Brings the store's tables up to date. @param tell receives a progress sentence now and then */
  readonly migrate: (settings: Settings, tell: (sentence: string) => void) => Promise<MigrateOutcome>;
  readonly serve: (settings: Settings) => Promise<ExitCode>;
  readonly route: (settings: Settings) => Promise<ExitCode>;
  /** Runs the checks of `mayfly doctor`; with a recipient, also sends a test email. */
  readonly examine: (settings: Settings, recipient: Sensitive<string> | null) => Promise<readonly Finding[]>;
  /** Returns the status of a GET without a proxy, or `null` if none arrives in time. */
  readonly statusOf: (url: string, limitMs: number) => Promise<number | null>;
  readonly random: AccountAdminCore['random'];
  readonly wallClockMs: () => number;
  readonly sleep: (milliseconds: number) => Promise<void>;
}

export async function withAccounts(
  world: OperatorWorld,
  work: (accounts: OpenAccounts, settings: Settings) => Promise<ExitCode>,
): Promise<ExitCode> {
  const settings = await readSettings(world);
  const opened = await world.openAccounts(settings);
  if (opened.outcome !== 'open')
    throw new Refusal(opened.outcome === 'no_store' ? 'no_store' : 'unavailable', opened.problem);
  try {
    return await work(opened.accounts, settings);
  } finally {
    await opened.accounts.close();
  }
}

export function unknownAccount(email: string): Refusal {
  return new Refusal('no_account', `There is no account ${email}${unseenWords(email)}.`);
}

/** Like `withAccounts`, for the account that the first argument names. */
export function withAccount(
  { args: [email = ''] }: Input,
  world: OperatorWorld,
  work: (accounts: OpenAccounts, account: Account, settings: Settings) => Promise<ExitCode>,
): Promise<ExitCode> {
  return withAccounts(world, async (accounts, settings) => {
    const account = await accounts.store.findAccount(usernameOf(email));
    if (account === null) throw unknownAccount(email);
    return work(accounts, account, settings);
  });
}

/** Asks for confirmation, except with `--yes`. @throws Refusal unless the answer is yes */
export async function confirm({ terminal }: World, { flags }: Input, question: string): Promise<void> {
  if (flags.has('yes')) return;
  const answer = await terminal.ask(`${terminal.tint('err', 'warning', question)} [y/N] `);
  if (answer === null) throw new Refusal('not_confirmed', 'No terminal to ask for confirmation: add --yes.');
  if (!/^y(es)?$/i.test(answer.trim())) throw new Refusal('not_confirmed', 'Nothing was changed.');
}

export const yesOption = { yes: { doc: 'do not ask for confirmation' } } as const;

/** Prints progress every `step` secrets, except with `--json`. */
export function perSecrets(step: number, all: number, input: Input, { terminal }: World) {
  let shown = 0;
  return (soFar: number): void => {
    if (input.json || soFar < shown + step) return;
    shown = soFar;
    terminal.err(`${soFar} of ${all}\n`);
  };
}

/** Prints progress every 10 %, up to `last` tenths, except with `--json`. @param amount formats the whole */
export function perTenth(last: number, amount: (all: number) => string, input: Input, { terminal }: World) {
  let shownTenths = 0;
  return (done: number, all: number): void => {
    const tenths = Math.min(last, Math.floor((10 * done) / Math.max(1, all)));
    if (input.json || tenths <= shownTenths) return;
    shownTenths = tenths;
    terminal.err(`${tenths * 10} % of ${amount(all)}\n`);
  };
}
