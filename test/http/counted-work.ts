/**
 * Counts what a piece of work has the runtime do with texts, bytes and lists: the same on every machine, where times are not. A step is a
 * character that a call reads, or a sixteenth of a call, of a value that is made or of an entry that is kept.
 */
const callSteps = 16;

let steps = 0;
let isCounting = false;

// biome-ignore lint/suspicious/noExplicitAny: stands for the arguments of any function of the runtime
type Any = any;
type Method = (this: Any, ...args: Any[]) => Any;
/** @returns how many steps a call was, from what it was called on and with, and from its result */
type StepsOf = (self: Any, args: readonly Any[], result: Any) => number;

const lengthOf = (value: Any): number => value?.length ?? value?.byteLength ?? 0;

/** A search reads as far as it finds. */
const searched: StepsOf = (self, [, from = 0], result) =>
  callSteps + (typeof result === 'number' && result >= 0 ? result : lengthOf(self)) - from;
const called: StepsOf = () => callSteps;
const readAll: StepsOf = (self, [given]) => callSteps + Math.max(lengthOf(self), lengthOf(given));
const each: StepsOf = (_self, _args, result) => callSteps * (1 + lengthOf(result));
const replaced: StepsOf = (self, [what]) => {
  let found = 0;
  if (typeof what === 'string' && what !== '')
    for (let at = 0; at < self.length; at += 1) if (self[at] === what[0]) found += 1;
  return lengthOf(self) + callSteps * (1 + found);
};
const matched: StepsOf = (self: RegExp, [text], result) => {
  if (result !== null && typeof result === 'object') return callSteps + result[0].length;
  return callSteps + (self.sticky ? 1 : lengthOf(String(text)));
};

/** As many as there are, however deep. */
function valuesIn(value: unknown): number {
  let count = 0;
  const left = [value];
  for (let at = 0; at < left.length; at += 1) {
    count += 1;
    const next = left[at];
    if (typeof next === 'object' && next !== null)
      for (const name in next) left[left.length] = (next as Any)[name];
  }
  return count;
}

const entriesOf = (data: FormData): number => {
  let count = 0;
  for (const _entry of data) count += 1;
  return count;
};

const watched: readonly (readonly [object, Readonly<Record<string, StepsOf>>])[] = [
  [
    String.prototype,
    {
      ...{ charCodeAt: () => 1, codePointAt: () => 1, slice: called, substring: called, startsWith: called },
      ...{ indexOf: searched, includes: readAll, search: readAll, isWellFormed: readAll, trim: readAll },
      ...{ toLowerCase: readAll, split: each, replaceAll: replaced, replace: replaced },
    },
  ],
  [RegExp.prototype, { exec: matched }],
  [JSON, { parse: (_self, [text], result) => lengthOf(text) + callSteps * valuesIn(result) }],
  [globalThis, { decodeURIComponent: readAll }],
  [TextDecoder.prototype, { decode: readAll }],
  [Object, { keys: each, values: each, entries: each }],
  [Map.prototype, { get: called, set: called, has: called }],
  [Set.prototype, { add: called, has: called }],
  [Array.prototype, { push: called }],
  [Object.getPrototypeOf(Uint8Array.prototype), { indexOf: searched, subarray: called }],
  [Buffer, { from: readAll }],
  [Bun, { escapeHTML: (_self, _args, result) => callSteps + lengthOf(result) }],
  [FormData.prototype, { getAll: (self) => callSteps * (1 + entriesOf(self)) }],
];

function watch(owner: Any, name: string, stepsOf: StepsOf): () => void {
  const original = owner[name] as Method;
  owner[name] = function counted(this: Any, ...args: Any[]) {
    const result = original.apply(this, args);
    if (!isCounting) return result;
    isCounting = false;
    steps += stepsOf(this, args, result);
    isCounting = true;
    return result;
  };
  return () => {
    owner[name] = original;
  };
}

/** The steps of the work; nothing else may be under way meanwhile. */
export async function countSteps(work: () => Promise<unknown>): Promise<number> {
  const undo = watched.flatMap(([owner, methods]) =>
    Object.entries(methods).map(([name, of]) => watch(owner, name, of)),
  );
  steps = 0;
  isCounting = true;
  try {
    await work();
    return steps;
  } finally {
    isCounting = false;
    for (const restore of undo) restore();
  }
}
