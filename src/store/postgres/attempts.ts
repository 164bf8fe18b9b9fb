/**
 * Passphrase guesses (P14). Each secret has one row with every attempt that still counts; a rule shared by all stores
 * judges them (`exhaustionOf`). Safety rests on the form of the write: it replaces the row only if the number of its
 * last change is still the one read. Each change gets a higher number, even after the row was deleted, because numbers
 * follow store time. If another node was faster, this one reads and decides again. `reserved` is returned only once it
 * is durable, so a guess that was not counted is never computed.
 *
 * One read and one write serve all of a node's concurrent callers, so a burst does not compete with itself.
 */

import { ServiceError } from '../../core/errors.ts';
import {
  type AttemptLimits,
  type AttemptStore,
  type CountedId,
  networkBytes,
  type Reservation,
} from '../../core/ports/attempts.ts';
import type { UnixSeconds } from '../../core/time.ts';
import { allowanceAfter, exhaustionOf, lockOf } from '../store.ts';
import { rowsInOrderOf } from './batches.ts';
import type { Engine } from './engine.ts';
import { copyOf, decision, statement } from './statement.ts';

const clientBytes = 16;
/** A try fails only if another node has succeeded, and the limits allow only so many successes. */
const maxTries = 100;

const selectAttempts = statement(`
  SELECT a.last_number, a.numbers, a.times, a.clients, a.in_life, a.life_ends_at, a.stale_at, r.expires_at
  FROM (SELECT $1::bytea AS secret_id) asked
    LEFT JOIN mayfly_store.attempts a USING (secret_id) LEFT JOIN mayfly_store.records r ON r.secret_id = substr(asked.secret_id, 1, 16)`);

const replaceAttempts = decision(`
  INSERT INTO mayfly_store.attempts (secret_id, last_number, numbers, times, clients, in_life, life_ends_at, stale_at)
  VALUES ($3, $5, $6::bigint[], $7::bigint[], $8, $9, $10, $11)
  ON CONFLICT (secret_id) DO UPDATE SET last_number = excluded.last_number, numbers = excluded.numbers, times = excluded.times,
    clients = excluded.clients, in_life = excluded.in_life, life_ends_at = excluded.life_ends_at, stale_at = excluded.stale_at
  WHERE attempts.last_number = $4
  RETURNING 1`);

const selectCounted = statement(`
  SELECT secret_id AS asked_id, times, in_life FROM mayfly_store.attempts WHERE secret_id = ANY ($1::bytea[])`);

interface CountedRow {
  readonly asked_id: Uint8Array;
  readonly times: readonly unknown[];
  readonly in_life: number;
}

interface AttemptsRow {
  /** `null`, like the fields below, if nothing has been counted yet. */
  last_number: number | null;
  numbers: readonly unknown[] | null;
  times: readonly unknown[] | null;
  clients: Uint8Array | null;
  in_life: number | null;
  life_ends_at: UnixSeconds | null;
  stale_at: UnixSeconds | null;
  /** `null` if the secret is not stored. */
  expires_at: UnixSeconds | null;
}

interface CountedAttempt {
  readonly number: number;
  readonly at: UnixSeconds;
  readonly client: string;
}

interface Attempts {
  /** 0 before the first change. */
  readonly lastNumber: number;
  /** Oldest first. */
  readonly counted: readonly CountedAttempt[];
  readonly inLife: number;
  /** `null` if the secret is not stored and nothing was counted. */
  readonly lifeEndsAt: UnixSeconds | null;
  readonly staleAt: UnixSeconds;
}

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');

const networkOf = (client: string): string => client.slice(0, networkBytes);

function toAttempts(row: AttemptsRow | undefined): Attempts {
  const clients = row?.clients ?? new Uint8Array();
  const counted = (row?.numbers ?? []).map((number, place) => ({
    number: Number(number),
    at: Number(row?.times?.[place]),
    client: textOf(clients.subarray(place * clientBytes, (place + 1) * clientBytes)),
  }));
  return {
    lastNumber: row?.last_number ?? 0,
    counted,
    inLife: row?.in_life ?? 0,
    lifeEndsAt: row?.expires_at ?? row?.life_ends_at ?? null,
    staleAt: row?.stale_at ?? 0,
  };
}

const nextNumber = ({ lastNumber }: Attempts, now: UnixSeconds): number => Math.max(lastNumber + 1, now);

/** Returns the new attempts (the same object if nothing changes) and the answer. */
type Decide<Answer> = (attempts: Attempts, now: UnixSeconds) => readonly [Attempts, Answer];

/**
 * Starts a new life once the last has ended and no guess in the window counts any more. For a secret that is not
 * stored, a life lasts one window, so guesses at it count too.
 */
function atPresent(attempts: Attempts, windowSeconds: number, now: UnixSeconds) {
  const counted = attempts.counted.filter(({ at }) => at > now - windowSeconds);
  const { inLife, lifeEndsAt } = attempts;
  return counted.length === 0 && (lifeEndsAt ?? 0) <= now
    ? { counted, inLife: 0, lifeEndsAt: now + windowSeconds }
    : { counted, inLife, lifeEndsAt: lifeEndsAt ?? now + windowSeconds };
}

