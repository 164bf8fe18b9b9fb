/**
 * The end of the event loop's turn, awaited together by every request of that turn.
 *
 * Invariant: whoever awaits it has heard of all that came with the same packets, above all of clients that closed and of
 * requests pipelined behind this one, for which the runtime closes the connection (P3). It costs nothing: requests that go on
 * together run with warm caches, and the store takes their decisions in one batch.
 */
let pending: Promise<void> | null = null;

export function endOfTurn(): Promise<void> {
  pending ??= new Promise((resolve) => {
    setImmediate(() => {
      pending = null;
      resolve();
    });
  });
  return pending;
}
