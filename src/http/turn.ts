/**
 * The end of the event loop's turn, awaited together by every request of that turn. By then all that came with the same
 * packets is known: bodies that came with their heads, clients that closed, and requests pipelined after another, for which
 * the runtime closes the connection (P3). It costs nothing: requests that go on together run with warm caches, and the store
 * takes their decisions in one batch.
 */
let endOfThisTurn: Promise<void> | null = null;

export function endOfTurn(): Promise<void> {
  endOfThisTurn ??= new Promise((resolve) => {
    setImmediate(() => {
      endOfThisTurn = null;
      resolve();
    });
  });
  return endOfThisTurn;
}
