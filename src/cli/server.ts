/**
 * Operators' commands for the server itself.
 *
 * Owns: `mayfly serve|config|doctor`. Invariant: all three read the same settings, and none of them starts or says
 * anything with settings that are wrong.
 */

import { serverRegionProblem } from '../config/conflicts.ts';
import { effectiveSettings } from '../config/reference.ts';
import { Sensitive } from '../core/sensitive.ts';
import type { Finding } from '../ops/doctor.ts';
import {
  type Command,
  configOrWords,
  type ExitCode,
  type Input,
  printResult,
  type World,
} from './command.ts';

async function runServe(_input: Input, world: World): Promise<ExitCode> {
  const config = configOrWords(world);
  if (config === null) return 2;
  const problem = serverRegionProblem(config);
  if (problem === null) return world.serve(config);
  world.terminal.err(`${problem}\n`);
  return 2;
}

async function runConfig(input: Input, world: World): Promise<ExitCode> {
  const config = configOrWords(world);
  if (config === null) return 2;
  const settings = effectiveSettings(config);
  const json = Object.fromEntries(settings.map(({ env, value, given }) => [env, { value, given }]));
  const width = Math.max(...settings.map(({ env }) => env.length));
  const lines = settings.map(
    ({ env, value, given }) => `${env.padEnd(width)}  ${value}${given ? '' : '  (default)'}`,
  );
  printResult(world, input, json, lines);
  return 0;
}

const marks: Readonly<Record<Finding['verdict'], string>> = {
  ok: 'ok    ',
  advice: 'advice',
  fault: 'FAULT ',
};

function report(findings: readonly Finding[], input: Input, world: World): ExitCode {
  const width = Math.max(...findings.map(({ what }) => what.length));
  const lines = findings.map(
    ({ what, verdict, words }) => `${marks[verdict]}  ${what.padEnd(width)}  ${words}`,
  );
  printResult(world, input, findings, lines);
  return findings.some(({ verdict }) => verdict === 'fault') ? 1 : 0;
}

async function runDoctor(input: Input, world: World): Promise<ExitCode> {
  const reading = world.readConfig();
  if (reading.outcome === 'refused') {
    const faults = reading.refusals.map((words) => ({ what: 'settings', verdict: 'fault', words }) as const);
    return report(faults, input, world);
  }
  const settings: Finding = {
    what: 'settings',
    verdict: 'ok',
    words: `${reading.config.given.size} set, the others at their defaults`,
  };
  const mailTo = input.texts['mail-to'];
  const recipient = mailTo === undefined ? null : new Sensitive(mailTo);
  const found = await world.examine(reading.config, recipient);
  const isSettingWrong = found.some(({ what }) => what === settings.what);
  return report(isSettingWrong ? found : [settings, ...found], input, world);
}

export const serverCommands: readonly Command[] = [
  {
    path: ['serve'],
    summary: 'serve until stopped',
    words: [],
    options: {},
    example: 'PORT=8080 mayfly serve',
    run: runServe,
  },
  {
    path: ['config'],
    summary: 'print the settings in effect, without secrets',
    words: [],
    options: {},
    example: 'mayfly config',
    run: runConfig,
  },
  {
    path: ['doctor'],
    summary: 'check settings, folder, keys, store, disk, address and mail',
    words: [],
    options: {
      'mail-to': {
        type: 'string',
        value: 'ADDRESS',
        doc: 'send a test mail there and say what the mail server replied',
      },
    },
    example: 'mayfly doctor --mail-to jo@example.org',
    run: runDoctor,
  },
];
