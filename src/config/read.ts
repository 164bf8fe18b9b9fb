/**
 * Reads and checks the whole environment before anything starts; nothing else reads `process.env`.
 *
 * An invalid or unknown setting prevents startup, with a message that names the variable, the problem and what is allowed. Nothing silently
 * falls back to a default, and no message contains a secret (P18).
 */
import { readFileSync } from 'node:fs';
import { conflictsBetween } from './conflicts.ts';
import type { Definition } from './definition.ts';
import type { ReadText } from './kinds.ts';
import { nearestWord } from './nearest.ts';
import { definitionList, definitions, type SettingName, type SettingValues } from './settings.ts';
import { readAs, whyUnread } from './text.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** A fault that stops a server but not a command. */
export interface ServerFault {
  readonly setting: SettingName;
  /** The variable that set the value; `null` if only the combination of settings is wrong. */
  readonly source: string | null;
  readonly sentence: string;
}

export interface Settings extends SettingValues {
  /** Settings that the environment sets. */
  readonly given: ReadonlySet<SettingName>;
  readonly serverFaults: readonly ServerFault[];
  /** Variables that look like settings but describe a Kubernetes Service named mayfly. */
  readonly serviceLinks: readonly string[];
}

export interface SettingEntry {
  readonly env: string;
  readonly meaning: string;
  /** Completes "it must be …". */
  readonly allowed: string;
  readonly defaultText: string;
  readonly isSecret: boolean;
}

export interface EffectiveSetting extends SettingEntry {
  /** Never a secret; `null` if a server would refuse it. */
  readonly value: string | null;
  readonly given: boolean;
  /** The variable that set the value, such as `MAYFLY_TOKEN_FILE`; `null` for a default. */
  readonly source: string | null;
}

export type ConfigReading =
  | {
      readonly outcome: 'read';
      readonly settings: Settings;
      readonly effective: readonly EffectiveSetting[];
    }
  | {
      readonly outcome: 'refused';
      readonly refusals: readonly string[];
      readonly entries: readonly SettingEntry[];
    };

export const readTextFile: ReadText = (path) => readAs('exact', readFileSync(path));

export function processEnvironment(): Environment {
  return process.env;
}

/** Returns whether systemd started this process itself, not an ancestor. */
export function isStartedBySystemd(): boolean {
  return process.env.SYSTEMD_EXEC_PID === String(process.pid);
}

/** Normalises an address from the command line. */
export function parseServerAddress(text: string): { readonly value: string } | { readonly problem: string } {
  const parsed = definitions.server.kind.parse(readAs('word', text), readTextFile);
  return 'objections' in parsed ? { problem: parsed.objections.join() } : parsed;
}

/**
 * Variables that Kubernetes sets in pods for a Service named mayfly or mayfly-…, and that Docker sets for a `--link` to such a container.
 * Matches values too, because a Service named mayfly-internal sets MAYFLY_INTERNAL_PORT, which is also a setting.
 *
 * Source: https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables and
 * https://docs.docker.com/engine/network/links/#environment-variables
 */
const serviceLink =
  /^MAYFLY_(?:\w+_)?(?:PORT=(?:tcp|udp|sctp):|PORT_\d+_(?:TCP|UDP|SCTP)(?:_\w+)?=|SERVICE_HOST=|SERVICE_PORT(?:_\w+)?=|NAME=\/[^/]+\/[^/]+$)/;

function serviceLinksIn(env: Environment): string[] {
  // Docker also copies the linked container's variables. They count only if its `_NAME` is set, because nothing else identifies them.
  const isLink = (name: string) => serviceLink.test(`${name}=${env[name]}`);
  const alias = (name: string) => /^(MAYFLY\w*?)_ENV_/.exec(name)?.[1];
  return Object.keys(env).filter((name) => isLink(name) || isLink(`${alias(name)}_NAME`));
}

function knownVariables(): string[] {
  return definitionList.flatMap(([, { env, kind }]) => (kind.isSecret ? [env, `${env}_FILE`] : [env]));
}

function refuseUnknown(env: Environment): string[] {
  const known = knownVariables();
  const strangers = Object.keys(env).filter((name) => name.startsWith('MAYFLY_') && !known.includes(name));
  return strangers.map((name) => {
    // PORT and HOST have no prefix, because platforms set them under these names.
    const bare = name.slice('MAYFLY_'.length);
    const near = known.includes(bare) ? bare : nearestWord(name, known);
    const hint = near === null ? 'See docs/configuration.md for all settings.' : `Did you mean ${near}?`;
    return `${name} is not a Mayfly setting. ${hint}`;
  });
}

type Found = { readonly text: string; readonly source: string } | { readonly refusal: string } | null;

