/** What the parts of an open store share. */
import type { Database } from 'bun:sqlite';
import type { ReceiptId, SecretId } from '../../core/keys.ts';
import type { IsAbandoned } from '../../core/ports/claims.ts';
import type { MachineClock } from '../../core/time.ts';
import type { StoreTime } from '../store-time.ts';
import type { DecisionAnswer, DecisionArguments, DecisionName, Forwarded, Located } from './decisions.ts';
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

type Locate<Id> = (asked: Id) => Promise<Located<Id> | null>;

export const locateReceipt =
  ({ reader, locator }: Parts): Locate<ReceiptId> =>
  (asked) =>
    reader.lookUp(asked, (id) => {
      const position = locator.ofReceipt(id);
      return position === null ? null : { id, position };
    });

export const locateSecret =
  ({ reader, locator }: Parts): Locate<SecretId> =>
  (asked) =>
    reader.lookUp(asked, (id) => {
      const position = locator.ofSecret(id);
      return position === null ? null : { id, position };
    });
