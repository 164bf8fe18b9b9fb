/**
 * A command as a value, and what it may touch.
 *
 * Results go to standard output and messages to standard error, so that a result can be piped. A command ends with 0 (done),
 * 1 (refused or failed) or 2 (wrong usage or settings) and never ends the process itself. No message repeats a value, which may be
 * the secret (P18).
 */
import type { ConfigReading, Settings } from '../config/read.ts';
import { NotText, readAs, type TextForm, whyUnread } from '../config/text.ts';
import type { AccountAdminCore } from '../core/accounts/admin.ts';
import type { StoreClock } from '../core/ports/clock.ts';
import type { DomainStore } from '../core/ports/domains.ts';
import type { EpochStore } from '../core/ports/epochs.ts';
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
import type { Clipboard } from './clipboard.ts';
import type { LoginsOutcome } from './logins.ts';
import type { OutputFileOutcome } from './output-file.ts';
import type { ProgramExit, Programs } from './programs.ts';
import type { Terminal } from './terminal.ts';

export type ExitCode = 0 | 1 | 2;

/** The store as an operator's command needs it. */
export interface OpenAccounts extends AccountAdminCore {
  readonly store: AccountAdminCore['store'] &
    DomainStore &
    StoreClock &
    RootStore &
    RotationStore &
    Pick<EpochStore, 'findEpochKey'> &
    Pick<SecretStore, 'findSecret' | 'burnAll' | 'scrub'>;
  close(): Promise<void>;
}

export type OpenAccountsOutcome =
  | { readonly outcome: 'open'; readonly accounts: OpenAccounts }
  /** `no_store`: only a server makes one. */
  | { readonly outcome: 'no_store'; readonly problem: string }
  | { readonly outcome: 'refused'; readonly problem: string };

/** Backups of the store that the settings name, by their file. */
export interface Backups {
  /** Works while the server runs. */
  write(settings: Settings, file: string, onProgress: OnProgress): Promise<BackupOutcome>;
  /** What `restore` would restore, or why it would refuse; changes nothing. */
  preview(settings: Settings, file: string): Promise<BackupOutcome>;
  /** Makes the store, which must not be there yet, with everything burned that waited. */
  restore(settings: Settings, file: string, onProgress: OnProgress): Promise<BackupOutcome>;
}

/** Moves from one store to another. */
export interface Moves {
  move(settings: Settings, asked: StoreMove): Promise<StoreMoveOutcome>;
  /** Ends one that was not finished. */
  cancel(settings: Settings, from: string): Promise<CancelOutcome>;
}

/** A store on a server that was restored there by the server's own means. */
export interface Restores {
  /** What it holds, or why there is nothing to accept; changes nothing. */
  preview(settings: Settings): Promise<BackupOutcome>;
  /** Burns what waited in it; servers may use it again. */
  accept(settings: Settings): Promise<BackupOutcome>;
}

/** What a command may touch; `main.ts` provides the real one. */
export interface World {
  readonly terminal: Terminal;
  readonly version: string;
  readonly readConfig: () => Promise<ConfigReading>;
  /** Why a server would refuse these settings, in sentences. */
  readonly settingProblems: (settings: Settings) => Promise<readonly string[]>;
  /** An address of an installation, in its one spelling. */
  readonly parseServerAddress: (
    text: string,
  ) => Promise<{ readonly value: string } | { readonly problem: string }>;
  /** Opens the store directly: works while the server runs. */
  readonly openAccounts: (settings: Settings) => Promise<OpenAccountsOutcome>;
  readonly backups: Backups;
  readonly moves: Moves;
  readonly restores: Restores;
  /** Brings the tables of the store up to date. @param tell a sentence now and then */
  readonly migrate: (settings: Settings, tell: (words: string) => void) => Promise<MigrateOutcome>;
  /** Serves until told to stop. */
  readonly serve: (settings: Settings) => Promise<ExitCode>;
  /** Routes to the regions until told to stop. */
  readonly route: (settings: Settings) => Promise<ExitCode>;
  /** The checks of `mayfly doctor`; with a recipient they send a test mail. */
  readonly examine: (settings: Settings, recipient: Sensitive<string> | null) => Promise<readonly Finding[]>;
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  /** The status of the answer to a GET without any proxy; `null` when none comes in time. */
  readonly statusOf: (url: string, limitMs: number) => Promise<number | null>;
  readonly random: AccountAdminCore['random'];
  readonly wallClockMs: () => number;
  /** Resolves after so many milliseconds. */
  readonly sleep: (milliseconds: number) => Promise<void>;
  readonly readFile: (path: string) => Promise<Uint8Array>;
  readonly programs: Programs;
  /** @param isReplacing whether a file that is there may be replaced */
  readonly openOutputFile: (path: string, isReplacing: boolean) => Promise<OutputFileOutcome>;
  readonly openLogins: () => Promise<LoginsOutcome>;
  /** The installation that npm fetched this command from; `null` when it is from elsewhere. */
  readonly fetchedFrom: () => Promise<string | null>;
  /** `null` where there is none. */
  readonly openClipboard: () => Promise<Clipboard | null>;
}

