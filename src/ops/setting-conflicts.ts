/**
 * What settings of one server have to do with each other.
 *
 * Owns: those checks, but for the ones of regions. Invariant: a sentence names every variable that it is about.
 */
import { type OptionName, type OptionValues, options } from './options.ts';

const signing = ['dkimDomain', 'dkimSelector', 'dkimKey'] as const;

function envsOf(names: readonly OptionName[]): string {
  return names.map((name) => options[name].env).join(' and ');
}

function signingProblems(values: Pick<OptionValues, (typeof signing)[number]>): string[] {
  const set = signing.filter((name) => values[name] !== null);
  const missing = signing.filter((name) => values[name] === null);
  if (set.length === 0 || missing.length === 0) return [];
  const [verb, others] = [set.length === 1 ? 'is' : 'are', missing.length === 1 ? 'that one' : 'the others'];
  return [
    `${envsOf(set)} ${verb} set without ${envsOf(missing)}: mail is signed with all three, so set ${others} too, or none.`,
  ];
}

function portProblems({ port, internalPort }: Pick<OptionValues, 'port' | 'internalPort'>): string[] {
  if (internalPort !== port) return [];
  return [
    `MAYFLY_INTERNAL_PORT and PORT are both ${port}: /metrics must not be on the port of the service, so choose another for one of them.`,
  ];
}

/** Every reason why these values cannot stand together. */
export function conflictsBetween(values: OptionValues): string[] {
  return [...signingProblems(values), ...portProblems(values)];
}
