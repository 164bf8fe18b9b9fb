/** From the start of the first process to the first 200, on a folder that exists, as at every start but the first. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { repositoryRoot } from '../test/support/started-server.ts';
import type { BenchServer } from './processes.ts';
import { startExecutable, startService } from './service.ts';

/** Times of starts, in milliseconds. */
export interface StartFigures {
  /** What `npm start` runs. */
  readonly script: readonly number[];
  /** What `npm run build` makes. */
  readonly executable: readonly number[];
}

export type StartWay = () => Promise<BenchServer>;

/** @param name of its data folder @param checkout this one when absent */
export const scriptWay =
  (folder: string, name: string, checkout?: string): StartWay =>
  () =>
    startService({ folder, dataDir: `start-${name}` }, checkout);

/** Builds the executable of this checkout. */
export function executableWay(folder: string): StartWay {
  const executable = join(folder, 'mayfly');
  execFileSync('node', ['scripts/build.mjs', executable], { cwd: repositoryRoot, stdio: ['ignore', 2, 2] });
  return () => startExecutable({ folder, dataDir: 'start-executable' }, executable);
}

/** @returns milliseconds, of each way by round */
export async function measureStarts(ways: readonly StartWay[], rounds: number): Promise<number[][]> {
  const all: number[][] = ways.map(() => []);
  const turns = [...ways.entries()];
  // The first round makes the folders and whatever else a first start makes.
  for (let round = -1; round < rounds; round += 1) {
    for (const [index, start] of round % 2 === 0 ? turns : turns.toReversed()) {
      await using server = await start();
      if (round >= 0) all[index]?.push(server.startMilliseconds);
    }
  }
  return all;
}
