/**
 * What is said of words that name no command.
 *
 * Owns: the nearest command, and the list of those that begin alike. Invariant: a command is suggested only where each of
 * its words is near the one that was given, because "delete" as a whole is not far enough from "create".
 */
import { nearestWord } from '../config/nearest.ts';
import type { Command } from './command.ts';
import { commands } from './commands.ts';
import { renderUsage } from './help.ts';

/** The commands that begin with all of these words. */
export function commandsBelow(words: readonly string[]): readonly Command[] {
  return commands.filter(({ path }) => words.every((word, index) => path[index] === word));
}

/** The known words, or those near the given ones, as far as they lead. */
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

/** What was given, up to the first word that is unknown: what follows may be a secret. */
function unknownIn(given: readonly string[], words: readonly string[], isWhole: boolean): string {
  const shown = given.slice(0, isWhole ? words.length : words.length + 1);
  return `There is no command "${shown.join(' ')}".`;
}

/** @param args that begin with no command */
export function unknownCommandWords(args: readonly string[]): string {
  if (args[0]?.startsWith('-'))
    return 'Options follow the command: mayfly COMMAND [WORDS] [OPTIONS]. See mayfly help.\n';
  const given = args.filter((arg) => !arg.startsWith('-'));
  const words = meantBy(given);
  const below = commandsBelow(words);
  const isCommand = below.some(({ path }) => path.length === words.length);
  const isAsGiven = words.every((word, index) => word === given[index]);
  if (isAsGiven && words.length === given.length) return `Which one?\n${listOf(below)}`;
  const unknown = unknownIn(given, words, isCommand || words.length === given.length);
  if (words.length === 0) return `${unknown} See mayfly help.\n`;
  const hint = isAsGiven ? '' : ` Did you mean "${words.join(' ')}"?`;
  return isCommand
    ? `${unknown}${hint} See mayfly help.\n`
    : `${unknown}${hint} These exist:\n${listOf(below)}`;
}
