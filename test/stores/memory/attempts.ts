/** Passphrase attempts in memory. Counting and deciding are one step, before anything is hashed. */

import type { SecretId } from '../../../src/core/keys.ts';
import {
  type AttemptLimits,
  type AttemptStore,
  type CountedId,
  networkBytes,
  type Reservation,
  secretIn,
} from '../../../src/core/ports/attempts.ts';
import type { UnixSeconds } from '../../../src/core/time.ts';
import { allowanceAfter, exhaustionOf, lockOf } from '../../../src/store/store.ts';
import type { StoreTime } from '../../../src/store/store-time.ts';

interface CountedAttempt {
  readonly attempt: number;
  readonly client: string;
  readonly at: UnixSeconds;
  /** When its window ends. */
  readonly staleAt: UnixSeconds;
}

interface SecretAttempts {
  counted: CountedAttempt[];
  inLife: number;
  /** When the secret, and with it the count over its lifetime, expires. */
  readonly endsAt: UnixSeconds;
}

export interface MemoryAttempts {
  readonly store: AttemptStore;
  /** Forgets up to `limit` attempts and counts that no longer matter; returns how many. */
  forgetStale(limit: number): number;
}

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');

export function createMemoryAttempts(
  time: Pick<StoreTime, 'now'>,
  lifeOf: (id: SecretId) => { readonly expiresAt: UnixSeconds } | null,
): MemoryAttempts {
  const bySecret = new Map<string, SecretAttempts>();
  let lastAttempt = 0;
  const expiryOf = (id: CountedId) => lifeOf(secretIn(id))?.expiresAt ?? null;

  function attemptsOf(id: CountedId, limits: AttemptLimits): SecretAttempts {
    const known = bySecret.get(textOf(id));
    if (known !== undefined) return known;
    // Attempts on an unknown secret are counted too, for one window.
    const endsAt = expiryOf(id) ?? time.now() + limits.windowSeconds;
    const fresh = { counted: [], inLife: 0, endsAt };
    bySecret.set(textOf(id), fresh);
    return fresh;
  }

  /** A secret's expiry may change; an unknown one has none. */
  const endOf = (id: CountedId, attempts: SecretAttempts): UnixSeconds => expiryOf(id) ?? attempts.endsAt;

  function reserve(id: CountedId, client: string, limits: AttemptLimits): Reservation {
    const now = time.now();
    const attempts = attemptsOf(id, limits);
    const inWindow = attempts.counted.filter((each) => each.at > now - limits.windowSeconds);
    const counted = {
      ofSecret: inWindow.map((each) => each.at),
      ofClient: inWindow.filter((each) => each.client === client).map((each) => each.at),
      ofNetwork: inWindow
        .filter((each) => each.client.slice(0, networkBytes) === client.slice(0, networkBytes))
        .map((each) => each.at),
      inLife: attempts.inLife,
      lifeEndsAt: endOf(id, attempts),
    };
    const exhausted = exhaustionOf(counted, limits, now);
    if (exhausted !== null) return exhausted;
    lastAttempt += 1;
    attempts.inLife += 1;
    attempts.counted.push({ attempt: lastAttempt, client, at: now, staleAt: now + limits.windowSeconds });
    return { outcome: 'reserved', attempt: lastAttempt, ...allowanceAfter(counted, limits, now) };
  }

  return {
    store: {
      reserve: async (id, client, limits) => reserve(id, textOf(client), limits),
      async refund(id, attempt) {
        const attempts = bySecret.get(textOf(id));
        const kept = attempts?.counted.filter((each) => each.attempt !== attempt);
        if (attempts === undefined || kept === undefined || kept.length === attempts.counted.length) return;
        attempts.counted = kept;
        attempts.inLife -= 1;
      },
      allowMore: async (id) => void bySecret.delete(textOf(id)),
      async findLocks(ids, limits) {
        const now = time.now();
        return ids.map((id) => {
          const { counted = [], inLife = 0 } = bySecret.get(textOf(id)) ?? {};
          const ofSecret = counted.map(({ at }) => at).filter((at) => at > now - limits.windowSeconds);
          return lockOf({ ofSecret, inLife }, limits, now);
        });
      },
    },
    forgetStale(limit) {
      let forgotten = 0;
      const now = time.now();
      for (const [id, attempts] of bySecret) {
        if (forgotten >= limit) break;
        if (
          now < endOf(Buffer.from(id, 'latin1') as Uint8Array as CountedId, attempts) ||
          attempts.counted.some((each) => now < each.staleAt)
        )
          continue;
        bySecret.delete(id);
        forgotten += 1;
      }
      return forgotten;
    },
  };
}
