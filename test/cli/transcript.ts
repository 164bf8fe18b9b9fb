/**
 * Transcripts of the command: a text file for each, with what is typed and what is answered.
 *
 *     # wrong uses              a heading
 *     $ mayfly share --tll 1h   what is typed; before it settings, and `printf 'text' |`; after it `< FILE`
 *     > y                       what is typed at the questions, in turn; without such lines there is no terminal
 *     the link                  standard output
 *     ! words                   standard error
 *     = 2                       the exit code, unless it is 0
 *
 * Every line runs in an installation of its own, in memory, in which everything that is random is shown by a name.
 */
import type { Command } from '../../src/cli/command.ts';
import { sections } from '../../src/cli/commands.ts';
import { runCommand } from '../../src/cli/run.ts';
import type { Terminal } from '../../src/cli/terminal.ts';
import { type Installation, makeInstallation } from './transcript-world.ts';

export interface Step {
  readonly heading: string;
  readonly line: string;
  readonly answers: readonly string[];
  readonly recorded: string;
}

export interface Call {
  readonly env: Readonly<Record<string, string>>;
  readonly args: readonly string[];
  /** `null`: a terminal. */
  readonly input: string | null;
}

export const headings = ['help', 'success', 'wrong uses'] as const;

export function parseTranscript(text: string): readonly Step[] {
  let heading = '';
  return text.split(/^(?=[#$] )/m).flatMap((block) => {
    const [first = '', ...rest] = block.trimEnd().split('\n');
    if (first.startsWith('# ')) heading = first.slice(2);
    if (!first.startsWith('$ ')) return [];
    const answers = rest.filter((line) => line.startsWith('> ') || line === '>');
    const recorded = rest.filter((line) => !answers.includes(line)).join('\n');
    return [{ heading, line: first.slice(2), answers: answers.map((line) => line.slice(2)), recorded }];
  });
}

/** As a shell does: blanks part words, quotes keep them, single ones what is in them. */
function wordsOf(line: string, variables: Readonly<Record<string, string>>): string[] {
  return [...line.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)].map(([word]) =>
    word.replace(/'([^']*)'|"([^"]*)"|\$([A-Z_]+)/g, (whole, single, double, name) =>
      name === undefined ? (single ?? double) : (variables[name] ?? whole),
    ),
  );
}

const printfForm = /^printf '((?:[^'])*)' \| /;

export function parseCall({ line, answers }: Step, { variables, files }: Installation): Call {
  const [piped = '', text] = printfForm.exec(line) ?? [];
  const [command = '', source] = line.slice(piped.length).split(' < ');
  const words = wordsOf(command, variables);
  const at = words.indexOf('mayfly');
  const settings = words.slice(0, at).map((word) => word.split(/=(.*)/s, 2) as [string, string]);
  const unescaped = text
    ?.replaceAll('\\n', '\n')
    .replace(/\$([A-Z_]+)/g, (_whole, name) => variables[name] ?? '');
  const file = source === undefined ? undefined : files[source];
  if (source !== undefined && file === undefined) throw new Error(`there is no file ${source}`);
  const isTyped = answers.length > 0;
  return {
    env: Object.fromEntries(settings),
    args: words.slice(at + 1),
    input: file ?? unescaped ?? (isTyped ? null : ''),
  };
}

/** A whole script or list on one line says nothing to its reader. */
const cut = (line: string): string => (line.length > 400 ? `${line.slice(0, 400)} …` : line);

function prefixed(text: string, prefix: string): string[] {
  return text === ''
    ? []
    : text
        .replace(/\n$/, '')
        .split('\n')
        .map((line) => cut(`${prefix}${line}`.trimEnd()));
}

/** @param seen what is different at a terminal */
export async function runStep(step: Step, seen: Partial<Terminal> = {}): Promise<string> {
  const installation = await makeInstallation(step.line);
  const call = parseCall(step, installation);
  const answers = step.answers.map((answer) =>
    answer.startsWith('$') ? (installation.variables[answer.slice(1)] ?? answer) : answer,
  );
  const { world, written } = await installation.worldFor(call, answers);
  Object.assign(world.terminal, seen);
  const code = await runCommand(call.args, sections, world);
  const { out, err } = written();
  const exit = code === 0 ? [] : [`= ${code}`];
  installation.close();
  return installation.masked([...prefixed(out, ''), ...prefixed(err, '! '), ...exit].join('\n'));
}

export async function renderTranscript(steps: readonly Step[]): Promise<string> {
  const parts: string[] = [];
  let heading = '';
  for (const step of steps) {
    if (step.heading !== heading) parts.push(`# ${step.heading}\n`);
    heading = step.heading;
    const typed = step.answers.map((answer) => `> ${answer}`.trimEnd());
    parts.push(`${[`$ ${step.line}`, ...typed, await runStep(step)].join('\n').trimEnd()}\n`);
  }
  return parts.join('\n');
}

export function transcriptName({ path }: Pick<Command, 'path'>): string {
  return `${path.join('-')}.txt`;
}
