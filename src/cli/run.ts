/**
 * All commands, their help, and running one.
 *
 * A command runs only when every argument was understood. Nothing of an unexpected error but its class reaches the terminal (P18).
 */
import { nearestWord } from '../config/nearest.ts';
import { ServiceError } from '../core/errors.ts';
import { accessCommands } from './account-access.ts';
import { accountCommands, tokenCommands } from './accounts.ts';
import { backupCommands } from './backups.ts';
import {
  type Command,
  type ExitCode,
  type Input,
  printResult,
  Refusal,
  refuse,
  SettingsRefused,
  UsageError,
  type World,
} from './command.ts';
import { renderCompletion, shells } from './completion.ts';
import { configCommands } from './config.ts';
import { domainCommands } from './domains.ts';
import { environmentCommands } from './environment.ts';
import { healthCommands } from './health.ts';
import { keyCommands } from './keys.ts';
import { loginCommands } from './login.ts';
import { renderManual } from './man.ts';
import { moveCommands } from './migrate-store.ts';
import { interruptedExit, type ProgramExit } from './programs.ts';
import { receiptCommands } from './receipts.ts';
import { revealCommands } from './reveal.ts';
import { secretCommands } from './secrets.ts';
import { routerCommands, serverCommands, storeCommands } from './server.ts';
import { readInput, renderCommandHelp, renderOverview, renderUsage } from './shell.ts';
import { heldBack, Interrupted } from './terminal.ts';

const aboutCommands: readonly Command[] = [
  {
    path: ['help'],
    summary: 'print this overview, or the help of a command',
    words: ['[COMMAND]'],
    get choices() {
      return { COMMAND: [...new Set(commands.flatMap(({ path }) => path[0] ?? []))] };
    },
    example: 'mayfly help share',
    run: async (input, world) => {
      const help = renderOverview(sections);
      return printResult(world, input, { help }, [help.trimEnd()]);
    },
  },
  {
    path: ['completion'],
    summary: 'print a script that completes commands, options and values in a shell',
    words: ['SHELL'],
    choices: { SHELL: shells },
    example: 'mayfly completion bash > ~/.local/share/bash-completion/completions/mayfly',
    examples: [
      'mayfly completion fish > ~/.config/fish/completions/mayfly.fish',
      'mayfly completion zsh > ~/.zfunc/_mayfly',
      'source <(mayfly completion bash)',
    ],
    note: 'For zsh, ~/.zshrc has: fpath+=(~/.zfunc); autoload -U compinit; compinit',
    run: async (input, world) => {
      const shell = shells.find((known) => known === input.words[0]);
      if (shell === undefined) throw new UsageError(`SHELL is one of ${shells.join(', ')}.`);
      const script = renderCompletion(shell, commands);
      return printResult(world, input, { shell, script }, [script.trimEnd()]);
    },
  },
  {
    path: ['man'],
    summary: 'print the manual page, for man(1)',
    example: 'mayfly man | man -l -',
    examples: ['mayfly man > /usr/local/share/man/man1/mayfly.1'],
    run: async (input, world) => {
      const manual = renderManual(sections, world.version);
      return printResult(world, input, { manual }, [manual.trimEnd()]);
    },
  },
  {
    path: ['version'],
    summary: 'print the version',
    example: 'mayfly version',
    run: async ({ json }, { terminal, version }) => {
      terminal.out(json ? `${JSON.stringify({ version })}\n` : `${version}\n`);
      return 0;
    },
  },
];

export const sections: Readonly<Record<string, readonly Command[]>> = {
  'Share and read (talks to a server)': [
    ...secretCommands,
    ...revealCommands,
    ...environmentCommands,
    ...receiptCommands,
    ...loginCommands,
  ],
  'Run a server': [
    ...serverCommands,
    ...configCommands,
    ...healthCommands,
    ...storeCommands,
    ...backupCommands,
    ...moveCommands,
    ...keyCommands,
    ...routerCommands,
  ],
  'Manage its accounts (on its machine)': [
    ...accountCommands,
    ...accessCommands,
    ...tokenCommands,
    ...domainCommands,
  ],
  About: aboutCommands,
};

export const commands: readonly Command[] = Object.values(sections).flat();

/** The commands that begin with all of these words. */
function commandsBelow(words: readonly string[]): readonly Command[] {
  return commands.filter(({ path }) => words.every((word, index) => path[index] === word));
}

/** The longest run of known words, or near ones, that the given ones begin with. */
function meantBy(given: readonly string[]): readonly string[] {
  const words: string[] = [];
  for (const word of given) {
    const next = commandsBelow(words).flatMap(({ path }) => path[words.length] ?? []);
    const near = next.includes(word) ? word : nearestWord(word, [...new Set(next)]);
    if (near === null) break;
    words.push(near);
  }
  return words;
}

function listOf(below: readonly Command[]): string {
  return below.map((command) => `  ${renderUsage(command)}\n`).join('');
}

/** The words given, up to the first unknown one: what follows may be a secret. */
function unknownIn(given: readonly string[], words: readonly string[], isWhole: boolean): string {
  const shown = given.slice(0, isWhole ? words.length : words.length + 1);
  return `There is no command "${shown.join(' ')}".`;
}

