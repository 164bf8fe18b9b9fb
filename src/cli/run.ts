/**
 * From arguments to a command and its exit code.
 *
 * Owns: finding the command, reading its options, and what a fault of either says. Invariant: a command runs only when
 * every argument was understood; nothing of an unexpected error but its class reaches the terminal (P18).
 */
import { parseArgs } from 'node:util';
import { nearestWord } from '../ops/nearest.ts';
import {
  type Command,
  type ExitCode,
  type Input,
  parseArgsOptions,
  refuse,
  UsageError,
  type World,
} from './command.ts';
import { commands, sections } from './commands.ts';
import { renderCommandHelp, renderOverview, renderUsage } from './help.ts';

/** The command with the longest path that the arguments begin with. */
function findCommand(args: readonly string[]): Command | null {
  const matching = commands.filter(({ path }) => path.every((word, index) => args[index] === word));
  return matching.sort((a, b) => b.path.length - a.path.length)[0] ?? null;
}

/** Whether the words are the beginning of some commands, `account` or `account token`. */
function beginningWith(args: readonly string[]): readonly Command[] {
  const words = args.filter((word) => !word.startsWith('-'));
  return words.length === 0
    ? []
    : commands.filter(({ path }) => words.every((word, index) => path[index] === word));
}

function refuseUnknown(args: readonly string[], world: World): ExitCode {
  const [first = ''] = args;
  const group = beginningWith(args);
  if (group.length > 0) {
    world.terminal.err(`Which one?\n${group.map((command) => `  ${renderUsage(command)}\n`).join('')}`);
    return 2;
  }
  const near = nearestWord(first, [...new Set(commands.map(({ path }) => path[0] ?? ''))]);
  const hint = near === null ? '' : ` Did you mean "${near}"?`;
  world.terminal.err(`There is no command "${first}".${hint} See mayfly help.\n`);
  return 2;
}

function assertWordCount(command: Command, words: readonly string[]): void {
  const required = command.words.filter((word) => !word.startsWith('['));
  const missing = required[words.length];
  if (missing !== undefined) throw new UsageError(`${missing} is missing.`);
  const extra = words[command.words.length];
  // Not quoted: it may be the secret that somebody meant to share.
  if (extra !== undefined) throw new UsageError('There is a word too many.');
}

/** Throws `UsageError` where the arguments make no sense. */
function readInput(command: Command, args: readonly string[]): Input {
  let parsed: { values: Record<string, unknown>; positionals: string[] };
  try {
    const options = parseArgsOptions(command);
    parsed = parseArgs({ args: [...args], options, allowPositionals: true, strict: true }) as typeof parsed;
  } catch (error) {
    // Its sentences name the option, never its value.
    throw new UsageError(
      error instanceof Error ? (error.message.split('. ')[0] ?? '') : 'The options make no sense.',
    );
  }
  const { values, positionals } = parsed;
  const texts: Record<string, string> = {};
  const flags = new Set<string>();
  for (const [name, value] of Object.entries(values)) {
    if (typeof value === 'string') texts[name] = value;
    if (value === true) flags.add(name);
  }
  if (!flags.has('help')) assertWordCount(command, positionals);
  return { words: positionals, texts, flags, json: flags.has('json') };
}

async function runFound(command: Command, args: readonly string[], world: World): Promise<ExitCode> {
  let input: Input | null = null;
  try {
    input = readInput(command, args);
    if (input.flags.has('help')) {
      world.terminal.out(renderCommandHelp(command));
      return 0;
    }
    return await command.run(input, world);
  } catch (error) {
    if (error instanceof UsageError) {
      world.terminal.err(`${error.message}\nUsage: ${renderUsage(command)}\n`);
      return 2;
    }
    const name = error instanceof Error ? error.name : 'unknown error';
    const code = error instanceof Error && 'code' in error ? ` ${String(error.code)}` : '';
    const sentence = `mayfly ${command.path.join(' ')} failed (${name}${code}).`;
    return refuse(
      world,
      input ?? { words: [], texts: {}, flags: new Set(), json: false },
      'failed',
      sentence,
    );
  }
}

/** Runs the command that the arguments name. */
export async function runCommand(args: readonly string[], world: World): Promise<ExitCode> {
  const [first] = args;
  if (first === undefined) {
    world.terminal.err(renderOverview(sections));
    return 2;
  }
  if (first === '--version') return runCommand(['version'], world);
  if (first === '--help' || first === '-h') return runCommand(['help'], world);
  const command = findCommand(args);
  return command === null
    ? refuseUnknown(args, world)
    : runFound(command, args.slice(command.path.length), world);
}
