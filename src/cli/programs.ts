/**
 * Programs that a command runs in its own place: found as a shell finds them, with the same streams, environment and signals, and
 * with the same end.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';

declare const brand: unique symbol;

/** How a program ended, as shells say it: its exit code, or 128 and the number of the signal that ended it. */
export type ProgramExit = number & { readonly [brand]: 'ProgramExit' };

export interface Program {
  /** As `find` returned it. */
  readonly file: string;
  readonly args: readonly string[];
  /** Added to the environment of this process, in which they never are. Emptied once the program has its copy. */
  readonly variables: Map<string, string>;
}

export type ProgramOutcome =
  | { readonly outcome: 'ended'; readonly exit: ProgramExit }
  /** `reason`: the name of the system's error, such as `E2BIG`. */
  | { readonly outcome: 'not_started'; readonly reason: string };

export interface Programs {
  /** Looks up a command by path or on PATH. `null`: not found, or this user may not execute it. */
  find(command: string): Promise<string | null>;
  /** Runs a program until it ends, and passes signals on to it. */
  run(program: Program): Promise<ProgramOutcome>;
}

/** As a shell says it of what Ctrl-C ended. */
export const interruptedExit = 130 as ProgramExit;

export type Environment = Readonly<Record<string, string | undefined>>;

const passedOn = ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP'] as const;
type PassedOn = (typeof passedOn)[number];

/**
 * At a terminal, Ctrl-C and Ctrl-\ reach the program without us. Passed on they would arrive twice, and the second one makes many
 * programs drop what they are finishing.
 */
function isSentByTerminal(signal: PassedOn): boolean {
  const hasTerminal = [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY === true);
  return hasTerminal && (signal === 'SIGINT' || signal === 'SIGQUIT');
}

function exitOf(code: number | null, signal: NodeJS.Signals | null): ProgramExit {
  return (code ?? 128 + constants.signals[signal ?? 'SIGKILL']) as ProgramExit;
}

function reasonOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}

function startChild({ file, args, variables }: Program, environment: Environment): ChildProcess {
  try {
    const env = { ...environment, ...Object.fromEntries(variables) };
    giveFilterBack();
    return spawn(file, [...args], { stdio: 'inherit', env });
  } finally {
    // From now on this process only waits, and the program has a filter of its own.
    leaveMemoryOutOfDumps();
    variables.clear();
  }
}

const filterFile = '/proc/self/coredump_filter';
let filterBefore: string | null = null;

/** A core dump of this process could hold values, which strings cannot be cleared of (P18). Programs inherit the filter (core(5)). */
export function leaveMemoryOutOfDumps(): void {
  try {
    filterBefore ??= readFileSync(filterFile, 'utf8').trim();
    writeFileSync(filterFile, '0');
  } catch {
    // Only Linux has it.
  }
}

/** For the moment in which a program is started, which inherits it. */
function giveFilterBack(): void {
  if (filterBefore === null) return;
  try {
    writeFileSync(filterFile, `0x${filterBefore}`);
  } catch {
    // The program then leaves its memory out, too: better than not to start it, now that its secrets are read.
  }
}

function runProgram(program: Program, environment: Environment): Promise<ProgramOutcome> {
  const { promise, resolve } = Promise.withResolvers<ProgramOutcome>();
  let child: ChildProcess | null = null;
  // Before there is a child that could outlive this process.
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
