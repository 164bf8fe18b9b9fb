/**
 * A node's cache of epoch keys: each is read once, and forgotten when its day is over. The next sweep destroys it in
 * the store, once the clocks agree (P8).
 */
import { randomBytes } from 'node:crypto';
import { ServiceError } from '../core/errors.ts';
import { type Epoch, type EpochStore, epochIn, epochOf } from '../core/ports/epochs.ts';
import type { RequestStore } from '../core/ports/requests.ts';
import type { SecretStore } from '../core/ports/secrets.ts';
import type { StoreTime } from './store-time.ts';

export interface EpochTable {
  /**
   * Stores the key if the epoch has none. Resolves, once durable, to the stored key, or to a later epoch's if this
   * one's was destroyed.
   */
  holdEpoch(epoch: number, freshKey: Uint8Array): Promise<Epoch>;
  readEpochKey(epoch: number): Promise<Uint8Array | null>;
  /** Judges by store time. Resolves to `false` if another process has locked the table. */
  destroyPastEpochs(): Promise<boolean>;
}

type Records = Pick<SecretStore, 'put' | 'setExpiry' | 'sweep'> & Pick<RequestStore, 'putAnswer'>;

/**
 * After a restore or a change of the clock, known keys may be gone: they are read again, and nothing sealed under a
 * lost key is acknowledged.
 */
export function withEpochs(
  table: EpochTable,
  records: Records,
  time: Pick<StoreTime, 'earliest'> & { timesSet(): number },
): EpochStore & Records {
  const held = new Map<number, Promise<Epoch>>();
  const read = new Map<number, Promise<Uint8Array | null>>();
  let [knownSets, today] = [time.timesSet(), 0];

  /** Does not cache rejections or absent keys. */
  function once<Value>(known: Map<number, Promise<Value>>, epoch: number, ask: () => Promise<Value>) {
    if (time.timesSet() !== knownSets) {
      knownSets = time.timesSet();
      for (const map of [held, read]) map.clear();
    }
    const kept = known.get(epoch);
    if (kept !== undefined) return kept;
    const asked = ask();
    known.set(epoch, asked);
    const forget = () => known.get(epoch) === asked && known.delete(epoch);
    asked.then((value) => value ?? forget(), forget);
    return asked;
  }

  async function acknowledged<Value>(write: Promise<Value>, sealed: Uint8Array): Promise<Value> {
    const [before, epoch] = [time.timesSet(), epochIn(sealed)];
    const used = epoch === null ? undefined : held.get(epoch);
    const value = await write;
    if (epoch === null || time.timesSet() === before) return value;
    const [was, is] = [await used, await table.readEpochKey(epoch)];
    if (was && is && Buffer.from(was.key).equals(is)) return value;
    throw new ServiceError('unavailable', 'The key of an epoch was lost in a restore.');
  }

  return {
    epochFor(expiresAt) {
      const epoch = epochOf(expiresAt);
      return once(held, epoch, () => table.holdEpoch(epoch, new Uint8Array(randomBytes(32))));
    },
    findEpochKey: (epoch) => once(read, epoch, () => table.readEpochKey(epoch)),
    put: (record) => acknowledged(records.put(record), record.sealedSecret),
    putAnswer: (answer) => acknowledged(records.putAnswer(answer), answer.record.sealedSecret),
    setExpiry: (id, from, to) => acknowledged(records.setExpiry(id, from, to), to.sealedSecret),
    async sweep(limit) {
      const touched = await records.sweep(limit);
      const now = epochOf(time.earliest());
      for (const map of [held, read]) for (const epoch of map.keys()) if (epoch < now) map.delete(epoch);
      if (now > today && (await table.destroyPastEpochs())) today = now;
      return touched;
    },
  };
}