/** Numbering continues, so that an older reservation is never mistaken for a new one. */
const forgetAll: Decide<void> = (before, now) =>
  before.lastNumber === 0
    ? [before, undefined]
    : [{ ...before, lastNumber: nextNumber(before, now), counted: [], inLife: 0 }, undefined];

function reserveFor(client: string, limits: AttemptLimits): Decide<Reservation> {
  return (before, now) => {
    const { counted, inLife, lifeEndsAt } = atPresent(before, limits.windowSeconds, now);
    const judged = {
      ofSecret: counted.map(({ at }) => at),
      ofClient: counted.filter((each) => each.client === client).map(({ at }) => at),
      ofNetwork: counted.filter((each) => networkOf(each.client) === networkOf(client)).map(({ at }) => at),
      inLife,
      lifeEndsAt,
    };
    const exhausted = exhaustionOf(judged, limits, now);
    if (exhausted !== null) return [before, exhausted];
    const attempt = nextNumber(before, now);
    const after: Attempts = {
      lastNumber: attempt,
      counted: [...counted, { number: attempt, at: now, client }],
      inLife: inLife + 1,
      lifeEndsAt,
      staleAt: Math.max(before.staleAt, lifeEndsAt, now + limits.windowSeconds),
    };
    return [after, { outcome: 'reserved', attempt, ...allowanceAfter(judged, limits, now) }];
  };
}

function refundOf(attempt: number): Decide<void> {
  return (before, now) => {
    const counted = before.counted.filter(({ number }) => number !== attempt);
    if (counted.length === before.counted.length) return [before, undefined];
    const inLife = Math.max(0, before.inLife - 1);
    return [{ ...before, lastNumber: nextNumber(before, now), counted, inLife }, undefined];
  };
}

interface Turn {
  /** By `performance.now()`. */
  readonly askedAtMs: number;
  /** Called again if the attempts have changed since the last call. */
  decide(attempts: Attempts, now: UnixSeconds): Attempts;
  answer(): void;
  reject(error: unknown): void;
}

export function createAttemptStore(engine: Engine): AttemptStore {
  const waiting = new Map<string, Turn[]>();

  async function replace(
    id: CountedId,
    before: Attempts,
    after: Attempts,
    askedAtMs: number,
  ): Promise<boolean> {
    const values = [
      id,
      before.lastNumber,
      after.lastNumber,
      after.counted.map(({ number }) => number),
      after.counted.map(({ at }) => at),
      Buffer.from(after.counted.map(({ client }) => client).join(''), 'latin1'),
      after.inLife,
      after.lifeEndsAt,
      after.staleAt,
    ];
    return (await engine.decide(replaceAttempts, values, askedAtMs)).length === 1;
  }

  async function decideTogether(id: CountedId, turns: readonly Turn[]): Promise<void> {
    // However many tries it takes, the time limit of one call applies, counted from the earliest turn.
    const askedAtMs = Math.min(...turns.map((turn) => turn.askedAtMs));
    for (let tries = 0; tries < maxTries; tries += 1) {
      const before = toAttempts((await engine.read<AttemptsRow>(selectAttempts, [id], askedAtMs))[0]);
      const now = engine.time.now();
      const after = turns.reduce((attempts, turn) => turn.decide(attempts, now), before);
      if (after === before || (await replace(id, before, after, askedAtMs))) return;
    }
    throw new ServiceError('unavailable', 'Too many nodes count attempts on one secret.');
  }

  async function work(key: string, id: CountedId, turns: Turn[]): Promise<void> {
    while (turns.length > 0) {
      const together = turns.splice(0);
      await decideTogether(id, together).then(
        () => together.forEach((turn) => void turn.answer()),
        (error: unknown) => together.forEach((turn) => void turn.reject(error)),
      );
    }
    waiting.delete(key);
  }

  function ask<Answer>(asked: CountedId, decide: Decide<Answer>): Promise<Answer> {
    const id = copyOf(asked) as CountedId;
    const key = textOf(id);
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    let answer = (): void => {};
    const turn: Turn = {
      askedAtMs: performance.now(),
      decide(attempts, now) {
        const [after, answered] = decide(attempts, now);
        answer = () => resolve(answered);
        return after;
      },
      answer: () => answer(),
      reject,
    };
    const others = waiting.get(key);
    if (others !== undefined) {
      others.push(turn);
      return promise;
    }
    const turns = [turn];
    waiting.set(key, turns);
    void work(key, id, turns);
    return promise;
  }

  return {
    reserve: (id, client, limits) => ask(id, reserveFor(textOf(client), limits)),
    refund: (id, attempt) => ask(id, refundOf(attempt)),
    allowMore: (id) => ask(id, forgetAll),
    async findLocks(asked, limits) {
      const ids = asked.map(copyOf);
      const rows = await engine.read<CountedRow>(selectCounted, [ids]);
      const now = engine.time.now();
      return rowsInOrderOf(ids, (id) => id, rows).map((row) => {
        const times = (row?.times ?? []).map(Number);
        const ofSecret = times.filter((at) => at > now - limits.windowSeconds);
        return lockOf({ ofSecret, inLife: row?.in_life ?? 0 }, limits, now);
      });
    },
  };
}
