/**
 * What is said of words that name no command.
 *
 * Owns: the nearest command, and the list of those that begin alike. Invariant: a command is suggested only where each of
 * its words is near the one that was given, because "delete" as a whole is not far enough from "create".
 */
import { nearestWord } from '../ops/nearest.ts';
import type { Command } from './command.ts';
import { commands } from './commands.ts';
import { renderUsage } from './help.ts';

/** The commands that begin with all of these words. */
export function commandsBelow(words: readonly string[]): readonly Command[] {
  return commands.filter(({ path }) => words.every((word, index) => path[index] === word));
}

interface Meant {
  /** The known words, or those near them, as far as they lead. */
  readonly words: readonly string[];
  /** How many of the given words were read. */
  readonly count: number;
}

function meantBy(given: readonly string[]): Meant {
  const words: string[] = [];
  for (const word of given) {
    const next = commandsBelow(words).flatMap(({ path }) => path[words.length] ?? []);
    const near = next.includes(word) ? word : nearestWord(word, [...new Set(next)]);
    if (near === null) break;
    words.push(near);
  }
  return { words, count: words.length };
}

function listOf(below: readonly Command[]): string {
  return below.map((command) => `  ${renderUsage(command)}\n`).join('');
}

/** @param args that begin with no command */
export function unknownCommandWords(args: readonly string[]): string {
  if (args[0]?.startsWith('-'))
    return 'Options follow the command: mayfly COMMAND [WORDS] [OPTIONS]. See mayfly help.\n';
  const given = args.filter((arg) => !arg.startsWith('-'));
  const { words, count } = meantBy(given);
  const below = commandsBelow(words);
  const isBegun = count === given.length && words.every((word, index) => word === given[index]);
  if (isBegun) return `Which one?\n${listOf(below)}`;
  const command = below.find(({ path }) => path.length === count);
  // Of what is no command one word more than the known ones is repeated, and no further: it may be a secret.
  const unknown = `There is no command "${given.slice(0, Math.max(1, command === undefined ? count + 1 : count)).join(' ')}".`;
  if (command !== undefined) return `${unknown} Did you mean "${words.join(' ')}"? See mayfly help.\n`;
  return count === 0 ? `${unknown} See mayfly help.\n` : `${unknown} These exist:\n${listOf(below)}`;
}
