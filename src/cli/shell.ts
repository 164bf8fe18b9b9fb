/**
 * The library for the shell (commander) between a command's value and its arguments: it reads them and lays out the help.
 *
 * Words of refusals are ours, because the library's repeat what was given, which may be the secret (P18)
 * (docs/decisions/033-commander-for-the-shell.md).
 */
import { Option, Command as Shell } from 'commander';
import { nearestWord } from '../config/nearest.ts';
import {
  addressForm,
  type Command,
  commonOptions,
  type Input,
  type OptionUsage,
  UsageError,
  valueIsNoWord,
} from './command.ts';

/** As wide as every terminal is, and as mail and tickets keep it. */
const helpColumns = 80;
const commonHeading = 'Options of every command:';

export function nameOf(command: Command): string {
  return ['mayfly', ...command.path].join(' ');
}

function restOf({ rest }: Command): readonly string[] {
  return rest === undefined ? [] : ['--', rest];
}

export function renderUsage(command: Command): string {
  const { words = [], options } = command;
  return [nameOf(command), ...words, ...(options ? ['[OPTIONS]'] : []), ...restOf(command)].join(' ');
}

export function examplesOf({ example, examples = [] }: Command): readonly string[] {
  return [example, ...examples];
}

/** `--ttl TIME`, or `-o, --out FILE`. */
export function optionTerm(name: string, { short, value }: OptionUsage): string {
  const letter = short === undefined ? '' : `-${short}, `;
  return value === undefined ? `${letter}--${name}` : `${letter}--${name} ${value}`;
}

function toShellOption(name: string, usage: OptionUsage, heading: string): Option {
  // Optional to the library, which otherwise takes the next option for the value.
  const flags = optionTerm(name, usage.type === 'boolean' ? usage : { ...usage, value: '[VALUE]' });
  const option = new Option(flags, usage.doc).helpGroup(heading);
  if (usage.isRepeatable)
    option.argParser((value, earlier: readonly string[] | undefined) => [...(earlier ?? []), value]);
  return option;
}

/**
 * @param usage its whole line, because the library takes an empty rest for none given and writes its own
 * @param usages the options' own spelling, which help shows
 */
function createShell(name: string, usage: string, usages: Readonly<Record<string, OptionUsage>> = {}): Shell {
  return new Shell(name)
    .helpOption(false)
    .helpCommand(false)
    .configureHelp({
      helpWidth: helpColumns,
      commandUsage: () => usage,
      subcommandTerm: (below) => below.name(),
      optionTerm: ({ long }) => {
        const known = long?.slice(2) ?? '';
        return optionTerm(known, usages[known] ?? { type: 'boolean', doc: '' });
      },
    });
}

function toShell(command: Command): Shell {
  const usages = { ...command.options, ...commonOptions };
  const shell = createShell(nameOf(command), renderUsage(command), usages).description(
    sentence(command.summary),
  );
  for (const [name, usage] of Object.entries(usages))
    shell.addOption(toShellOption(name, usage, name in commonOptions ? commonHeading : 'Options:'));
  return shell;
}

/** A summary as a sentence. */
export function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}

export function renderCommandHelp(command: Command): string {
  const examples = examplesOf(command).map((example) => `  ${example}\n`);
  const note = command.note === undefined ? '' : `\n${command.note}\n`;
  return `${toShell(command).helpInformation()}\nExamples:\n${examples.join('')}${note}`;
}

/** @param sections the commands by heading */
export function renderOverview(sections: Readonly<Record<string, readonly Command[]>>): string {
  const program = createShell('mayfly', 'mayfly COMMAND [WORDS] [OPTIONS]').description(
    'Share a secret once, read it once.',
  );
  for (const [heading, commands] of Object.entries(sections)) {
    for (const command of commands) {
      const term = [...command.path, ...(command.words ?? []), ...restOf(command)].join(' ');
      program.addCommand(createShell(term, term).summary(command.summary).helpGroup(`${heading}:`));
    }
  }
  return `${program.helpInformation()}
Every command takes --json, --quiet and --help. Settings: mayfly config.
Exit codes: 0 done, 1 refused or failed, 2 wrong usage or settings; mayfly run
ends as its COMMAND does.
`;
}

const withoutValue = (name: string, { instead }: OptionUsage): string =>
  `--${name} takes no value${instead === undefined ? '' : `: ${instead}`}.`;

/** `--output` for `--out`, `--mail` for `--mail-to`. */
function longerOrShorter(name: string, names: readonly string[]): string | null {
  if (name.length < 3) return null;
  return names.find((known) => known.startsWith(name) || name.startsWith(known)) ?? null;
}