function findText({ env: name, kind }: Definition<unknown>, env: Environment, readText: ReadText): Found {
  const given = env[name] ?? '';
  // A value that consists only of blanks is a mistake, not an empty variable.
  const direct = readAs(kind.form, given) || given;
  const file = kind.isSecret ? env[`${name}_FILE`] : undefined;
  if (file === undefined || file === '') return direct === '' ? null : { text: direct, source: name };
  if (direct !== '') return { refusal: `${name} and ${name}_FILE are both set: remove one of them.` };
  try {
    const text = readAs(kind.form, readText(file));
    return text === '' ? { refusal: `${name}_FILE names an empty file.` } : { text, source: `${name}_FILE` };
  } catch (error) {
    return { refusal: `${name}_FILE names a file that ${whyUnread(error)}: ${file}` };
  }
}

function problemSentence({ env, kind }: Definition<unknown>, text: string, problem: string): string {
  // Even an address that is not secret can contain a password: `https://user:password@…`.
  const isPrintable = !kind.isSecret && !/:\/\/[^/]*@/.test(text);
  const what = isPrintable ? `is ${JSON.stringify(text.slice(0, 100))}` : 'is not usable';
  return `${env} ${what}: ${problem}.`;
}

interface GivenValue {
  readonly value: unknown;
  readonly text: string;
  readonly source: string;
}

interface Given {
  readonly values: ReadonlyMap<SettingName, GivenValue>;
  readonly refusals: readonly string[];
  readonly serverFaults: readonly ServerFault[];
}

function readGiven(env: Environment, readText: ReadText): Given {
  const values = new Map<SettingName, GivenValue>();
  const refusals: string[] = [];
  const serverFaults: ServerFault[] = [];
  for (const [setting, definition] of definitionList) {
    const found = findText(definition, env, readText);
    if (found === null) continue;
    if ('refusal' in found) {
      refusals.push(found.refusal);
      continue;
    }
    const parsed = definition.kind.parse(found.text, readText);
    if ('value' in parsed) values.set(setting, { ...found, value: parsed.value });
    else if ('problem' in parsed) refusals.push(problemSentence(definition, found.text, parsed.problem));
    else {
      const sentences = parsed.objections.map((objection) => definition.env + objection);
      const { source } = found;
      if (parsed.isForServer)
        serverFaults.push(...sentences.map((sentence) => ({ setting, source, sentence })));
      else refusals.push(...sentences);
    }
  }
  return { values, refusals, serverFaults };
}

/** Computes defaults lazily, because they may depend on settings further down the table. */
function withDefaults(given: Given['values']): SettingValues {
  const values = {} as SettingValues;
  for (const [name, { defaultFor }] of definitionList) {
    const known = given.get(name);
    Object.defineProperty(values, name, {
      get: () => (known === undefined ? defaultFor(values) : known.value),
      enumerable: true,
    });
  }
  return { ...values };
}

function entryOf({ env, doc, kind, defaultText }: Definition<unknown>): SettingEntry {
  const { allowed, isSecret } = kind;
  return { env, meaning: doc, allowed, defaultText, isSecret };
}

export function readConfig(environment: Environment, readText: ReadText = readTextFile): ConfigReading {
  const serviceLinks = serviceLinksIn(environment);
  const isOurs = ([name]: [string, unknown]) => !serviceLinks.includes(name);
  const env: Environment = Object.fromEntries(Object.entries(environment).filter(isOurs));
  const found = readGiven(env, readText);
  const values = withDefaults(found.values);
  const given = new Set(found.values.keys());
  const conflicts = found.refusals.length === 0 ? conflictsBetween(values, given) : [];
  const refusals = [...found.refusals, ...conflicts, ...refuseUnknown(env)];
  if (refusals.length > 0) {
    const entries = definitionList.map(([, definition]) => entryOf(definition));
    return { outcome: 'refused', refusals, entries };
  }
  const effective = definitionList.map(([name, definition]) => {
    const fault = found.serverFaults.find(({ setting }) => setting === name);
    const { text = null, source = fault?.source ?? null } = found.values.get(name) ?? {};
    const value = fault === undefined ? definition.kind.show(values[name], text) : null;
    return { ...entryOf(definition), value, given: source !== null, source };
  });
  const serverFaults = found.serverFaults.length > 0 ? found.serverFaults : localeFaults(values);
  return { outcome: 'read', settings: { ...values, given, serverFaults, serviceLinks }, effective };
}

function localeFaults({ defaultLocale, locales }: SettingValues): ServerFault[] {
  if (locales.includes(defaultLocale)) return [];
  const sentence = 'MAYFLY_DEFAULT_LOCALE must be one of MAYFLY_LOCALES.';
  return [{ setting: 'defaultLocale', source: null, sentence }];
}
