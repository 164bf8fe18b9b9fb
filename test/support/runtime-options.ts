/** The options of the runtime that every form of a server is started with: the decisions 069 and 071. */

/** As variables. */
export const runtimeOptions = ['BUN_JSC_useFTLJIT=0', 'MIMALLOC_PURGE_HOLES_MIN_INTERVAL=1000'] as const;

/** With these the runtime says on standard error which it has. */
export const sayOptions = { BUN_JSC_dumpOptions: '1', MIMALLOC_VERBOSE: '1' } as const;

/** Whether each is there, as it says them. */
export const saidOptions = (words: string): readonly boolean[] =>
  ['useFTLJIT=false', "'purge_holes_min_interval': 1000"].map((option) => words.includes(option));
