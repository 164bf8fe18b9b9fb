/**
 * The end of the event loop's turn, awaited together by all requests of that turn. Everything that arrived in the same packets is then
 * known: bodies, disconnected clients, and pipelined requests (the runtime closes the connection for those, P3). Waiting costs nothing:
 * requests that continue together run with warm caches, and the store takes their decisions in one batch.
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
