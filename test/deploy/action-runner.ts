/**
 * Runs a composite action as GitHub's runner does: inputs become the step's variables, each `run` is a file for bash with the runner's
 * flags, and what the step writes into its files and its log is read as the runner reads it.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { watch } from '../support/started-server.ts';

export interface Step {
  readonly id?: string;
  readonly shell: string;
  readonly run: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface Action {
  readonly inputs: Readonly<Record<string, { readonly default?: string; readonly required?: boolean }>>;
  readonly outputs: Readonly<Record<string, { readonly value: string }>>;
  readonly runs: { readonly using: string; readonly steps: readonly Step[] };
}

export async function readAction(folder: string): Promise<Action> {
  return Bun.YAML.parse(await readFile(join(folder, 'action.yml'), 'utf8')) as Action;
}

export interface ActionRun {
  readonly code: number | null;
  /** As it left the step, before the runner reads it. */
  readonly raw: string;
  /** As people see it: without commands, and masked. */
  readonly log: string;
  readonly masked: readonly string[];
  readonly errors: readonly string[];
  /** For the steps that follow. */
  readonly variables: Readonly<Record<string, string>>;
  readonly outputs: Readonly<Record<string, string>>;
}

function unescapeData(text: string): string {
  return text.replaceAll('%0D', '\r').replaceAll('%0A', '\n').replaceAll('%25', '%');
}

/** `NAME=value` and `NAME<<END` … `END`, as in the runner's FileCommandManager. */
export function parseFileCommands(text: string): Record<string, string> {
  const found: Record<string, string> = {};
  const lines = text.split('\n');
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    if (line === '') continue;
    const [, name = '', operator, rest = ''] = /^(.*?)(=|<<)(.*)$/.exec(line) ?? [];
    if (operator === undefined || name === '') throw new Error(`Invalid format '${line}'`);
    const end = operator === '<<' ? lines.indexOf(rest, at + 1) : at;
    if (end < 0) throw new Error(`Matching delimiter not found '${rest}'`);
    found[name] = operator === '<<' ? lines.slice(at + 1, end).join('\n') : rest;
    at = end;
  }
  return found;
}

/** Masks as the runner does: each text and each of its lines, in what comes after it. */
function readLog(raw: string): Pick<ActionRun, 'log' | 'masked' | 'errors'> {
  const masked: string[] = [];
  const errors: string[] = [];
  const shown = raw.split('\n').flatMap((line) => {
    const [, command = '', data = ''] = /^\s*::([\w-]+)(?: [^:]*)?::(.*)$/.exec(line) ?? [];
    const text = unescapeData(data);
    if (command === 'add-mask') masked.push(text, ...text.split(/[\r\n]/).filter((each) => each !== ''));
    else if (!['', 'error', 'notice'].includes(command)) throw new Error(`a command of the runner: ${line}`);
    if (command === 'add-mask') return [];
    const visible = masked.reduce(
      (result, each) => result.replaceAll(each, '***'),
      command === '' ? line : text,
    );
    if (command === 'error') errors.push(visible);
    return [visible];
  });
  return { log: shown.join('\n'), masked, errors };
}

/** @param env of the job, which may replace what the runner sets */
export async function runAction(
  folder: string,
  given: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>>,
): Promise<ActionRun> {
  const action = await readAction(folder);
  const unknown = Object.keys(given).filter((name) => !(name in action.inputs));
  if (unknown.length > 0) throw new Error(`the action has no input ${unknown}`);
  const temp = await mkdtemp(join(tmpdir(), 'mayfly-runner-'));
  const file = (name: string) => join(temp, name);
  try {
    for (const name of ['env', 'output']) await writeFile(file(name), '');
    let raw = '';
    let code: number | null = 0;
    for (const step of action.runs.steps) {
      const substitute = (text: string) =>
        text.replace(/\$\{\{ *inputs\.([\w-]+) *\}\}/g, (_, name: string) => {
          return given[name] ?? action.inputs[name]?.default ?? '';
        });
      const variables = Object.entries(step.env).map(([name, text]) => [name, substitute(text)]);
      await writeFile(file('step.sh'), substitute(step.run));
      const child = spawn('bash', ['--noprofile', '--norc', '-e', '-o', 'pipefail', file('step.sh')], {
        cwd: temp,
        env: {
          ...Object.fromEntries(variables),
          GITHUB_ACTION_PATH: folder,
          GITHUB_ENV: file('env'),
          GITHUB_OUTPUT: file('output'),
          RUNNER_TEMP: temp,
          ...env,
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const { stdout, stderr, exited } = watch(child);
      ({ code } = await exited);
      raw += stdout() + stderr();
      if (code !== 0) break;
    }
    return {
      code,
      raw,
      ...readLog(raw),
      variables: parseFileCommands(await readFile(file('env'), 'utf8')),
      outputs: parseFileCommands(await readFile(file('output'), 'utf8')),
    };
  } finally {
    await rm(temp, { recursive: true });
  }
}
