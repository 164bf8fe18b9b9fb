/**
 * Reads a command's arguments and writes its help (with commander) and the manual page.
 *
 * Refusals use our own wording, because the library's repeat the input, which may be the secret (P18;
 * docs/decisions/033-commander-for-the-shell.md).
 */
import { Option, Command as Shell } from 'commander';
import { nearestWord } from '../config/nearest.ts';
import {
  addressForm,
  type Command,
  commonOptions,
  type Input,
  type OptionUsage,
  type Sections,
  UsageError,
  valueIsNoArgument,
} from './command.ts';

/** Fits every terminal, email and ticket. */
const helpColumns = 80;
const commonHeading = 'Common options:';

function nameOf(command: Command): string {
  return ['mayfly', ...command.path].join(' ');
}

function restOf({ rest }: Command): readonly string[] {
  return rest === undefined ? [] : ['--', rest];
}

export function renderUsage(command: Command): string {
  const { args, options } = command;
  return [nameOf(command), ...args, ...(options ? ['[OPTIONS]'] : []), ...restOf(command)].join(' ');
}

export function examplesOf({ example, examples = [] }: Command): readonly string[] {
  return [example, ...examples];
}

/** Returns `--ttl TIME`, or `-o, --out FILE`. */
export function optionTerm(name: string, { short, value }: OptionUsage): string {
  const letter = short === undefined ? '' : `-${short}, `;
  return value === undefined ? `${letter}--${name}` : `${letter}--${name} ${value}`;
}

function toShellOption(name: string, usage: OptionUsage, heading: string): Option {
  // The value is optional to the library, which would otherwise read the next option as the value.
  const flags = optionTerm(name, usage.value === undefined ? usage : { ...usage, value: '[VALUE]' });
  const option = new Option(flags, usage.doc).helpGroup(heading);
  if (usage.isRepeatable)
    option.argParser((value, earlier: readonly string[] | undefined) => [...(earlier ?? []), value]);
  return option;
}

/** @param usage the whole usage line, because the library would replace an empty end with its own text */
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
        return optionTerm(known, usages[known] ?? { doc: '' });
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

function sentence(summary: string): string {
  return `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
}

export function renderCommandHelp(command: Command): string {
  const examples = examplesOf(command).map((example) => `  ${example}\n`);
  const note = command.note === undefined ? '' : `\n${command.note}\n`;
  return `${toShell(command).helpInformation()}\nExamples:\n${examples.join('')}${note}`;
}

export function renderOverview(sections: Sections): string {
  const program = createShell('mayfly', 'mayfly COMMAND [ARGUMENTS] [OPTIONS]').description(
    'Share a secret once, read it once.',
  );
  for (const [heading, commands] of Object.entries(sections)) {
    for (const command of commands) {
      const term = [...command.path, ...command.args, ...restOf(command)].join(' ');
      program.addCommand(createShell(term, term).summary(command.summary).helpGroup(`${heading}:`));
    }
  }
  return `${program.helpInformation()}
Every command takes --json, --quiet and --help. Settings: mayfly config.
Exit codes: 0 done, 1 refused or failed, 2 wrong usage or settings; mayfly run
exits with the code of its COMMAND.
`;
}

/** Escapes text for roff, so that none of it is read as a request. */
function roff(text: string): string {
  const escaped = text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll("'", '\\(aq')
    .replaceAll('’', '\\(cq');
  return /^[.']/.test(escaped) ? `\\&${escaped}` : escaped;
}

const bold = (text: string): string => `\\fB${roff(text)}\\fR`;

function optionLines([name, usage]: readonly [string, OptionUsage]): readonly string[] {
  return ['.TP', bold(optionTerm(name, usage)), roff(sentence(usage.doc))];
}

function exampleLines(examples: readonly string[]): readonly string[] {
  return ['.PP', '.nf', ...examples.map((example) => roff(example)), '.fi'];
}

function commandLines(command: Command): readonly string[] {
  return [
    `.SS "${roff(renderUsage(command)).replaceAll('"', '\\(dq')}"`,
    roff(sentence(command.summary)),
    ...Object.entries(command.options ?? {}).flatMap(optionLines),
    ...exampleLines(examplesOf(command)),
    ...(command.note === undefined ? [] : ['.PP', roff(command.note)]),
  ];
}

