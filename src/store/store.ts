/**
 * What every store is: one object that keeps all three kinds of promise of `domain/ports.ts`.
 *
 * Owns: the type, and the two rules that all stores apply in the same way when they read.
 */
import type { AccountStore, AttemptStore, SecretStore } from '../domain/ports.ts';
import type { Delivery } from '../domain/secret.ts';
import type { UnixSeconds } from '../domain/time.ts';

export interface Store extends SecretStore, AttemptStore, AccountStore {}

/** A mail is kept in memory and tried for minutes: one still `queued` after this has outlived its process. */
const deliveryQueueSeconds = 15 * 60;

/** The delivery as a receipt tells it: `queued` for too long means that nobody is going to send it. */
export function deliveryAt(delivery: Delivery | null, now: UnixSeconds): Delivery | null {
  if (delivery?.state !== 'queued' || now < delivery.at + deliveryQueueSeconds) return delivery;
  return { state: 'not_sent', at: delivery.at };
}

/**
 * The wrapping root's key id that a sealed secret names in its header: a version byte, then the id as u16, big-endian.
 * `null` when the bytes are too short to be one.
 */
export function rootKidOf(sealedSecret: Uint8Array): number | null {
  const [version, high, low] = sealedSecret;
  return version === undefined || high === undefined || low === undefined ? null : high * 256 + low;
}
