/** The types of what tests use of `stats.mjs`. */
type Graph = Map<string, Iterable<string>>;

export declare const partNames: readonly string[];
export declare function partOf(path: string): string | undefined;
export declare function importsOf(
  files: readonly string[],
  textOf: (path: string) => string | undefined,
): Map<string, string[]>;
export declare function circlesIn(graph: Graph): string[][];
export declare function folderGraph(graph: Graph): Map<string, Set<string>>;
export declare function commentLines(text: string): number;
export declare function commentsIn(text: string): string[];
export declare function wordsIn(text: string): number;
/** Each with its importer. */
export declare function smallFiles(
  graph: Map<string, readonly string[]>,
  linesOf: (path: string) => number,
): [path: string, importer: string][];
/** `apart`: those without a file of that name in both stores. `null` in a checkout from before there were ports by subject. */
export declare function subjectsIn(
  root: string,
): { readonly count: number; readonly apart: readonly string[] } | null;
export declare function budgetsOf(root: string): Readonly<Record<string, number>>;
export declare function statsOf(root: string): {
  readonly parts: readonly { readonly name: string; readonly lines: number }[];
};
