/**
 * Runs callers in every order in which their steps can reach the store: every store call waits at a gate, and the gates are opened in
 * every possible order.
 */
import type { ServiceParts } from '../../src/core/secrets/service.ts';
import { type Bench, createBench } from './service-bench.ts';

export type Store = ServiceParts['store'];
export type Gate = () => Promise<void>;

/**
 * Puts every asynchronous store method behind a gate, and behind a second one on the way back if `bothWays`.
 * @param names only these methods; without it, all
 */
export function gated(store: Store, gate: Gate, bothWays: boolean, names?: readonly string[]): Store {
  return new Proxy(store, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== 'function' || name === 'now') return method;
      if (names?.includes(String(name)) === false) return method;
      return async (...args: unknown[]) => {
        await gate();
        const answer: unknown = await Reflect.apply(method, target, args);
        if (bothWays) await gate();
        return answer;
      };
    },
  });
}

export interface Scenario {
  /** Sets up before the gates close, and returns the callers that then race. */
  readonly prepare: (bench: Bench) => Promise<ReadonlyArray<() => Promise<string>>>;
  readonly bothWays?: boolean;
  /** @see gated */
  readonly gates?: readonly string[];
  readonly defect?: (store: Store, gate: Gate) => Store;
}

/**
 * Runs once in the order given by `choices` (when they run out, the first waiting call), and notes the choices there
 * were.
 */
async function runInOrder(scenario: Scenario, choices: readonly number[]) {
  const { defect, bothWays = false, gates } = scenario;
  const waiting: Array<() => void> = [];
  let closed = false;
  const gate: Gate = () => (closed ? new Promise((go) => waiting.push(go)) : Promise.resolve());
  const bench = createBench({
    wrap: (store) => gated(defect?.(store, gate) ?? store, gate, bothWays, gates),
  });
  const callers = await scenario.prepare(bench);
  closed = true;
  const outcomes = Promise.all(callers.map((caller) => caller()));
  const taken: Array<{ choice: number; options: number }> = [];
  for (;;) {
    // After one turn of the event loop, everything that is not at a gate has run.
    await new Promise((turn) => setImmediate(turn));
    if (waiting.length === 0) break;
    const choice = choices[taken.length] ?? 0;
    taken.push({ choice, options: waiting.length });
    waiting.splice(choice, 1)[0]?.();
  }
  closed = false;
  return { outcomes: await outcomes, taken, bench };
}

export type Run = Awaited<ReturnType<typeof runInOrder>>;

/** Runs the scenario in every possible order; returns how many there were. */
export async function everyOrder(
  scenario: Scenario,
  check: (run: Run) => void | Promise<void>,
): Promise<number> {
  let choices: number[] | null = [];
  let orders = 0;
  while (choices !== null) {
    const run = await runInOrder(scenario, choices);
    await check(run);
    orders += 1;
    choices = nextChoices(run.taken);
  }
  return orders;
}

/** The next path of a depth-first walk; `null` after the last. */
function nextChoices(taken: Run['taken']): number[] | null {
  const path = [...taken];
  for (let last = path.pop(); last !== undefined; last = path.pop()) {
    if (last.choice + 1 < last.options) return [...path.map(({ choice }) => choice), last.choice + 1];
  }
  return null;
}
