/** `mayfly man`: the manual page, as man(7) reads it, from the same values as the help. */
import { type Command, commonOptions, type OptionUsage } from './command.ts';
import { examplesOf, optionTerm, renderUsage, sentence } from './shell.ts';

/** Text as roff prints it: as it is, and never taken for a request. */
function roff(text: string): string {
  const escaped = text.replaceAll('\\', '\\e').replaceAll('-', '\\-').replaceAll("'", '\\(aq');
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
  ['MAYFLY_SERVER', 'The installation to talk to, where no --server names one.'],
  ['MAYFLY_USERNAME, MAYFLY_TOKEN', 'The account to act as; they win over mayfly login.'],
  ['MAYFLY_PASSPHRASE', 'The passphrase, where no option names another.'],
];

const exits: readonly (readonly [string, string])[] = [
  ['0', 'Done.'],
  ['1', 'Refused or failed.'],
  ['2', 'Wrong usage or settings; nothing was done.'],
];

const terms = (rows: readonly (readonly [string, string])[]): readonly string[] =>
  rows.flatMap(([term, words]) => ['.TP', bold(term), roff(words)]);

/** @param sections the commands by heading */
export function renderManual(
  sections: Readonly<Record<string, readonly Command[]>>,
  version: string,
): string {
  const lines = [
    `.TH MAYFLY 1 "" "mayfly ${roff(version)}" "User Commands"`,
    '.SH NAME',
    'mayfly \\- share a secret once, read it once',
    '.SH SYNOPSIS',
    `${bold('mayfly')} COMMAND [WORDS] [OPTIONS]`,
    '.SH DESCRIPTION',
    roff('Results go to standard output and words to standard error, so that a result can be piped.'),
    roff('A value is read from standard input and never from an argument, which other users could see.'),
    ...Object.entries(sections).flatMap(([heading, commands]) => [
      `.SH ${roff(heading.toUpperCase())}`,
      ...commands.flatMap(commandLines),
    ]),
    '.SH OPTIONS OF EVERY COMMAND',
    ...Object.entries(commonOptions).flatMap(optionLines),
    '.SH EXIT STATUS',
    ...terms(exits),
    roff('mayfly run ends as its COMMAND does.'),
    '.SH ENVIRONMENT',
    ...terms(environment),
    '.PP',
    roff(
      'mayfly config shows every setting. A secret one can also be read from a file, which NAME_FILE names.',
    ),
    '.SH FILES',
    ...terms([
      [
        '~/.config/mayfly/credentials.json',
        'The servers and accounts of mayfly login, and their tokens where this system has no keyring.',
      ],
    ]),
  ];
  return `${lines.join('\n')}\n`;
}
