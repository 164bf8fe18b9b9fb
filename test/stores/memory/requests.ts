/** Requests and their answers, in memory. */

import type { AccountId } from '../../../src/core/account.ts';
import { ServiceError } from '../../../src/core/errors.ts';
import type { RequestId } from '../../../src/core/keys.ts';
import { type RequestStore, requestNoticeSeconds } from '../../../src/core/ports/requests.ts';
import type { SecretStore } from '../../../src/core/ports/secrets.ts';
import {
  type AnswerId,
  freePlaces,
  type NewRequest,
  type StoredAnswer,
  type StoredRequest,
} from '../../../src/core/request.ts';
import type { UnixSeconds } from '../../../src/core/time.ts';
import type { StoreTime } from '../../../src/store/store-time.ts';
import { type AccountTables, sameBytes } from './account-tables.ts';

interface RequestRow {
  readonly position: number;
  request: NewRequest;
  isEnded: boolean;
  updatedAt: UnixSeconds;
  /** When the last of its answers expires; 0 without one. */
  answersUntil: UnixSeconds;
  noticedAt: UnixSeconds;
  reports: number;
  readonly answers: { id: AnswerId; box: Uint8Array; isDiscarded: boolean }[];
}

export interface MemoryRequests {
  readonly store: RequestStore;
  forgetOwner(owner: AccountId): void;
  /** Erases up to `limit` requests; returns how many. */
  sweep(limit: number): number;
}

export function createMemoryRequests(
  { accounts }: Pick<AccountTables, 'accounts'>,
  time: Pick<StoreTime, 'now'>,
  put: SecretStore['put'],
): MemoryRequests {
  const rows = new Map<string, RequestRow>();
  let lastPosition = 0;

  const isOver = ({ request, answersUntil }: RequestRow): boolean =>
    time.now() >= Math.max(request.until, answersUntil);
  const isOpen = ({ isEnded, request }: RequestRow): boolean => !isEnded && time.now() < request.until;
  const isUnlocked = (owner: AccountId | null): boolean =>
    owner === null || accounts.get(owner)?.lockedAt === null;

  function kept(id: RequestId): RequestRow | null {
    const row = rows.get(id.toHex());
    return row === undefined || isOver(row) || !isUnlocked(row.request.owner) ? null : row;
  }

  /** The places of the owner's open requests, without those of `except`. */
  function placesOf(owner: AccountId | null, except: RequestRow | null = null): number {
    const open = rows.values().filter((row) => row !== except && row.request.owner === owner && isOpen(row));
    return open.reduce((sum, { request }) => sum + request.places, 0);
  }

  const isTooMany = (places: number, maxPlaces: number | null): boolean =>
    maxPlaces !== null && places > maxPlaces;
  const taken = ({ answers }: RequestRow): number => answers.filter((each) => !each.isDiscarded).length;
  const touch = (row: RequestRow): void => {
    row.updatedAt = time.now();
  };

  function end(row: RequestRow): boolean {
    if (!isOpen(row)) return false;
    row.isEnded = true;
    touch(row);
    return true;
  }

  const toStored = (row: RequestRow): StoredRequest => ({
    ...structuredClone(row.request),
    isEnded: !isOpen(row),
    taken: taken(row),
    answered: row.answers.length,
    updatedAt: row.updatedAt,
    reports: row.reports,
  });

  const answerIn = (row: RequestRow | null, id: AnswerId) =>
    row?.answers.find((each) => sameBytes(each.id, id));
  const copyOf = (answer: StoredAnswer): StoredAnswer => structuredClone(answer);

  const listed = () =>
    [...rows.values()].filter(isOpen).sort((a, b) => b.reports - a.reports || b.position - a.position);
  const cursorOf = ({ reports, position }: RequestRow): string => `${reports}.${position}`;

  const store: RequestStore = {
    async putRequest(request, maxPlaces) {
      if (!isUnlocked(request.owner)) throw new ServiceError('unavailable', 'There is no such account.');
      if (isTooMany(placesOf(request.owner) + request.places, maxPlaces)) return 'too_many_places';
      lastPosition += 1;
      rows.set(request.id.toHex(), {
        position: lastPosition,
        request: structuredClone(request),
        isEnded: false,
        updatedAt: request.createdAt,
        answersUntil: 0,
        noticedAt: 0,
        reports: 0,
        answers: [],
      });
      return 'stored';
    },
    async findRequest(id) {
      const row = kept(id);
      return row && toStored(row);
    },
    async findAnswer(requestId, id) {
      const answer = answerIn(kept(requestId), id);
      return answer === undefined ? null : copyOf(answer);
    },
    listAnswers: async (requestId) => kept(requestId)?.answers.map(copyOf) ?? [],
    async putAnswer({ requestId, id, box, record }) {
      const row = kept(requestId);
      if (row === null) return 'unknown';
      const known = answerIn(row, id);
      if (known !== undefined) return copyOf(known);
      if (!isOpen(row)) return 'ended';
      if (freePlaces(toStored(row)) === 0) return 'full';
      const before = { ...row, answers: [...row.answers] };
      row.answers.push(structuredClone({ id, box, isDiscarded: false }));
      row.answersUntil = Math.max(row.answersUntil, record.expiresAt);
      touch(row);
      // Its work is one synchronous step, so nothing comes in between.
      await put(record).catch((error: unknown) => {
        rows.set(requestId.toHex(), before);
        throw error;
      });
      return 'stored';
    },
    async changeRequest(id, change, maxPlaces) {
      const row = kept(id);
      if (row === null) return 'unknown';
      if ('close' in change) {
        end(row);
        return 'changed';
      }
      if (!isOpen(row)) return 'ended';
      const { owner, places } = row.request;
      if ('places' in change) {
        if (change.places < taken(row)) return 'places_taken';
        if (change.places > places && isTooMany(placesOf(owner, row) + change.places, maxPlaces))
          return 'too_many_places';
      }
      row.request = { ...row.request, ...change };
      touch(row);
      return 'changed';
    },
    async discardAnswer(requestId, id) {
      const row = kept(requestId);
      const answer = answerIn(row, id);
      if (row === null || answer === undefined || answer.isDiscarded) return false;
      answer.isDiscarded = true;
      touch(row);
      return true;
    },
    async takeRequestNotice(id) {
      const row = kept(id);
      if (!row?.request.notify || time.now() < row.noticedAt + requestNoticeSeconds) return false;
      row.noticedAt = time.now();
      return true;
    },
    async reportRequest(id) {
      const row = kept(id);
      if (row !== null) row.reports += 1;
    },
    async listRequests(limit, after) {
      const all = listed();
      const [reports = 0, position = 0] = after?.split('.').map(Number) ?? [];
      const rest =
        after === null
          ? all
          : all.filter(
              (row) => row.reports < reports || (row.reports === reports && row.position < position),
            );
      return rest.slice(0, limit).map((row) => ({ ...toStored(row), cursor: cursorOf(row) }));
    },
    async endRequest(id) {
      const row = rows.get(id.toHex());
      return row !== undefined && end(row);
    },
    endRequests: async (limit) => listed().slice(0, limit).filter(end).length,
  };

  return {
    store,
    forgetOwner(owner) {
      for (const [id, { request }] of rows) if (request.owner === owner) rows.delete(id);
    },
    sweep(limit) {
      // An end is for ever, also when the time is set back.
      for (const row of rows.values()) if (!isOpen(row)) row.isEnded = true;
      const over = [...rows].filter(([, row]) => isOver(row)).slice(0, limit);
      for (const [id] of over) rows.delete(id);
      return over.length;
    },
  };
}
