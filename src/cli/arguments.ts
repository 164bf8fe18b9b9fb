/**
 * From the arguments of one command to its words, texts and flags.
 *
 * Owns: reading them, and what is said where they make no sense. Invariant: every option that does not exist is named with
 * the nearest one that does; no value is repeated, because it may be the secret (P18).
 */
import { parseArgs } from 'node:util';
import { nearestWord } from '../config/nearest.ts';
import { type Command, commonOptions, type Input, parseArgsOptions, UsageError } from './command.ts';

type Token = NonNullable<ReturnType<typeof parseArgs>['tokens']>[number];
type OptionToken = Extract<Token, { kind: 'option' }>;

/** What is wrong with an option as it was written; `null` when nothing is. */
function problemOf(command: Command, { name, rawName, value, inlineValue }: OptionToken): string | null {
  const known = { ...command.options, ...commonOptions };
  if (!rawName.startsWith('--'))
    return name === 'help' ? null : 'Options have two hyphens and a name, such as --json.';
  const option = Object.hasOwn(known, name) ? known[name] : undefined;
  if (option === undefined) {
    const near = nearestWord(name, Object.keys(known));
    return `There is no option ${rawName}.${near === null ? '' : ` Did you mean --${near}?`}`;
  }
  if (option.type === 'boolean') return value === undefined ? null : `${rawName} takes no value.`;
  // The next option rather than a value: where a value does begin with a hyphen, = says so.
  const isOption = inlineValue !== true && value !== undefined && value !== '-' && value.startsWith('-');
  return value === undefined || isOption ? `${rawName} needs a value: ${rawName} ${option.value}.` : null;
}

function assertOptions(command: Command, args: readonly string[]): void {
  const { tokens } = parseArgs({
    args: [...args],
    options: parseArgsOptions(command),
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const given = tokens.filter((token) => token.kind === 'option');
  const problems = given.map((token) => problemOf(command, token)).filter((problem) => problem !== null);
  if (problems.length > 0) throw new UsageError([...new Set(problems)].join('\n'));
}

function assertWordCount(command: Command, words: readonly string[]): void {
  const required = command.words.filter((word) => !word.startsWith('['));
  const missing = required[words.length];
  if (missing !== undefined) throw new UsageError(`${missing} is missing.`);
  const extra = words[command.words.length];
  // Not quoted: it may be the secret that somebody meant to share.
  if (extra !== undefined) throw new UsageError('There is a word too many.');
}

/** @throws UsageError where the arguments make no sense */
export function readInput(command: Command, args: readonly string[]): Input {
  assertOptions(command, args);
  const options = parseArgsOptions(command);
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
  const texts: Record<string, string> = {};
  const flags = new Set<string>();
  for (const [name, value] of Object.entries(values)) {
    if (typeof value === 'string') texts[name] = value;
    if (value === true) flags.add(name);
  }
  if (!flags.has('help')) assertWordCount(command, positionals);
  return { words: positionals, texts, flags, json: flags.has('json') };
}