const environment: readonly (readonly [string, string])[] = [
  ['MAYFLY_SERVER', 'The server to use without --server.'],
  ['MAYFLY_USERNAME, MAYFLY_TOKEN', 'The account to use; overrides mayfly login.'],
  ['MAYFLY_PASSPHRASE', 'The passphrase to use if no option names one.'],
  ['NO_COLOR', 'Turns colours off.'],
];

const exits: readonly (readonly [string, string])[] = [
  ['0', 'Done.'],
  ['1', 'Refused or failed.'],
  ['2', 'Wrong usage or settings. Nothing was done.'],
];

const terms = (rows: readonly (readonly [string, string])[]): readonly string[] =>
  rows.flatMap(([term, meaning]) => ['.TP', bold(term), roff(meaning)]);

/** Renders the manual page for man(7). */
export function renderManual(sections: Sections, version: string): string {
  const lines = [
    `.TH MAYFLY 1 "" "mayfly ${roff(version)}" "User Commands"`,
    '.SH NAME',
    'mayfly \\- share a secret once, read it once',
    '.SH SYNOPSIS',
    `${bold('mayfly')} COMMAND [ARGUMENTS] [OPTIONS]`,
    '.SH DESCRIPTION',
    roff('Results go to standard output and messages to standard error, so that results can be piped.'),
    roff('A value is read from standard input and never from an argument, which other users could see.'),
    ...Object.entries(sections).flatMap(([heading, commands]) => [
      `.SH ${roff(heading.toUpperCase())}`,
      ...commands.flatMap(commandLines),
    ]),
    '.SH COMMON OPTIONS',
    ...Object.entries(commonOptions).flatMap(optionLines),
    '.SH EXIT STATUS',
    ...terms(exits),
    roff('mayfly run exits with the code of its COMMAND.'),
    '.SH ENVIRONMENT',
    ...terms(environment),
    '.PP',
    roff('mayfly config lists every setting. NAME_FILE can name a file to read a secret setting from.'),
    '.SH FILES',
    ...terms([
      [
        '~/.config/mayfly/credentials.json',
        'Servers and accounts from mayfly login, with their tokens if this system has no keyring.',
      ],
    ]),
  ];
  return `${lines.join('\n')}\n`;
}

const withoutValue = (name: string, { instead }: OptionUsage): string =>
  `--${name} takes no value${instead === undefined ? '' : `: ${instead}`}.`;

/** Matches `--output` to `--out` and `--mail` to `--mail-to`. */
function longerOrShorter(name: string, names: readonly string[]): string | null {
  if (name.length < 3) return null;
  return names.find((known) => known.startsWith(name) || name.startsWith(known)) ?? null;
}

function problemOf(arg: string, usages: Readonly<Record<string, OptionUsage>>): string {
  // Not quoted: it may be the beginning of the secret.
  if (!arg.startsWith('--')) {
    const letters = Object.values(usages).flatMap(({ short }) => (short === undefined ? [] : `-${short}`));
    return `Unknown short option. This command has ${letters.join(' and ')}; long options begin with --, such as --json.`;
  }
  const [long = ''] = arg.split('=');
  const name = long.slice(2);
  const known = Object.hasOwn(usages, name) ? usages[name] : undefined;
  if (known !== undefined) return withoutValue(name, known);
  // Not quoted: it may be the secret, because a private key begins with five hyphens.
  if (!/^[a-z][a-z-]{0,30}$/.test(name)) return 'Unknown option.';
  const names = Object.keys(usages);
  const near = nearestWord(name, names) ?? longerOrShorter(name, names);
  return `Unknown option ${long}.${near === null ? '' : ` Did you mean --${near}?`}`;
}

