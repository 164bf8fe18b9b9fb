/**
 * Help, made from the commands alone.
 *
 * Owns: its layout. Invariant: what a command takes is written once, in the command.
 */
import { type Command, commonOptions, type OptionUsage } from './command.ts';

function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}

function nameOf(command: Command): string {
  return ['mayfly', ...command.path].join(' ');
}

function optionRow([name, { value, doc }]: [string, OptionUsage]): readonly [string, string] {
  return [value === undefined ? `--${name}` : `--${name} ${value}`, doc];
}

export function renderUsage(command: Command): string {
  const options = Object.keys(command.options).length === 0 ? [] : ['[OPTIONS]'];
  return [nameOf(command), ...command.words, ...options].join(' ');
}

export function renderCommandHelp(command: Command): string {
  const options = Object.entries({ ...command.options, ...commonOptions }).map(optionRow);
  return [
    `${nameOf(command)}: ${command.summary}`,
    '',
    `Usage: ${renderUsage(command)}`,
    '',
    'Options:',
    ...columns(options),
    '',
    `Example: ${command.example}`,
    '',
  ].join('\n');
}

/** @param section how the overview groups commands, by a heading */
export function renderOverview(sections: Readonly<Record<string, readonly Command[]>>): string {
  const parts = Object.entries(sections).map(([heading, commands]) => {
    const rows = commands.map(
      (command) => [[...command.path, ...command.words].join(' '), command.summary] as const,
    );
    return [`${heading}:`, ...columns(rows), ''].join('\n');
  });
  return [
    'mayfly: share a secret once, read it once',
    '',
    'Usage: mayfly COMMAND [WORDS] [OPTIONS]',
    '',
    ...parts,
    'Every command takes --json and --help. Settings: docs/configuration.md, or mayfly config.',
    'Exit codes: 0 done, 1 refused or failed, 2 wrong usage or settings.',
    '',
  ].join('\n');
}
