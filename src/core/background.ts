/**
 * Work that outlives the call that started it, such as sending an email or recording a last use. It starts after the current
 * turn of the event loop, so a response made in that turn takes the same time with or without it (P17). A failure in it
 * never affects the call.
 */
interface Background {
  begin(work: () => Promise<void>): void;
  /** Resolves when no work is running. */
  settled(): Promise<void>;
}

export type InBackground = Background['begin'];

/** The same functions without their first argument. */
type Bound<UseCases> = {
  readonly [Name in keyof UseCases]: UseCases[Name] extends (deps: never, ...args: infer Args) => infer Result
    ? (...args: Args) => Result
    : never;
};

/** Binds use cases to what they depend on. `settled` resolves when no background work is left. */
export function bindUseCases<
  Parts extends object,
  UseCases extends Record<
    string,
    (deps: Parts & { readonly inBackground: InBackground }, ...args: never[]) => unknown
  >,
>(parts: Parts, useCases: UseCases): Bound<UseCases> & Pick<Background, 'settled'> {
  const { begin: inBackground, settled } = createBackground();
  const deps = { ...parts, inBackground };
  const bound = Object.entries(useCases).map(([name, useCase]) => [
    name,
    (...args: never[]) => useCase(deps, ...args),
  ]);
  return { ...(Object.fromEntries(bound) as Bound<UseCases>), settled };
}

export function createBackground(): Background {
  const running = new Set<Promise<void>>();
  return {
    begin(work) {
      const settled = new Promise<void>((turn) => setImmediate(turn))
        .then(work)
        // No caller is left to handle the error; the work itself reports what people need to know.
        .catch(() => undefined)
        .finally(() => running.delete(settled));
      running.add(settled);
    },
    async settled() {
      while (running.size > 0) await Promise.all(running);
    },
  };
}
