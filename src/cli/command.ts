/**
 * A command as a value, and what every command may touch.
 *
 * Results go to standard output and messages to standard error, so that results can be piped. A command returns 0 (done), 1 (refused or
 * failed) or 2 (wrong usage or settings) and never ends the process. No message repeats a value, because it may be the secret (P18).
 */
import type { ConfigReading, Settings } from '../config/read.ts';
import { NotText, readAs, type TextForm, whyUnread } from '../config/text.ts';
import type { ProgramExit } from './programs.ts';
import type { Terminal } from './terminal.ts';

export type ExitCode = 0 | 1 | 2;

/** What every command may touch. `client.ts` and `operator.ts` add what people's and operators' commands need. */
export interface World {
  readonly terminal: Terminal;
  readonly version: string;
  readonly readConfig: () => Promise<ConfigReading>;
  readonly readFile: (path: string) => Promise<Uint8Array>;
}

export interface OptionUsage {
  /** Placeholder for the value, such as `SECONDS`; absent if the option takes none. */
  readonly value?: string;
  /** Such as `q` for `-q`. */
  readonly short?: string;
  readonly isRepeatable?: true;
  /** Distinguishes a value that begins with a hyphen from an option. */
  readonly form?: RegExp;
  /** What to do instead of passing a value to an option that takes none. */
  readonly instead?: string;
  /** Every allowed value; absent if any value is allowed. */
  readonly choices?: readonly string[];
  /** Takes several `choices`, separated by commas. */
  readonly isList?: true;
  readonly doc: string;
}

export interface Input {
  /** As many as the command's usage allows. */
  readonly args: readonly string[];
  /** Values by option name. */
  readonly texts: Readonly<Record<string, string>>;
  /** Values of repeatable options, by name. */
  readonly lists: Readonly<Record<string, readonly string[]>>;
  readonly flags: ReadonlySet<string>;
  readonly json: boolean;
  /** What follows `--`, if the command has a `rest`. */
  readonly rest: readonly string[];
}

/** Without a type argument, this is any command, which can be described but not run. */
export interface Command<in Touched extends World = never> {
  /** Such as `['account', 'create']`. */
  readonly path: readonly string[];
  /** One line. */
  readonly summary: string;
  /** Such as `['EMAIL']`, or `['[LINK]']` if optional. */
  readonly args: readonly string[];
  /** What must follow `--` and is not parsed, such as `COMMAND [ARGS]`. */
  readonly rest?: string;
  /** In addition to `commonOptions`. */
  readonly options?: Readonly<Record<string, OptionUsage>>;
  readonly example: string;
  readonly examples?: readonly string[];
  /** A line below the examples in the help. */
  readonly note?: string;
  /** Every allowed value of an argument, by its name in `args`. */
  readonly choices?: Readonly<Record<string, readonly string[]>>;
  readonly run: (input: Input, world: Touched) => Promise<ExitCode | ProgramExit>;
}

/** @param usage such as `account create EMAIL`, or `run -- COMMAND [ARGS]` */
export function command<Touched extends World>(
  usage: string,
  definition: Omit<Command<Touched>, 'path' | 'args' | 'rest'>,
): Command<Touched> {
  const [own = '', rest] = usage.split(' -- ');
  const words = own.split(' ');
  const path = words.filter((word) => /^[a-z]/.test(word));
  // Not copied, because a getter of the definition may need the finished list of commands.
  return Object.assign(definition, { path, args: words.slice(path.length), ...(rest && { rest }) });
}

/** Commands by heading. */
export type Sections<Touched extends World = never> = Readonly<Record<string, readonly Command<Touched>[]>>;

/** An email address, which may begin with a hyphen (RFC 5321 §4.1.2). No option has an @ before its =. */
export const addressForm = /^[^\s=@]+@[^\s=@]+$/;

export const commonOptions: Readonly<Record<string, OptionUsage>> = {
  json: { doc: 'print the result as JSON' },
  quiet: { short: 'q', doc: 'print only errors and prompts' },
  help: { short: 'h', doc: 'print this help' },
};

export const valueIsNoArgument = 'To share text, pipe it in or type it: arguments stay in the shell history.';

/** Thrown for invalid arguments: exit code 2 and the command's usage. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Thrown for invalid settings, with a sentence for each: exit code 2. */
export class SettingsRefused extends Error {
  override readonly name = 'SettingsRefused';
}

/** Thrown by a command that cannot continue: exit code 1, and `code` with `--json`. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: string;

  constructor(code: string, sentence: string) {
    super(sentence);
    this.code = code;
  }
}

/** Prints a result as JSON with `--json`, otherwise as lines. */
export function printResult(
  { terminal }: World,
  { json: isJson }: Input,
  json: unknown,
  lines: readonly string[],
): ExitCode {
  const text = isJson ? JSON.stringify(json) : lines.join('\n');
  if (isJson || lines.length > 0) terminal.out(`${text}\n`);
  return 0;
}

/** Prints a message, except with `--json`. On a terminal, a tick shows that it is done. */
export function say({ terminal }: World, { json }: Input, message: string, isDone = false): void {
  const tick = isDone && terminal.isErrorSeen ? `${terminal.tint('err', 'done', '✓')} ` : '';
  if (!json) terminal.err(`${tick}${message}\n`);
}

/** Prints even with `--json`. */
export function warn({ terminal }: World, message: string): void {
  terminal.err(`${terminal.tint('err', 'warning', message)}\n`);
}

/** Prints JSON with `--json`, otherwise only a message. */
export function printDone(world: World, input: Input, json: unknown, message: string, isDone = true) {
  say(world, input, message, isDone);
  return printResult(world, input, json, []);
}

/** @throws UsageError */
export function parseNumber(text: string, option: string, max: number, min = 1): number {
  const number = /^[1-9][0-9]{0,3}$/.test(text) ? Number(text) : 0;
  if (number >= min && number <= max) return number;
  throw new UsageError(`${option} takes a whole number, ${min} to ${max}.`);
}

/** @throws SettingsRefused */
export async function readSettings(world: World): Promise<Settings> {
  const reading = await world.readConfig();
  if (reading.outcome === 'read') return reading.settings;
  throw new SettingsRefused(reading.refusals.join('\n'));
}

/**
 * Reads a text that is too private for an argument.
 * @param source a path, or `-` for standard input
 * @throws UsageError if the text is not UTF-8 or the file cannot be read
 */
export async function readTextFrom(source: string, form: TextForm, world: World): Promise<string> {
  try {
    return readAs(form, await (source === '-' ? world.terminal.readInput() : world.readFile(source)));
  } catch (error) {
    if (source !== '-') throw new UsageError(`The file ${source} ${whyUnread(error)}.`);
    if (!(error instanceof NotText)) throw error;
    throw new UsageError('This is not UTF-8 text. Share it as a file: mayfly share FILE.');
  }
}
