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

/** Takes decisions into the next batch; resolves when that is on the disk. */
export interface DecisionQueue {
  decide<N extends DecisionName>(name: N, ...args: DecisionArguments<N>): Promise<DecisionAnswer<N>>;
  /** Not decided if the client has left by then. */
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

/** A port without the writes that are forwarded as they are. */
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

/** Writes that are decided where the receipt's row is; `missing` if there is none. Copies now: the caller may wipe bytes. */
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

/** The same reads, each in a snapshot of the reader. */
export function readBy<R extends Reads>(reader: Reader, reads: R) {
  const entries = Object.entries(reads).map(([name, read]) => [
    name,
    (...args: never[]) => reader.read(() => read(...args)),
  ]);
  return Object.fromEntries(entries) as {
    [N in keyof R]: (...args: Parameters<R[N]>) => Promise<ReturnType<R[N]>>;
  };
}
