/** The types of what tests use of `stats.mjs`. */
type Graph = Map<string, Iterable<string>>;

export declare function importsOf(
  files: readonly string[],
  textOf: (path: string) => string | undefined,
): Map<string, string[]>;
export declare function circlesIn(graph: Graph): string[][];
export declare function folderGraph(graph: Graph): Map<string, Set<string>>;
export declare function commentLines(text: string): number;
