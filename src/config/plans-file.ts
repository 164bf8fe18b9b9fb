/**
 * The plans file: JSON laid over the built-in plans.
 *
 * Owns: reading and checking it. Invariant: the plans that result are usable (1 ≤ least ≤ usual ≤ longest ttl, values of
 * at least a byte, domains or none) or every fault is named; an unknown plan or field is a fault, because a typing error
 * must not leave a limit at its default unnoticed.
 */
import { builtInPlans, type Plan, type PlanName, type Plans } from '../core/plans.ts';

export type PlansFile =
  | { readonly outcome: 'read'; readonly plans: Plans }
  | { readonly outcome: 'refused'; readonly problems: readonly string[] };

const planNames = Object.keys(builtInPlans) as PlanName[];
const fieldNames = Object.keys(builtInPlans.anonymous) as (keyof Plan)[];
/** 100 years. */
const ageSeconds = 3_155_760_000;
/**
 * Above 64 MiB, 100 years and as many domains as one list can show, a number is a slip, and arithmetic on it would leave
 * the safe integers. Only domains can be none.
 */
const bounds: Readonly<Record<keyof Plan, { readonly least: number; readonly most: number }>> = {
  maxValueBytes: { least: 1, most: 67_108_864 },
  ttlMinSeconds: { least: 1, most: ageSeconds },
  ttlDefaultSeconds: { least: 1, most: ageSeconds },
  ttlMaxSeconds: { least: 1, most: ageSeconds },
  maxDomains: { least: 0, most: 10_000 },
};

function isWithin(
  { least, most }: { readonly least: number; readonly most: number },
  value: unknown,
): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message may quote the file; "not JSON" is what the reader needs.
    return undefined;
  }
}

function checkFields(name: PlanName, given: Record<string, unknown>, problems: string[]): Partial<Plan> {
  const fields: { -readonly [F in keyof Plan]?: number } = {};
  for (const [field, value] of Object.entries(given)) {
    const known = fieldNames.find((candidate) => candidate === field);
    if (known === undefined) {
      problems.push(`${name}.${field} is not a field of a plan (${fieldNames.join(', ')})`);
    } else if (isWithin(bounds[known], value)) {
      fields[known] = value;
    } else {
      const { least, most } = bounds[known];
      problems.push(`${name}.${field} must be a whole number from ${least} to ${most}`);
    }
  }
  return fields;
}

function checkOrder(name: PlanName, plan: Plan, problems: string[]): void {
  const ordered =
    plan.ttlMinSeconds <= plan.ttlDefaultSeconds && plan.ttlDefaultSeconds <= plan.ttlMaxSeconds;
  if (ordered) return;
  const { ttlMinSeconds, ttlDefaultSeconds, ttlMaxSeconds } = plan;
  problems.push(
    `${name}: ttlMinSeconds (${ttlMinSeconds}) must not be above ttlDefaultSeconds (${ttlDefaultSeconds}), nor that above ttlMaxSeconds (${ttlMaxSeconds})`,
  );
}

/** @param text the file's content. A plan or a field that it leaves out keeps its built-in value. */
export function parsePlans(text: string): PlansFile {
  const json = parseJson(text);
  if (!isRecord(json)) return { outcome: 'refused', problems: ['it must hold a JSON object of plans'] };
  const problems: string[] = [];
  const plans: { -readonly [N in PlanName]: Plan } = { ...builtInPlans };
  for (const [given, value] of Object.entries(json)) {
    const name = planNames.find((candidate) => candidate === given);
    if (name === undefined) {
      problems.push(`there is no plan "${given}" (${planNames.join(', ')})`);
    } else if (!isRecord(value)) {
      problems.push(`${name} must be an object`);
    } else {
      plans[name] = { ...plans[name], ...checkFields(name, value, problems) };
      checkOrder(name, plans[name], problems);
    }
  }
  return problems.length === 0 ? { outcome: 'read', plans } : { outcome: 'refused', problems };
}
