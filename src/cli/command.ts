/**
 * A command: one word or two, as a value.
 *
 * Owns: the shape that `run.ts` dispatches and `help.ts` prints, and the world a command may touch. Invariant: results
 * go to standard output and words to standard error, so that a result can be piped; a command ends with 0 (done),
 * 1 (refused or failed) or 2 (wrong usage or settings) and never ends the process itself.
 */
import type { ParseArgsOptionsConfig } from 'node:util';
import type { Config, ConfigReading } from '../config/read.ts';
import type { AccountAdminCore } from '../core/accounts/admin.ts';
import type { DomainStore } from '../core/ports.ts';
import type { Sensitive } from '../core/sensitive.ts';
import type { StoreClock } from '../core/time.ts';
import type { Finding } from '../ops/doctor.ts';
import type { Terminal } from './terminal.ts';

export type ExitCode = 0 | 1 | 2;

/** The store as an operator's command needs it. */
export interface OpenAccounts extends AccountAdminCore {
  readonly store: AccountAdminCore['store'] & DomainStore & StoreClock;
  close(): Promise<void>;
}

export type OpenAccountsOutcome =
  | { readonly outcome: 'open'; readonly accounts: OpenAccounts }
  /** `no_store`: none was ever made there, and only a server makes one. */
  | { readonly outcome: 'no_store'; readonly problem: string }
  | { readonly outcome: 'refused'; readonly problem: string };

/** What a command may touch; `main.ts` brings the real one. */
export interface World {
  readonly terminal: Terminal;
  readonly version: string;
  readonly readConfig: () => ConfigReading;
  /** Opens the store directly: works while the server runs. */
  readonly openAccounts: (config: Config) => Promise<OpenAccountsOutcome>;
  /** Serves until told to stop. */
  readonly serve: (config: Config) => Promise<ExitCode>;
  /** Stands before the regions until told to stop. */
  readonly route: (config: Config) => Promise<ExitCode>;
  /** The checks of `mayfly doctor`; with a recipient they send a test mail. */
  readonly examine: (config: Config, recipient: Sensitive<string> | null) => Promise<readonly Finding[]>;
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly readFile: (path: string) => Promise<Uint8Array>;
}

export interface OptionUsage {
  readonly type: 'string' | 'boolean';
  /** What stands for the value, `SECONDS`; absent for a boolean. */
  readonly value?: string;
  readonly doc: string;
}

export interface Input {
  /** The words after the command's own, as many as its usage says. */
  readonly words: readonly string[];
  /** By name; absent when not given. */
  readonly texts: Readonly<Record<string, string>>;
  readonly flags: ReadonlySet<string>;
  readonly json: boolean;
}

export interface Command {
  /** `['account', 'create']`. */
  readonly path: readonly string[];
  /** One line. */
  readonly summary: string;
  /** What the words after it are: `['EMAIL']`; in brackets where they may be left out: `['[LINK]']`. */
  readonly words: readonly string[];
  readonly options: Readonly<Record<string, OptionUsage>>;
  readonly example: string;
  readonly run: (input: Input, world: World) => Promise<ExitCode>;
}

/** What the help of every command lists too. */
export const commonOptions: Readonly<Record<string, OptionUsage>> = {
  json: { type: 'boolean', doc: 'print the result as JSON' },
  help: { type: 'boolean', doc: 'print this help' },
};

export function parseArgsOptions(command: Command): ParseArgsOptionsConfig {
  const all = { ...command.options, ...commonOptions };
  const options = Object.entries(all).map(([name, { type }]) => [name, { type }] as const);
  return { ...Object.fromEntries(options), help: { type: 'boolean', short: 'h' } };
}

/** Thrown by a command for words or options that make no sense: exit code 2 and the command's usage. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** A result: JSON when asked for, else lines. */
export function printResult(world: World, input: Input, json: unknown, lines: readonly string[]): void {
  const text = input.json ? JSON.stringify(json) : lines.join('\n');
  if (input.json || lines.length > 0) world.terminal.out(`${text}\n`);
}

/** A refusal: a sentence for people, and with `--json` its code on standard output. */
export function refuse(world: World, input: Input, code: string, sentence: string): ExitCode {
  if (input.json) world.terminal.out(`${JSON.stringify({ error: code })}\n`);
  world.terminal.err(`${sentence}\n`);
  return 1;
}

/** The settings; or `null`, and the reasons are on standard error: the command ends with 2. */
export function configOrWords(world: World): Config | null {
  const reading = world.readConfig();
  if (reading.outcome === 'read') return reading.config;
  for (const refusal of reading.refusals) world.terminal.err(`${refusal}\n`);
  return null;
}
