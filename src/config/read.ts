/**
 * Configuration: the environment, checked whole before anything starts.
 *
 * Owns: the only reading of `process.env`. Invariant: a wrong or unknown setting stops the start with a sentence that
 * names the variable, what is wrong and what is allowed; nothing falls back to a default in silence, and a secret's text
 * stands in no sentence (P18).
 */
import { readFileSync } from 'node:fs';
import { builtInPlans, type Plans } from '../core/plans.ts';
import { conflictsBetween, regionAddress, regionProblems } from './conflicts.ts';
import { nearestWord } from './nearest.ts';
import { parsePlans } from './plans-file.ts';
import {
  type EarlierValues,
  type Option,
  type OptionName,
  type OptionValues,
  optionList,
  options,
} from './settings.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Config extends OptionValues {
  /** The built-in plans, or those of `plansFile` laid over them. */
  readonly plans: Plans;
  /** Which settings were given, rather than left at their default. */
  readonly given: ReadonlySet<OptionName>;
}

export type ConfigReading =
  | { readonly outcome: 'read'; readonly config: Config }
  | { readonly outcome: 'refused'; readonly refusals: readonly string[] };

/** Reads a small text file; throws when it cannot. */
export type ReadText = (path: string) => string;

const readTextFile: ReadText = (path) => readFileSync(path, 'utf8');

/** The environment of this process. */
export function processEnvironment(): Environment {
  return process.env;
}

/** Every variable that some option reads. */
function knownVariables(): string[] {
  return optionList.flatMap(([, { env, secret }]) => (secret === true ? [env, `${env}_FILE`] : [env]));
}

function refuseUnknown(env: Environment): string[] {
  const known = knownVariables();
  const strangers = Object.keys(env).filter((name) => name.startsWith('MAYFLY_') && !known.includes(name));
  return strangers.map((name) => {
    const near = nearestWord(name, known);
    const hint = near === null ? 'See docs/configuration.md for all of them' : `Did you mean ${near}?`;
    return near === null
      ? `${name} is not a setting of Mayfly. ${hint}.`
      : `${name} is not a setting of Mayfly. ${hint}`;
  });
}

/** What was found for one option: a text, nothing, or a reason to stop. */
type Found = { readonly text: string } | { readonly refusal: string } | null;

/** A secret's file usually ends in a line break that is not part of the secret: exactly one is dropped. */
function findText(of: Option<unknown>, env: Environment, readText: ReadText): Found {
  const direct = env[of.env];
  const file = of.secret === true ? env[`${of.env}_FILE`] : undefined;
  const hasDirect = direct !== undefined && direct !== '';
  if (file === undefined || file === '') return hasDirect ? { text: direct } : null;
  if (hasDirect) return { refusal: `${of.env} and ${of.env}_FILE are both set: leave one of them out.` };
  try {
    const text = readText(file).replace(/\r?\n$/, '');
    return text === '' ? { refusal: `${of.env}_FILE names an empty file.` } : { text };
  } catch {
    // The reason is in the operator's hands either way: the path is wrong, or this user may not read it.
    return { refusal: `${of.env}_FILE names a file that cannot be read: ${file}` };
  }
}

/** An address can carry a password even where the option is no secret, as in `https://user:password@…`. */
function isPrintable(of: Option<unknown>, text: string): boolean {
  return of.secret !== true && !/:\/\/[^/]*@/.test(text);
}

function refusalOf(of: Option<unknown>, text: string, problem: string): string {
  const what = isPrintable(of, text) ? `is ${JSON.stringify(text.slice(0, 100))}` : 'is not usable';
  return `${of.env} ${what}: ${problem}.`;
}

/** The defaults that others depend on, for what could not be read: the start is refused anyway. */
function earlierOf(values: Partial<Record<OptionName, unknown>>, regionUrl: string | null): EarlierValues {
  const { port, host, dataDir, baseUrl } = values as Partial<OptionValues>;
  const known = { port: port ?? 3000, host: host ?? '127.0.0.1', dataDir: dataDir ?? './data', regionUrl };
  return { ...known, baseUrl: baseUrl ?? options.baseUrl.fallback({ ...known, baseUrl: '' }) };
}

/** The address of the region that is set, before everything that depends on it; `null` when there is none to be read. */
function regionUrlOf(env: Environment): string | null {
  const region = options.region.kind.parse(env[options.region.env] ?? '');
  const regions = options.regions.kind.parse(env[options.regions.env] ?? '');
  return 'problem' in region || 'problem' in regions ? null : regionAddress(region.value, regions.value);
}

function readOptions(env: Environment, readText: ReadText) {
  const regionUrl = regionUrlOf(env);
  const values: Partial<Record<OptionName, unknown>> = {};
  const given = new Set<OptionName>();
  const refusals: string[] = [];
  for (const [name, of] of optionList) {
    const found = findText(of, env, readText);
    if (found === null) {
      values[name] = of.fallback(earlierOf(values, regionUrl));
    } else if ('refusal' in found) {
      refusals.push(found.refusal);
    } else {
      const parsed = of.kind.parse(found.text);
      if ('problem' in parsed) refusals.push(refusalOf(of, found.text, parsed.problem));
      else values[name] = parsed.value;
      given.add(name);
    }
  }
  return { values: values as OptionValues, given, refusals };
}

function readPlans(path: string | null | undefined, readText: ReadText, refusals: string[]): Plans {
  if (path === null || path === undefined) return builtInPlans;
  let text: string;
  try {
    text = readText(path);
  } catch {
    refusals.push(`MAYFLY_PLANS_FILE names a file that cannot be read: ${path}`);
    return builtInPlans;
  }
  const file = parsePlans(text);
  if (file.outcome === 'read') return file.plans;
  refusals.push(...file.problems.map((problem) => `MAYFLY_PLANS_FILE (${path}): ${problem}.`));
  return builtInPlans;
}

/** Every setting, or every reason not to start. */
export function readConfig(env: Environment, readText: ReadText = readTextFile): ConfigReading {
  const { values, given, refusals } = readOptions(env, readText);
  if (refusals.length === 0) refusals.push(...regionProblems(values, given), ...conflictsBetween(values));
  refusals.push(...refuseUnknown(env));
  const plans = readPlans(values.plansFile, readText, refusals);
  if (refusals.length > 0) return { outcome: 'refused', refusals };
  return { outcome: 'read', config: { ...values, plans, given } };
}
