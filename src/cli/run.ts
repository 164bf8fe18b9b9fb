/**
 * From arguments to a command and its exit code.
 *
 * Owns: finding the command or its help, and what a fault of it says. Invariant: a command runs only when every argument
 * was understood; nothing of an unexpected error but its class reaches the terminal (P18).
 */
import { readInput } from './arguments.ts';
import { type Command, type ExitCode, type Input, refuse, UsageError, type World } from './command.ts';
import { commands, sections } from './commands.ts';
import { renderCommandHelp, renderOverview, renderUsage } from './help.ts';
import { commandsBelow, unknownCommandWords } from './unknown-command.ts';

/** The command with the longest path that the arguments begin with. */
function findCommand(args: readonly string[]): Command | null {
  const matching = commands.filter(({ path }) => path.every((word, index) => args[index] === word));
  return matching.sort((a, b) => b.path.length - a.path.length)[0] ?? null;
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

const isWord = (arg: string): boolean => !arg.startsWith('-');

/** The help of a command, or the usage of all that begin with these words. */
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
export async function runCommand(args: readonly string[], world: World): Promise<ExitCode> {
  const [first, ...rest] = args;
  if (first === undefined) {
    world.terminal.err(renderOverview(sections));
    return 2;
  }
  if (first === '--version') return runCommand(['version'], world);
  if (first === '--help' || first === '-h') return runCommand(['help'], world);
  if (first === 'help' && rest.some(isWord)) return printHelp(rest.filter(isWord), world);
  const command = findCommand(args);
  if (command !== null) return runFound(command, args.slice(command.path.length), world);
  const asksForHelp = isWord(first) && rest.some((arg) => arg === '--help' || arg === '-h');
  return asksForHelp ? printHelp(args.filter(isWord), world) : refuseUnknown(args, world);
}
