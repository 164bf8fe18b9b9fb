/** What every store is, the rules that all stores apply alike when they read, and why a store refuses to open (P25). */
import type { AccountStore, AttemptStore, DomainStore, RootStore, SecretStore } from '../core/ports.ts';
import type { StoredDelivery } from '../core/secrets/secret.ts';
import type { StoreClock, UnixSeconds } from '../core/time.ts';

export interface Store extends SecretStore, AttemptStore, AccountStore, DomainStore, RootStore, StoreClock {
  /** What its data takes, without room that is free for reuse; 0 for a store that nothing limits. */
  usedBytes(): Promise<number>;
}

/**
 * The delivery as a receipt tells it: one still `queued` when it is no longer believed has outlived its process, so nobody
 * is going to send it. What it holds for the creator stays.
 */
export function deliveryAt(delivery: StoredDelivery | null, now: UnixSeconds): StoredDelivery | null {
  if (delivery?.state !== 'queued') return delivery;
  const staleAt = delivery.staleAt ?? delivery.at;
  return now < staleAt ? delivery : { ...delivery, state: 'not_sent', at: staleAt, staleAt: null };
}

/**
 * The wrapping root's key id that a sealed secret names in its header: a version byte, then the id as u16, big-endian.
 * `null` when the bytes are too short to be one.
 */
export function rootKidOf(sealedSecret: Uint8Array): number | null {
  const [version, high, low] = sealedSecret;
  return version === undefined || high === undefined || low === undefined ? null : high * 256 + low;
}

/** How long a finished deletion stays known: whoever shared it and is answered late still hears the whole count. */
export const finishedDeletionSeconds = 3_600;

/**
 * - `network_filesystem`: locks and fsync of the folder's file system cannot be relied on.
 * - `unsafe_setting`: a durability or erasure setting did not take effect.
 * - `newer_schema`: a later version of this service has written the data.
 * - `foreign_database`: the file is a database of another program.
 * - `damaged`: the file is no database, or not an intact one.
 * - `not_writable`: the folder or the file cannot be created, read or written.
 */
export type RefusalReason =
  | 'network_filesystem'
  | 'unsafe_setting'
  | 'newer_schema'
  | 'foreign_database'
  | 'damaged'
  | 'not_writable';

/** The message tells the operator what is wrong and what to do. An unsafe store is refused by name, never used in hope (P25). */
export class StoreRefusal extends Error {
  override readonly name = 'StoreRefusal';
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason, message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.reason = reason;
  }
}