export interface OptionUsage {
  readonly type: 'string' | 'boolean';
  /** Placeholder of the value, `SECONDS`; absent for a boolean. */
  readonly value?: string;
  /** `q` for `-q`; absent for most. */
  readonly short?: string;
  /** May be given several times; absent otherwise. */
  readonly isRepeatable?: true;
  /** Of a value that may begin with a hyphen: tells it from an option. */
  readonly form?: RegExp;
  /** What to do where people give a value to an option that takes none. */
  readonly instead?: string;
  /** All that the value may be; absent where it is open. */
  readonly choices?: readonly string[];
  /** Commas part several of `choices`. */
  readonly isList?: true;
  readonly doc: string;
}

export interface Input {
  /** The words after the command, as many as its usage says. */
  readonly words: readonly string[];
  /** By name; absent when not given. */
  readonly texts: Readonly<Record<string, string>>;
  /** Of the options that may be given several times, by name; absent when not given. */
  readonly lists: Readonly<Record<string, readonly string[]>>;
  readonly flags: ReadonlySet<string>;
  readonly json: boolean;
  /** What follows `--`, of a command that has a `rest`; empty otherwise. */
  readonly rest: readonly string[];
}

export interface Command {
  /** `['account', 'create']`. */
  readonly path: readonly string[];
  /** One line. */
  readonly summary: string;
  /** Its arguments: `['EMAIL']`, or `['[LINK]']` when optional; absent for none. */
  readonly words?: readonly string[];
  /** What must follow `--`, which is not read as options: `COMMAND [ARGS]`; absent when nothing may. */
  readonly rest?: string;
  /** In addition to the options of every command. */
  readonly options?: Readonly<Record<string, OptionUsage>>;
  readonly example: string;
  /** Further ones. */
  readonly examples?: readonly string[];
  /** A line under them in the help. */
  readonly note?: string;
  /** All that a word may be, by its name in `words`. */
  readonly choices?: Readonly<Record<string, readonly string[]>>;
  readonly run: (input: Input, world: World) => Promise<ExitCode | ProgramExit>;
}

/** An e-mail address, which may begin with a hyphen (RFC 5321 §4.1.2). No option has an @ before its =. */
export const addressForm = /^[^\s=@]+@[^\s=@]+$/;

/** Options of every command. */
export const commonOptions: Readonly<Record<string, OptionUsage>> = {
  json: { type: 'boolean', doc: 'print the result as JSON' },
  quiet: { type: 'boolean', short: 'q', doc: 'no words on standard error, unless it fails or asks' },
  help: { type: 'boolean', short: 'h', doc: 'print this help' },
};

export const valueIsNoWord =
  'To share a text, pipe it in or type it: an argument stays in the history of your shell.';

/** Thrown by a command for invalid arguments: exit code 2 and the command's usage. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Thrown where the settings are wrong, with a sentence for each: exit code 2. */
export class SettingsRefused extends Error {
  override readonly name = 'SettingsRefused';
}

/** Thrown by a command that cannot go on: exit code 1, and `code` with `--json`. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: string;

  constructor(code: string, sentence: string) {
    super(sentence);
    this.code = code;
  }
}

/** A result: JSON when asked for, else lines. The command is then done. */
export function printResult(world: World, input: Input, json: unknown, lines: readonly string[]): ExitCode {
  const text = input.json ? JSON.stringify(json) : lines.join('\n');
  if (input.json || lines.length > 0) world.terminal.out(`${text}\n`);
  return 0;
}

/** A refusal: a sentence for people, and with `--json` its code on standard output. */
export function refuse(world: World, input: Input, code: string, sentence: string): ExitCode {
  if (input.json) world.terminal.out(`${JSON.stringify({ error: code })}\n`);
  world.terminal.err(`${sentence}\n`);
  return 1;
}

/** Asks, unless `--yes` says so already. `null` for a yes; else the command ends so, and has changed nothing. */
export async function unlessConfirmed(
  world: World,
  input: Input,
  question: string,
): Promise<ExitCode | null> {
  if (input.flags.has('yes')) return null;
  const answer = await world.terminal.ask(`${question} [y/N] `);
  if (answer === null) return refuse(world, input, 'not_confirmed', 'Nobody can be asked here: add --yes.');
  return /^y(es)?$/i.test(answer.trim())
    ? null
    : refuse(world, input, 'not_confirmed', 'Nothing was changed.');
}

/** @throws SettingsRefused */
export async function readSettings(world: World): Promise<Settings> {
  const reading = await world.readConfig();
  if (reading.outcome === 'read') return reading.settings;
  throw new SettingsRefused(reading.refusals.join('\n'));
}

/**
 * A text that is too private for an argument.
 * @param source a path, or `-` for standard input
 * @throws UsageError when it is not UTF-8, or the file cannot be read
 */
export async function readTextFrom(source: string, form: TextForm, world: World): Promise<string> {
  try {
    return readAs(form, await (source === '-' ? world.terminal.readInput() : world.readFile(source)));
  } catch (error) {
    if (source !== '-') throw new UsageError(`The file ${source} ${whyUnread(error)}.`);
    if (!(error instanceof NotText)) throw error;
    throw new UsageError('This is not UTF-8 text. Share other data as a file: mayfly share FILE.');
  }
}
