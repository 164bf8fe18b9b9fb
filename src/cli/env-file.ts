/** Lines of `NAME=LINK`. A refusal gives the line's number and never its text, which may be the secret (P18). */

export interface Line {
  /** From 1. */
  readonly number: number;
  readonly text: string;
}

/** Those that are neither empty nor a comment. */
export function contentLines(text: string): Line[] {
  const lines = text.split(/\r?\n/).map((each, index) => ({ number: index + 1, text: each }));
  return lines.filter((line) => !/^[ \t]*(#.*)?$/.test(line.text));
}

/** As shells have it. */
export const nameRule = 'NAME has letters, digits and _, and no digit first';
const assignmentForm = /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/s;

/** The name, and what follows the first `=`; `null` if the text is not of that form. */
export function splitAssignment(text: string): readonly [name: string, rest: string] | null {
  const [, name, rest] = assignmentForm.exec(text) ?? [];
  return name === undefined || rest === undefined ? null : [name, rest];
}

/**
 * How many secrets a command takes from one file or call: three calls for each of them (status, passphrase, reveal) are what a server
 * allows without a pause, and their values leave room in the environment that a system can hand to a program.
 */
export const maxVariables = 40;

/** A file in a message; `-` is standard input. */
export function fileLabel(path: string): string {
  return path === '-' ? 'Standard input' : path;
}
