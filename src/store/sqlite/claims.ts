/**
 * Claims and burns.
 *
 * The form of the statements is what makes them safe: each is one UPDATE that contains the whole condition, so only one can match (P1, P7),
 * and it sets the state and erases the bytes together (P6).
 */

import type { Database } from 'bun:sqlite';
import { ServiceError } from '../../core/errors.ts';
import type { SecretId } from '../../core/keys.ts';
import type { ClaimStore, ClaimTarget } from '../../core/ports/claims.ts';
import { rootKidOf } from '../../core/ports/roots.ts';
import type { UnixSeconds } from '../../core/time.ts';
import type { Burner } from '../../protocol/vocabulary.ts';
import type { Deciding } from './decisions.ts';
import { createLookClaim, eraseLook, holdsLook } from './looks.ts';
import { locateReceipt, type Parts } from './parts.ts';
import type { RootUses } from './roots.ts';

/**
 * Records who burned the secret, in the same step and without another column: `delivery_at` takes one of the record's own later times in
 * place of its creation time, so the row keeps its size (see looks.ts). Burns by anyone else, and by earlier versions, leave it unchanged.
 */
const burnerTimes: Readonly<Record<Burner, string>> = {
  creator: 'expires_at',
  recipient: 'receipt_expires_at',
};

interface OwnTimes {
  readonly expiresAt: UnixSeconds;
  readonly receiptExpiresAt: UnixSeconds;
}

/** @param at the row's `delivery_at` */
export function burnerOf(state: string, at: UnixSeconds, times: OwnTimes): Burner | null {
  if (state !== 'b') return null;
  return at === times.receiptExpiresAt ? 'recipient' : at === times.expiresAt ? 'creator' : null;
}

/** Ends a waiting secret early, at `?1`. All early ends use it except a claim with a look (see looks.ts). The caller adds the condition. */
export const endRecord = (state: 'r' | 'b', burner: Burner | null = null) => `
  UPDATE records SET state = '${state}', ended_at = ?1,${burner === null ? '' : ` delivery_at = ${burnerTimes[burner]},`}
    creator_box = zeroblob(length(creator_box)), sealed_secret = zeroblob(length(sealed_secret))`;

const claimRecord = `${endRecord('r')}
  WHERE position = ?2 AND secret_id = ?3 AND row_version = ?4 AND state = 'w' AND expires_at > ?1`;

const burnRecord = `${endRecord('b', 'creator')}
  WHERE position = ?2 AND receipt_id = ?3 AND state = 'w' AND expires_at > ?1`;

const burnFoundRecord = `${endRecord('b', 'recipient')}
  WHERE position = ?2 AND secret_id = ?3 AND row_version = ?4 AND state = 'w' AND expires_at > ?1`;

const endLookAtReceipt = `${eraseLook} WHERE position = ?1 AND receipt_id = ?2 AND ${holdsLook}`;

const selectBatch = `
  SELECT max(position) AS upto, count(*) AS looked
  FROM (SELECT position FROM records WHERE position > ?1 ORDER BY position LIMIT ?2)`;

const burnBatch = `${endRecord('b')}
  WHERE position > ?2 AND position <= ?3 AND state = 'w' AND expires_at > ?4`;

const endLooksInBatch = `${eraseLook} WHERE position > ?1 AND position <= ?2 AND ${holdsLook}`;

export function createClaimWrites(
  db: Database,
  roots: RootUses,
): Deciding<'claim' | 'burn' | 'burnFound' | 'burnAll'> {
  const claim = db.query(claimRecord);
  const claimWithLook = createLookClaim(db);
  const burn = db.query(burnRecord);
  const burnFound = db.query(burnFoundRecord);
  const endLook = db.query(endLookAtReceipt);
  const endLooks = db.query(endLooksInBatch);
  const batch = db.query<{ upto: number | null; looked: number }, [number, number]>(selectBatch);
  const burnTogether = db.query(burnBatch);

  return {
    claim(now, target) {
      const { position, secretId, rowVersion, look } = target;
      if (look === undefined)
        return claim.run(now, position, secretId, rowVersion).changes === 1 ? 'won' : 'gone';
      const outcome = claimWithLook(now, target, look);
      if (outcome === 'won') roots.extend(rootKidOf(look.sealedLook) ?? 0, look.until);
      return outcome;
    },
    burn(now, { position, id }) {
      if (burn.run(now, position, id).changes === 1) return now;
      endLook.run(position, id);
      return null;
    },
    burnFound: (now, { position, id }, rowVersion) =>
      burnFound.run(now, position, id, rowVersion).changes === 1 ? now : null,
    burnAll(now, after, limit, earliest) {
      const { upto = null, looked = 0 } = batch.get(after, limit) ?? {};
      const burned = upto === null ? 0 : Number(burnTogether.run(now, after, upto, earliest).changes);
      if (upto !== null) endLooks.run(after, upto);
      return { burned, next: looked === limit ? upto : null };
    },
  };
}

/** @param knownPlaceOf returns the position of a target that this store found; a copy, or one found elsewhere, has none */
export function claimStore(
  parts: Parts,
  knownPlaceOf: (target: ClaimTarget) => number | undefined,
): ClaimStore {
  const { queue, locator, reader, time } = parts;
  const locate = locateReceipt(parts);
  const placeOf = (target: ClaimTarget, id: SecretId) =>
    knownPlaceOf(target) ?? reader.read(() => locator.ofSecret(id));
  return {
    async claim(target, isAbandoned, look = null) {
      const { rowVersion } = target;
      const secretId = target.secretId.slice() as SecretId;
      const kept = look === null ? {} : { look: structuredClone(look) };
      const position = await placeOf(target, secretId);
      if (position === null) return 'gone';
      const located = { secretId, rowVersion, position, ...kept };
      const outcome = await queue.decideFor(isAbandoned, 'claim', located);
      if (outcome === 'refused') throw new ServiceError('unavailable', 'The store did not take the claim.');
      return outcome;
    },
    async burn(id, isAbandoned) {
      const at = await locate(id);
      return at === null ? null : queue.decideFor(isAbandoned, 'burn', at);
    },
    async burnFound(target, isAbandoned) {
      const { rowVersion } = target;
      const id = target.secretId.slice() as SecretId;
      const position = await placeOf(target, id);
      return position === null
        ? null
        : queue.decideFor(isAbandoned, 'burnFound', { id, position }, rowVersion);
    },
    async burnAll(after, limit) {
      const { burned, next } = await queue.decide('burnAll', Number(after ?? 0), limit, time.earliest());
      return { burned, next: next === null ? null : String(next) };
    },
  };
}
