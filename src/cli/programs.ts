/** Runs another program as a shell would: found on PATH, with the same streams, environment, signals and exit code. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { reasonOf } from './output-file.ts';

declare const brand: unique symbol;

/** As in shells: the exit code, or 128 plus the number of the signal. */
export type ProgramExit = number & { readonly [brand]: 'ProgramExit' };

export interface Program {
  /** As `find` returned it. */
  readonly file: string;
  readonly args: readonly string[];
  /** Added to the program's environment, never to this process's. Emptied once the program has its copy. */
  readonly variables: Map<string, string>;
}

export type ProgramOutcome =
  | { readonly outcome: 'ended'; readonly exit: ProgramExit }
  /** `reason`: a system error such as `E2BIG`. */
  | { readonly outcome: 'not_started'; readonly reason: string };

export interface Programs {
  /** Finds an executable by path or on PATH, or returns `null`. */
  find(command: string): Promise<string | null>;
  /** Runs a program until it ends, forwarding signals. */
  run(program: Program): Promise<ProgramOutcome>;
}

/** As shells report Ctrl-C. */
export const interruptedExit = 130 as ProgramExit;

export type Environment = Readonly<Record<string, string | undefined>>;

const passedOn = ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP'] as const;
type PassedOn = (typeof passedOn)[number];

/** A terminal sends Ctrl-C and Ctrl-\ to the program itself. Forwarding would deliver them twice, which makes many programs abort. */
function isSentByTerminal(signal: PassedOn): boolean {
  const hasTerminal = [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY === true);
  return hasTerminal && (signal === 'SIGINT' || signal === 'SIGQUIT');
}

function exitOf(code: number | null, signal: NodeJS.Signals | null): ProgramExit {
  return (code ?? 128 + constants.signals[signal ?? 'SIGKILL']) as ProgramExit;
}

function startChild({ file, args, variables }: Program, environment: Environment): ChildProcess {
  try {
    const env = { ...environment, ...Object.fromEntries(variables) };
    giveFilterBack();
    return spawn(file, [...args], { stdio: 'inherit', env });
  } finally {
    // The program has inherited the old filter, so exclude this process's memory again.
    leaveMemoryOutOfDumps();
    variables.clear();
  }
}

const filterFile = '/proc/self/coredump_filter';
let filterBefore: string | null = null;

/** A core dump could contain values, because strings cannot be wiped (P18). Child processes inherit the filter (core(5)). */
export function leaveMemoryOutOfDumps(): void {
  try {
    filterBefore ??= readFileSync(filterFile, 'utf8').trim();
    writeFileSync(filterFile, '0');
  } catch {
    // Only Linux has this file.
  }
}

/** Restores the old filter, for the program to inherit. */
function giveFilterBack(): void {
  if (filterBefore === null) return;
  try {
    writeFileSync(filterFile, `0x${filterBefore}`);
  } catch {
    // The program then dumps nothing either, which is better than not starting it: its secrets have been read.
  }
}

function runProgram(program: Program, environment: Environment): Promise<ProgramOutcome> {
  const { promise, resolve } = Promise.withResolvers<ProgramOutcome>();
  let child: ChildProcess | null = null;
  // Installed before the child exists, so that no signal ends this process alone.
  const handlers = passedOn.map((signal) => {
    const pass = () => void (isSentByTerminal(signal) || child?.kill(signal));
    process.on(signal, pass);
    return [signal, pass] as const;
  });
  try {
    child = startChild(program, environment);
    child.on('error', (error) => resolve({ outcome: 'not_started', reason: reasonOf(error) }));
    child.on('exit', (code, signal) => resolve({ outcome: 'ended', exit: exitOf(code, signal) }));
  } catch (error) {
    resolve({ outcome: 'not_started', reason: reasonOf(error) });
  }
  return promise.finally(() => {
    for (const [signal, pass] of handlers) process.off(signal, pass);
  });
}

export function openPrograms(readEnvironment: () => Promise<Environment>): Programs {
  return {
    find: async (command) => Bun.which(command, { PATH: (await readEnvironment()).PATH ?? '' }),
    run: async (program) => runProgram(program, await readEnvironment()),
  };
}