function assertOptions(
  unknown: readonly string[],
  given: ReadonlyMap<string, unknown>,
  usages: Readonly<Record<string, OptionUsage>>,
): void {
  // The library turns a missing value into `true`.
  const empty = Object.entries(usages).filter(([name, { value }]) => value && given.get(name) === true);
  const missing = empty.map(([name, usage]) => `--${name} needs a value: ${optionTerm(name, usage)}.`);
  const end = unknown.indexOf('--');
  const options = unknown.slice(0, end === -1 ? unknown.length : end).filter((arg) => /^-./.test(arg));
  const problems = [...missing, ...options.map((arg) => problemOf(arg, usages))];
  if (problems.length > 0) throw new UsageError([...new Set(problems)].join('\n'));
}

/** The extra argument may be meant as an option's value, as in `--passphrase hunter2`. */
function tooManyArgs(
  { options = {}, args, path, rest }: Command,
  given: ReadonlyMap<string, unknown>,
): string {
  const meant = Object.entries(options).find(([name, { instead }]) => instead && given.get(name) === true);
  if (meant !== undefined) return withoutValue(...meant);
  if (rest !== undefined) return 'Only options may come before --.';
  if (args.includes('[FILE]')) return `Share one file at a time. ${valueIsNoArgument}`;
  const allowed = args.map((arg) => arg.replace(/[[\]]/g, ''));
  return `Too many arguments: mayfly ${path.join(' ')} takes ${allowed.length === 0 ? 'none' : `only ${allowed.join(' and ')}`}.`;
}

function assertArgCount(
  command: Command,
  args: readonly string[],
  given: ReadonlyMap<string, unknown>,
): void {
  const missing = command.args.filter((arg) => !arg.startsWith('['))[args.length];
  if (missing !== undefined) throw new UsageError(`${missing} is missing.`);
  // Not quoted: the argument may be the secret.
  if (args.length > command.args.length) throw new UsageError(tooManyArgs(command, given));
}

function assertRest({ rest: usage }: Command, args: readonly string[], rest: readonly string[]): void {
  if (usage === undefined || rest.length > 0) return;
  const [missing] = usage.split(' ');
  throw new UsageError(args.length > 0 ? `Put -- before ${missing}.` : `${missing} is missing.`);
}

function splitAtRest(
  command: Command,
  args: readonly string[],
): [own: readonly string[], rest: readonly string[]] {
  const end = command.rest === undefined ? -1 : args.indexOf('--');
  return end === -1 ? [args, []] : [args.slice(0, end), args.slice(end + 1)];
}

/** No argument can contain this character, and the library reads anything that begins with it as a value. */
const shield = '\0';

/** Marks values and arguments that begin with a hyphen, so that the library does not read them as options. */
function shieldValues({ args, options = {} }: Command, given: readonly string[]): string[] {
  const takesAddress = args.some((arg) => arg.includes('EMAIL'));
  return given.map((arg, at) => {
    const form = options[given[at - 1]?.replace(/^--/, '') ?? '']?.form;
    const isValue = form?.test(arg) || (takesAddress && addressForm.test(arg));
    return arg.startsWith('-') && isValue ? shield + arg : arg;
  });
}

/** @throws UsageError that suggests the nearest option for each unknown one */
export function readInput(command: Command, commandLine: readonly string[]): Input {
  const [own, rest] = splitAtRest(command, commandLine);
  const shell = toShell(command);
  const { operands, unknown } = shell.parseOptions(shieldValues(command, own));
  const args = operands.map((arg) => arg.replace(shield, ''));
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
    assertRest(command, args, rest);
    assertArgCount(command, args, given);
  }
  return { args, texts, lists, flags, json: flags.has('json'), rest };
}
