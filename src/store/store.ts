/**
 * What every store is: one object that keeps all kinds of promise of `core/ports.ts`.
 *
 * Owns: the type, and the two rules that all stores apply in the same way when they read.
 */
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
