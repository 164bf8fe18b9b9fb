/** `mayfly config` prints the settings in effect and, with `--explain`, their documentation, but never a secret. */
import { nearestWord } from '../config/nearest.ts';
import type { ConfigReading, EffectiveSetting, SettingEntry } from '../config/read.ts';
import { wrapWords } from '../ops/wrap.ts';
import {
  type Command,
  command,
  type ExitCode,
  type Input,
  printResult,
  UsageError,
  type World,
} from './command.ts';
import type { OperatorWorld } from './operator.ts';

/** Also accepts `port` for PORT and `MAYFLY_TOKEN_FILE` for MAYFLY_TOKEN. */
function selected<Setting extends SettingEntry>(
  settings: readonly Setting[],
  input: Input,
): readonly Setting[] {
  const [given] = input.args;
  if (given === undefined) return settings;
  const name = given.toUpperCase();
  const names = ({ env, isSecret }: SettingEntry) => [env, ...(isSecret ? [`${env}_FILE`] : [])];
  const found = settings.filter((setting) =>
    names(setting).some((each) => each === name || each === `MAYFLY_${name}`),
  );
  if (found.length > 0) return found;
  const near =
    nearestWord(name, settings.flatMap(names)) ?? nearestWord(`MAYFLY_${name}`, settings.flatMap(names));
  const hint = near === null ? ' mayfly config lists them all.' : ` Did you mean ${near}?`;
  throw new UsageError(`Unknown setting.${hint}`);
}

function printEffective(world: World, input: Input, all: readonly EffectiveSetting[]): void {
  const settings = selected(all, input);
  const json = Object.fromEntries(settings.map(({ env, value, given }) => [env, { value, given }]));
  const width = Math.max(...settings.map(({ env }) => env.length));
  const lines = settings.map(
    ({ env, value, given }) => `${env.padEnd(width)}  ${value ?? 'refused'}${given ? '' : '  (default)'}`,
  );
  printResult(world, input, json, lines);
}

type Explained = SettingEntry & Partial<EffectiveSetting>;

function inEffect({ env, value, source }: Explained): string {
  if (value === undefined) return 'nothing: the settings are invalid';
  if (value === null) return 'nothing: it is invalid';
  if (source === null) return `${value} (default)`;
  return source === env ? `${value} (from the environment)` : `${value} (from the file that ${source} names)`;
}

function textOf(setting: Explained): string {
  const { env, meaning, allowed, defaultText, isSecret } = setting;
  const fields = [
    ['takes', allowed],
    ...(isSecret
      ? [['secret', `never shown in full; ${env}_FILE can name a file to read it from`] as const]
      : []),
    ['default', defaultText],
    ['in effect', inEffect(setting)],
  ] as const;
  const rows = fields.map(([name, words]) => `    ${name.padEnd(9)}  ${wrapWords(words, ' '.repeat(15))}`);
  return [env, `    ${wrapWords(meaning, '    ')}`, ...rows].join('\n');
}

function jsonOf({ meaning, allowed, defaultText, isSecret, value, given, source }: Explained) {
  const effect = { value: value ?? null, given: given ?? null, source: source ?? null };
  return { ...effect, meaning, allowed, default: defaultText, secret: isSecret };
}

/** Prints what would keep a server from starting. */
async function judge(world: OperatorWorld, reading: ConfigReading): Promise<ExitCode> {
  const problems =
    reading.outcome === 'read' ? await world.settingProblems(reading.settings) : reading.refusals;
  const { err, tint } = world.terminal;
  for (const problem of problems) err(`${tint('err', 'refusal', problem)}\n`);
  return problems.length === 0 ? 0 : 2;
}

/** Also works with invalid settings, because that is when people need it. */
function explain(world: World, input: Input, reading: ConfigReading): void {
  const all: readonly Explained[] = reading.outcome === 'read' ? reading.effective : reading.entries;
  const settings = selected(all, input);
  const json = Object.fromEntries(settings.map((setting) => [setting.env, jsonOf(setting)]));
  printResult(world, input, json, [settings.map(textOf).join('\n\n')]);
}

async function runConfig(input: Input, world: OperatorWorld): Promise<ExitCode> {
  const reading = await world.readConfig();
  if (input.flags.has('explain')) explain(world, input, reading);
  else if (reading.outcome === 'read') printEffective(world, input, reading.effective);
  return judge(world, reading);
}

export const configCommands: readonly Command<OperatorWorld>[] = [
  command('config [NAME]', {
    summary: 'print the settings in effect, without secrets',
    options: {
      explain: { doc: 'explain each setting: its meaning, allowed values, default and source' },
    },
    example: 'mayfly config MAYFLY_BASE_URL --explain',
    run: runConfig,
  }),
];
