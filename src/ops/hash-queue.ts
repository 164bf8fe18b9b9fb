/**
 * The queue for slow hashes: who gets the next turn, and who gets a place at all (P21, P24).
 *
 * Invariants: at most `maxInFlight` run at once. Making secrets and proving passphrases wait in lines of their own, so
 * neither can take the other's places; a client holds only its share of a line. Within a line clients take turns. Proofs
 * go first, but after `maxProofsInARow` of them a waiting creation gets its turn. Whoever has no place is refused as
 * `busy` before anything is computed; whoever has begun is never refused halfway.
 */

import type { HashPlace } from '../core/accounts/accounts.ts';
import { ServiceError } from '../core/errors.ts';

export interface QueueLimits {
  readonly maxInFlight: number;
  /** Places in each of the two lines. */
  readonly maxWaiting: number;
  /** Of those, for one client. */
  readonly maxWaitingPerClient: number;
  readonly maxProofsInARow: number;
}

export interface HashQueue {
  /** Runs the work in its turn. Rejects with `busy`, without running it, when there is no place for it. */
  run<T>(place: HashPlace, work: () => Promise<T>): Promise<T>;
  /** Runs the second half of work that has had its turn: ahead of both lines, never refused. */
  continueWith<T>(work: () => Promise<T>): Promise<T>;
}

type Enter = () => void;

/** One line. Its clients take turns: the map's order is theirs. */
class Line {
  readonly #waiting = new Map<string, Enter[]>();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  lengthOf(client: string): number {
    return this.#waiting.get(client)?.length ?? 0;
  }

  join(client: string, enter: Enter): void {
    const own = this.#waiting.get(client);
    if (own === undefined) this.#waiting.set(client, [enter]);
    else own.push(enter);
    this.#length += 1;
  }

  next(): Enter | undefined {
    for (const [client, own] of this.#waiting) {
      const enter = own.shift();
      this.#waiting.delete(client);
      if (own.length > 0) this.#waiting.set(client, own);
      this.#length -= 1;
      return enter;
    }
    return undefined;
  }
}

export function createHashQueue(limits: QueueLimits): HashQueue {
  const lines = { prove: new Line(), create: new Line() };
  const halfway: Enter[] = [];
  let inFlight = 0;
  let proofsInARow = 0;

  function next(): Enter | undefined {
    const second = halfway.shift();
    if (second !== undefined) return second;
    const isCreationsTurn = lines.prove.length === 0 || proofsInARow >= limits.maxProofsInARow;
    if (lines.create.length === 0 || !isCreationsTurn) {
      proofsInARow = lines.create.length === 0 ? 0 : proofsInARow + 1;
      return lines.prove.next();
    }
    proofsInARow = 0;
    return lines.create.next();
  }

  /** The place is handed on rather than freed, so that a latecomer cannot slip in between. */
  function leave(): void {
    const enter = next();
    if (enter === undefined) inFlight -= 1;
    else enter();
  }

  async function enterThrough(wait: (enter: Enter) => void): Promise<void> {
    if (inFlight < limits.maxInFlight) inFlight += 1;
    else await new Promise<void>(wait);
  }

  async function runAndLeave<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } finally {
      leave();
    }
  }

  function joinLine({ client, purpose }: HashPlace, enter: Enter): void {
    const line = lines[purpose];
    if (line.length >= limits.maxWaiting || line.lengthOf(client) >= limits.maxWaitingPerClient)
      throw new ServiceError('busy', 'too many passphrases at once');
    line.join(client, enter);
  }

  return {
    async run(place, work) {
      await enterThrough((enter) => joinLine(place, enter));
      return runAndLeave(work);
    },
    async continueWith(work) {
      await enterThrough((enter) => halfway.push(enter));
      return runAndLeave(work);
    },
  };
}