/** What is wrong with an argument that the library knows no option for. */
function problemOf(arg: string, usages: Readonly<Record<string, OptionUsage>>): string {
  // Nothing of it is repeated: it may be the beginning of the secret.
  if (!arg.startsWith('--')) {
    const letters = Object.values(usages).flatMap(({ short }) => (short === undefined ? [] : `-${short}`));
    return `The short options here are ${letters.join(' and ')}. All others have two hyphens, such as --json.`;
  }
  const [long = ''] = arg.split('=');
  const name = long.slice(2);
  const known = Object.hasOwn(usages, name) ? usages[name] : undefined;
  if (known !== undefined) return withoutValue(name, known);
  // What is no name of an option may be the secret: a private key begins with five hyphens.
  if (!/^[a-z][a-z-]{0,30}$/.test(name)) return 'There is no such option.';
  const names = Object.keys(usages);
  const near = nearestWord(name, names) ?? longerOrShorter(name, names);
  return `There is no option ${long}.${near === null ? '' : ` Did you mean --${near}?`}`;
}

function assertOptions(
  unknown: readonly string[],
  given: ReadonlyMap<string, unknown>,
  usages: Readonly<Record<string, OptionUsage>>,
): void {
  // The library reads no value as `true`.
  const empty = Object.entries(usages).filter(
    ([name, { type }]) => type === 'string' && given.get(name) === true,
  );
  const missing = empty.map(([name, usage]) => `--${name} needs a value: ${optionTerm(name, usage)}.`);
  const end = unknown.indexOf('--');
  const options = unknown.slice(0, end === -1 ? unknown.length : end).filter((arg) => /^-./.test(arg));
  const problems = [...missing, ...options.map((arg) => problemOf(arg, usages))];
  if (problems.length > 0) throw new UsageError([...new Set(problems)].join('\n'));
}

/** People give a value to an option that takes none: `--passphrase hunter2`. */
function tooManyWords(
  { options = {}, words = [], path, rest }: Command,
  given: ReadonlyMap<string, unknown>,
): string {
  const meant = Object.entries(options).find(([name, { instead }]) => instead && given.get(name) === true);
  if (meant !== undefined) return withoutValue(...meant);
  if (rest !== undefined) return 'Only options may come before --.';
  if (words.includes('[FILE]')) return `One file is shared at a time. ${valueIsNoWord}`;
  const allowed = words.map((word) => word.replace(/[[\]]/g, ''));
  return `There are too many words: mayfly ${path.join(' ')} takes ${allowed.length === 0 ? 'none' : `only ${allowed.join(' and ')}`}.`;
}

function assertWordCount(
  command: Command,
  words: readonly string[],
  given: ReadonlyMap<string, unknown>,
): void {
  const { words: wanted = [] } = command;
  const required = wanted.filter((word) => !word.startsWith('['));
  const missing = required[words.length];
  if (missing !== undefined) throw new UsageError(`${missing} is missing.`);
  // The word is not quoted: it may be the secret that was meant to be shared.
  if (words.length > wanted.length) throw new UsageError(tooManyWords(command, given));
}

function assertRest({ rest: usage }: Command, words: readonly string[], rest: readonly string[]): void {
  if (usage === undefined || rest.length > 0) return;
  const [missing] = usage.split(' ');
  throw new UsageError(words.length > 0 ? `Put -- before ${missing}.` : `${missing} is missing.`);
}

/** The command's own arguments, and those after `--`, which may look like its own. */
function splitAtRest(
  command: Command,
  args: readonly string[],
): [own: readonly string[], rest: readonly string[]] {
  const end = command.rest === undefined ? -1 : args.indexOf('--');
  return end === -1 ? [args, []] : [args.slice(0, end), args.slice(end + 1)];
}

/** No argument can hold this character, and to the library what begins with it is a value. */
const shield = '\0';

/** Marks values and words that begin with a hyphen, which the library would take for options. */
function shieldValues({ words = [], options = {} }: Command, args: readonly string[]): string[] {
  const takesAddress = words.some((word) => word.includes('EMAIL'));
  return args.map((arg, at) => {
    const form = options[args[at - 1]?.replace(/^--/, '') ?? '']?.form;
    const isValue = form?.test(arg) || (takesAddress && addressForm.test(arg));
    return arg.startsWith('-') && isValue ? shield + arg : arg;
  });
}

/** Throws `UsageError`, naming the nearest option for each unknown one. */
export function readInput(command: Command, args: readonly string[]): Input {
  const [own, rest] = splitAtRest(command, args);
  const shell = toShell(command);
  const { operands, unknown } = shell.parseOptions(shieldValues(command, own));
  const words = operands.map((word) => word.replace(shield, ''));
  const given = new Map(
    shell.options.map((option) => [option.name(), shell.getOptionValue(option.attributeName())] as const),
  );
  assertOptions(unknown, given, { ...command.options, ...commonOptions });
  const texts: Record<string, string> = {};
  const lists: Record<string, readonly string[]> = {};
  const flags = new Set<string>();
  for (const [name, value] of given) {
    if (typeof value === 'string') texts[name] = value.replace(shield, '');
    if (value === true) flags.add(name);
    if (Array.isArray(value)) lists[name] = value.filter((each) => typeof each === 'string');
  }
  if (!flags.has('help')) {
    assertRest(command, words, rest);
    assertWordCount(command, words, given);
  }
  return { words, texts, lists, flags, json: flags.has('json'), rest };
}