/**
 * Names the nearest command, or lists those that begin alike. Each word must be near on its own, because "delete" as a whole is too
 * near to "create".
 * @param args that begin with no command
 */
function unknownCommandWords(args: readonly string[]): string {
  if (args[0]?.startsWith('-'))
    return 'Options follow the command: mayfly COMMAND [WORDS] [OPTIONS]. See mayfly help.\n';
  const given = args.filter((arg) => !arg.startsWith('-'));
  const words = meantBy(given);
  const below = commandsBelow(words);
  const isCommand = below.some(({ path }) => path.length === words.length);
  const isAsGiven = words.every((word, index) => word === given[index]);
  if (isAsGiven && words.length === given.length)
    return `"${words.join(' ')}" is not a whole command. These exist:\n${listOf(below)}`;
  const unknown = unknownIn(given, words, isCommand || words.length === given.length);
  if (words.length === 0) return `${unknown} See mayfly help.\n`;
  const hint = isAsGiven ? '' : ` Did you mean "${words.join(' ')}"?`;
  return isCommand
    ? `${unknown}${hint} See mayfly help.\n`
    : `${unknown}${hint} These exist:\n${listOf(below)}`;
}

/** The command with the longest path that the arguments begin with. */
function findCommand(args: readonly string[]): Command | null {
  const matching = commands.filter(({ path }) => path.every((word, index) => args[index] === word));
  return matching.sort((a, b) => b.path.length - a.path.length)[0] ?? null;
}

function usageWords(command: Command): string {
  return `Usage: ${renderUsage(command)}\nSee mayfly ${command.path.join(' ')} --help.\n`;
}

const unheard: Input = { words: [], texts: {}, lists: {}, flags: new Set(), json: false, rest: [] };

async function runQuietly(command: Command, input: Input, world: World): Promise<ExitCode | ProgramExit> {
  const held = heldBack(world.terminal);
  let code: ExitCode | ProgramExit = 1;
  try {
    code = await command.run(input, { ...world, terminal: held.terminal });
    return code;
  } finally {
    if (code !== 0) held.release();
  }
}

const unconfirmed =
  'The store did not confirm in time. See whether it was done before you try again; mayfly doctor says what is wrong.';

async function runFound(
  command: Command,
  args: readonly string[],
  world: World,
): Promise<ExitCode | ProgramExit> {
  let input: Input | null = null;
  try {
    input = readInput(command, args);
    if (input.flags.has('help')) {
      world.terminal.out(renderCommandHelp(command));
      return 0;
    }
    return await (input.flags.has('quiet') ? runQuietly(command, input, world) : command.run(input, world));
  } catch (error) {
    if (error instanceof UsageError) {
      world.terminal.err(`${error.message}\n${usageWords(command)}`);
      return 2;
    }
    if (error instanceof SettingsRefused) {
      world.terminal.err(`${error.message}\n`);
      return 2;
    }
    if (error instanceof Interrupted) return interruptedExit;
    const heard = input ?? unheard;
    if (error instanceof Refusal) return refuse(world, heard, error.code, error.message);
    if (error instanceof ServiceError && error.code === 'unavailable')
      return refuse(world, heard, 'unavailable', unconfirmed);
    const name = error instanceof Error ? error.name : 'unknown error';
    const code = error instanceof Error && 'code' in error ? ` ${String(error.code)}` : '';
    const sentence = `mayfly ${command.path.join(' ')} failed (${name}${code}).`;
    return refuse(world, heard, 'failed', sentence);
  }
}

const isWord = (arg: string): boolean => !arg.startsWith('-');

/** The help of a command, or the usage of all commands that begin with these words. */
function printHelp(words: readonly string[], world: World): ExitCode {
  const command = findCommand(words);
  const below = commandsBelow(words);
  if (command === null && below.length === 0) return refuseUnknown(words, world);
  const usages = below.map((each) => `  ${renderUsage(each)}\n`).join('');
  world.terminal.out(command === null ? usages : renderCommandHelp(command));
  return 0;
}

function refuseUnknown(args: readonly string[], world: World): ExitCode {
  world.terminal.err(unknownCommandWords(args));
  return 2;
}

/** Runs the command that the arguments name. */
export async function runCommand(args: readonly string[], world: World): Promise<ExitCode | ProgramExit> {
  const [first, ...rest] = args;
  if (first === undefined) {
    world.terminal.err(renderOverview(sections));
    return 2;
  }
  if (first === '--version' || first === '-V') return runCommand(['version'], world);
  if (first === '--help' || first === '-h') return runCommand(['help', ...rest.filter(isWord)], world);
  if (first === 'help' && rest.some(isWord)) return printHelp(rest.filter(isWord), world);
  const command = findCommand(args);
  if (command !== null) return runFound(command, args.slice(command.path.length), world);
  const asksForHelp = isWord(first) && rest.some((arg) => arg === '--help' || arg === '-h');
  return asksForHelp ? printHelp(args.filter(isWord), world) : refuseUnknown(args, world);
}
