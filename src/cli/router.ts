/**
 * The operator's command for the address without a region.
 *
 * Owns: `mayfly router`. Invariant: it starts only with settings that name every region, and needs neither a data folder
 * nor a key of any of them.
 */
import { routerProblem } from '../config/conflicts.ts';
import { type Command, configOrWords, type ExitCode, type Input, type World } from './command.ts';

async function runRouter(_input: Input, world: World): Promise<ExitCode> {
  const config = configOrWords(world);
  if (config === null) return 2;
  const problem = routerProblem(config);
  if (problem === null) return world.route(config);
  world.terminal.err(`${problem}\n`);
  return 2;
}

export const routerCommands: readonly Command[] = [
  {
    path: ['router'],
    summary: 'stand before several regions, until stopped',
    words: [],
    options: {},
    example: 'MAYFLY_REGIONS=us=https://us.example.com,eu=https://eu.example.com PORT=8080 mayfly router',
    run: runRouter,
  },
];
