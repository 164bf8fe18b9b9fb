/**
 * Finds and runs the command that the arguments name.
 *
 * A command runs only if every argument was understood. Only the class and code of an unexpected error reach the terminal (P18).
 */
import { nearestWord } from '../config/nearest.ts';
import { ServiceError } from '../core/errors.ts';
import {
  type Command,
  type ExitCode,
  type Input,
  Refusal,
  type Sections,
  SettingsRefused,
  UsageError,
  type World,
} from './command.ts';
import { interruptedExit, type ProgramExit } from './programs.ts';
import { readInput, renderCommandHelp, renderOverview, renderUsage } from './shell.ts';
import { heldBack, Interrupted } from './terminal.ts';

function commandsBelow(commands: readonly Command[], words: readonly string[]): readonly Command[] {
  return commands.filter(({ path }) => words.every((word, index) => path[index] === word));
}

/** Returns the longest prefix of the given words that begins a command, with typos corrected. */
function meantBy(commands: readonly Command[], given: readonly string[]): readonly string[] {
  const words: string[] = [];
  for (const word of given) {
    const next = commandsBelow(commands, words).flatMap(({ path }) => path[words.length] ?? []);
    const near = next.includes(word) ? word : nearestWord(word, [...new Set(next)]);
    if (near === null) break;
    words.push(near);
  }
  return words;
}

function listOf(below: readonly Command[]): string {
  return below.map((command) => `  ${renderUsage(command)}\n`).join('');
}

/** Quotes nothing after the first unknown word, because it may be a secret. */
function unknownIn(given: readonly string[], words: readonly string[], isWhole: boolean): string {
  const shown = given.slice(0, isWhole ? words.length : words.length + 1);
  return `There is no command "${shown.join(' ')}".`;
}

/** Suggests the nearest command or lists those with the same prefix. Compares word by word, because "delete" is too close to "create". */
function unknownCommandWords(commands: readonly Command[], args: readonly string[]): string {
  if (args[0]?.startsWith('-'))
    return 'Options follow the command: mayfly COMMAND [ARGUMENTS] [OPTIONS]. See mayfly help.\n';
  const given = args.filter((arg) => !arg.startsWith('-'));
  const words = meantBy(commands, given);
  const below = commandsBelow(commands, words);
  const isCommand = below.some(({ path }) => path.length === words.length);
  const isAsGiven = words.every((word, index) => word === given[index]);
  if (isAsGiven && words.length === given.length)
    return `"${words.join(' ')}" is not a complete command. Did you mean one of these?\n${listOf(below)}`;
  const unknown = unknownIn(given, words, isCommand || words.length === given.length);
  if (words.length === 0) return `${unknown} See mayfly help.\n`;
  const hint = isAsGiven ? '' : ` Did you mean "${words.join(' ')}"?`;
  return isCommand ? `${unknown}${hint} See mayfly help.\n` : `${unknown}${hint} Commands:\n${listOf(below)}`;
}

/** The longest match wins. */
function findCommand<Found extends Command>(
  commands: readonly Found[],
  args: readonly string[],
): Found | null {
  const matching = commands.filter(({ path }) => path.every((word, index) => args[index] === word));
  return matching.sort((a, b) => b.path.length - a.path.length)[0] ?? null;
}

function usageWords(command: Command): string {
  return `Usage: ${renderUsage(command)}\nSee mayfly ${command.path.join(' ')} --help.\n`;
}

const unheard: Input = { args: [], texts: {}, lists: {}, flags: new Set(), json: false, rest: [] };

async function runQuietly<Touched extends World>(
  command: Command<Touched>,
  input: Input,
  world: Touched,
): Promise<ExitCode | ProgramExit> {
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
  'The store did not confirm in time. Check whether it was done before you try again; mayfly doctor says what is wrong.';

/** Prints a sentence and, with `--json`, the code on standard output. */
function refuse({ terminal }: World, { json }: Input, code: string, sentence: string): ExitCode {
  if (json) terminal.out(`${JSON.stringify({ error: code })}\n`);
  terminal.err(`${terminal.tint('err', 'refusal', sentence)}\n`);
  return 1;
}

async function runFound<Touched extends World>(
  command: Command<Touched>,
  args: readonly string[],
  world: Touched,
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
    if (error instanceof UsageError || error instanceof SettingsRefused) {
      const usage = error instanceof UsageError ? usageWords(command) : '';
      world.terminal.err(`${world.terminal.tint('err', 'refusal', error.message)}\n${usage}`);
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

function refuseUnknown(commands: readonly Command[], args: readonly string[], { terminal }: World): ExitCode {
  terminal.err(unknownCommandWords(commands, args));
  return 2;
}

/** Prints help for a command, or the usage of all commands with this prefix. */
function printHelp(commands: readonly Command[], words: readonly string[], world: World): ExitCode {
  const command = findCommand(commands, words);
  const below = commandsBelow(commands, words);
  if (command === null && below.length === 0) return refuseUnknown(commands, words, world);
  world.terminal.out(command === null ? listOf(below) : renderCommandHelp(command));
  return 0;
}

export async function runCommand<Touched extends World>(
  args: readonly string[],
  sections: Sections<Touched>,
  world: Touched,
): Promise<ExitCode | ProgramExit> {
  const [first, ...rest] = args;
  if (first === undefined) {
    world.terminal.err(renderOverview(sections));
    return 2;
  }
  if (first === '--version' || first === '-V') return runCommand(['version'], sections, world);
  if (first === '--help' || first === '-h')
    return runCommand(['help', ...rest.filter(isWord)], sections, world);
  const commands = Object.values(sections).flat();
  if (first === 'help' && rest.some(isWord)) return printHelp(commands, rest.filter(isWord), world);
  const command = findCommand(commands, args);
  if (command !== null) return runFound(command, args.slice(command.path.length), world);
  const asksForHelp = isWord(first) && rest.some((arg) => arg === '--help' || arg === '-h');
  return asksForHelp ? printHelp(commands, args.filter(isWord), world) : refuseUnknown(commands, args, world);
}
