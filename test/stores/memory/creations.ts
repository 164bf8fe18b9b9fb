/** Creations that may be repeated, in memory. A row whose token is gone is not found, so it goes with the token. */

import { ServiceError } from '../../../src/core/errors.ts';
import {
  type CreationStore,
  creationSeconds,
  type IdempotentCreation,
  type NewIdempotentCreation,
  takeOverSeconds,
} from '../../../src/core/ports/creations.ts';
import { rootKidOf } from '../../../src/core/ports/roots.ts';
import type { SecretStore } from '../../../src/core/ports/secrets.ts';
import type { CreationHold } from '../../../src/core/secret.ts';
import type { UnixSeconds } from '../../../src/core/time.ts';
import type { StoreTime } from '../../../src/store/store-time.ts';
import { type AccountTables, sameBytes } from './account-tables.ts';

interface CreationRow {
  readonly tokenId: number;
  readonly wrappedSeed: Uint8Array;
  readonly bodyMac: Uint8Array;
  readonly isDone: boolean;
  readonly reservedAt: UnixSeconds;
  readonly mismatches: number;
}

export interface MemoryCreations {
  readonly store: CreationStore;
  /** `put`, which also does the reservation. */
  holding(put: SecretStore['put']): SecretStore['put'];
  forgetStale(limit: number): number;
  /** As the seeds name them. */
  rootKids(): number[];
}

const textOf = (id: Uint8Array): string => Buffer.from(id).toString('latin1');

export function createMemoryCreations(
  { tokens }: Pick<AccountTables, 'tokens'>,
  time: Pick<StoreTime, 'now'>,
): MemoryCreations {
  const rows = new Map<string, CreationRow>();

  function live(id: Uint8Array): CreationRow | null {
    const row = rows.get(textOf(id));
    const isLive =
      row !== undefined && tokens.has(row.tokenId) && time.now() < row.reservedAt + creationSeconds;
    return isLive ? row : null;
  }

  /** A reservation that is not done; `null` if another took it over. */
  function held({ id, wrappedSeed }: CreationHold): CreationRow | null {
    const row = rows.get(textOf(id));
    const isHeld = row !== undefined && tokens.has(row.tokenId) && !row.isDone;
    return isHeld && sameBytes(row.wrappedSeed, wrappedSeed) ? row : null;
  }

  const reserved = ({ tokenId, wrappedSeed, bodyMac }: Omit<NewIdempotentCreation, 'id'>): CreationRow => ({
    tokenId,
    wrappedSeed: wrappedSeed.slice(),
    bodyMac: bodyMac.slice(),
    isDone: false,
    reservedAt: time.now(),
    mismatches: 0,
  });

  const store: CreationStore = {
    findCreation: async (id) => copyOf(live(id)),
    async reserveCreation(creation) {
      if (!tokens.has(creation.tokenId)) throw new ServiceError('unavailable', 'The token is not there.');
      const known = copyOf(live(creation.id));
      if (known === null) rows.set(textOf(creation.id), reserved(creation));
      return known ?? 'reserved';
    },
    async takeOverCreation(from, to) {
      const row = held(from);
      if (row === null || time.now() < row.reservedAt + takeOverSeconds) return false;
      const { mismatches } = row;
      rows.set(textOf(from.id), { ...reserved({ ...to, tokenId: row.tokenId }), mismatches });
      return true;
    },
    async releaseCreation(hold) {
      if (held(hold) !== null) rows.delete(textOf(hold.id));
    },
    async countMismatch(id) {
      const row = rows.get(textOf(id));
      if (row !== undefined) rows.set(textOf(id), { ...row, mismatches: row.mismatches + 1 });
    },
  };

  return {
    store,
    holding: (put) => async (record) => {
      const { hold } = record;
      if (hold === null) return put(record);
      const row = held(hold);
      if (row === null) throw new ServiceError('unavailable', 'The reservation is held no more.');
      const place = textOf(hold.id);
      rows.set(place, { ...row, isDone: true });
      // Its work is one synchronous step, so nothing comes in between.
      await put(record).catch((error: unknown) => {
        rows.set(place, row);
        throw error;
      });
    },
    rootKids: () =>
      [...rows]
        .filter(([, row]) => tokens.has(row.tokenId) && time.now() < row.reservedAt + creationSeconds)
        .map(([, row]) => rootKidOf(row.wrappedSeed) ?? 0),
    forgetStale(limit) {
      const stale = [...rows].filter(([, row]) => time.now() >= row.reservedAt + creationSeconds);
      for (const [place] of stale.slice(0, limit)) rows.delete(place);
      return Math.min(stale.length, limit);
    },
  };
}

function copyOf(row: CreationRow | null): IdempotentCreation | null {
  if (row === null) return null;
  const { isDone, reservedAt, mismatches } = row;
  return {
    wrappedSeed: row.wrappedSeed.slice(),
    bodyMac: row.bodyMac.slice(),
    isDone,
    reservedAt,
    mismatches,
  };
}
