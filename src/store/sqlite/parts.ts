/** What the parts of an open store share. */
import type { Database } from 'bun:sqlite';
import type { ReceiptId, SecretId } from '../../core/keys.ts';
import type { IsAbandoned } from '../../core/ports/claims.ts';
import type { MachineClock } from '../../core/time.ts';
import type { StoreTime } from '../store-time.ts';
import type {
  DecisionAnswer,
  DecisionArguments,
  DecisionName,
  Forwarded,
  Located,
  WritesAtReceipt,
} from './decisions.ts';
import type { Locator } from './locator.ts';
import type { Reader } from './reader.ts';

/** Adds decisions to the next batch; resolves once that batch is on disk. */
export interface DecisionQueue {
  decide<N extends DecisionName>(name: N, ...args: DecisionArguments<N>): Promise<DecisionAnswer<N>>;
  /** Skips the decision if the client has left by the time its batch is assembled. */
  decideFor<N extends 'claim' | 'burn' | 'burnFound' | 'takeAnswer'>(
    isAbandoned: IsAbandoned,
    name: N,
    ...args: DecisionArguments<N>
  ): Promise<DecisionAnswer<N> | 'abandoned'>;
}

export interface Parts {
  readonly db: Database;
  readonly queue: DecisionQueue;
  readonly locator: Locator;
  readonly clock: MachineClock;
  readonly time: StoreTime & { timesSet(): number; refresh(): void };
  readonly reader: Reader;
}

/** A port without the writes that are forwarded unchanged. */
export type Read<Port> = Omit<Port, keyof Forwarded>;

const locating =
  <Id extends Uint8Array>(reader: Reader, find: (id: Id) => number | null) =>
  (asked: Id): Promise<Located<Id> | null> =>
    reader.lookUp(asked, (id) => {
      const position = find(id);
      return position === null ? null : { id, position };
    });

export const locateReceipt = ({ reader, locator }: Parts) => locating<ReceiptId>(reader, locator.ofReceipt);
export const locateSecret = ({ reader, locator }: Parts) => locating<SecretId>(reader, locator.ofSecret);

type Given<N extends keyof WritesAtReceipt> =
  Parameters<WritesAtReceipt[N]> extends [unknown, ...infer Rest] ? Rest : never;

/** Creates writes decided at a receipt's row, which return `missing` if there is none. Copies arguments: the caller may wipe them. */
export function decideAtReceipt(parts: Parts) {
  const locate = locateReceipt(parts);
  return <N extends keyof WritesAtReceipt>(name: N, missing: DecisionAnswer<N>) =>
    async (id: ReceiptId, ...given: Given<N>): Promise<DecisionAnswer<N>> => {
      const kept = structuredClone(given);
      const at = await locate(id);
      return at === null
        ? missing
        : parts.queue.decide(name, ...([at, ...kept] as unknown as DecisionArguments<N>));
    };
}

type Reads = Readonly<Record<string, (...args: never[]) => unknown>>;

/** Returns the same reads, each run in the reader's snapshot. Copies bytes now: the caller may wipe them. */
export function readBy<R extends Reads>(reader: Reader, reads: R) {
  const entries = Object.entries(reads).map(([name, read]) => [
    name,
    (...args: readonly unknown[]) => {
      const kept = args.map((arg) => (arg instanceof Uint8Array ? new Uint8Array(arg) : arg));
      return reader.read(() => read(...(kept as never[])));
    },
  ]);
  return Object.fromEntries(entries) as {
    [N in keyof R]: (...args: Parameters<R[N]>) => Promise<ReturnType<R[N]>>;
  };
}
