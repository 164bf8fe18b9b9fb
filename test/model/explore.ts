/** Walks through every state that a model can reach, nearest first: the first trail to a fault is a shortest one. */

export interface Step<State> {
  /** What happens, in words. */
  readonly name: string;
  readonly next: State;
}

export interface Model<State> {
  readonly start: State;
  /** Everything that can happen next. A state is plain data, and is not changed. */
  stepsFrom(state: State): readonly Step<State>[];
  /** What is wrong with a state, in words. */
  faultIn(state: State): string | null;
  /** What an exploration must have come by, or it has proven nothing. */
  readonly landmarks: Readonly<Record<string, (state: State) => boolean>>;
}

export interface Exploration {
  readonly stateCount: number;
  readonly fault: string | null;
  /** What led to the fault. */
  readonly trail: readonly string[];
  readonly landmarks: readonly string[];
}

/** Rejects a space that is larger, so that no exploration is taken for a whole one. */
export function explore<State>(model: Model<State>, maxStates: number): Exploration {
  const states: State[] = [model.start];
  const cameFrom: number[] = [-1];
  const cameBy: string[] = [''];
  const known = new Set([JSON.stringify(model.start)]);
  const open = new Map(Object.entries(model.landmarks));
  const passed: string[] = [];
  const trailTo = (index: number): string[] => {
    const trail: string[] = [];
    for (let at = index; at > 0; at = cameFrom[at] ?? 0) trail.unshift(cameBy[at] ?? '');
    return trail;
  };
  for (let at = 0; at < states.length; at += 1) {
    const state = states[at] as State;
    const fault = model.faultIn(state);
    if (fault !== null) return { stateCount: states.length, fault, trail: trailTo(at), landmarks: passed };
    for (const [name, isPassed] of open) {
      if (!isPassed(state)) continue;
      passed.push(name);
      open.delete(name);
    }
    for (const { name, next } of model.stepsFrom(state)) {
      const key = JSON.stringify(next);
      if (known.has(key)) continue;
      known.add(key);
      states.push(next);
      cameFrom.push(at);
      cameBy.push(name);
    }
    delete states[at];
    if (states.length > maxStates) throw new Error(`more than ${maxStates} states`);
  }
  return { stateCount: states.length, fault: null, trail: [], landmarks: passed };
}
