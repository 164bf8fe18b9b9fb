/** What setting a store's time does to its counts, sessions and tickets. */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import {
  areFound,
  logIn,
  newSession,
  newTicket,
  noTicketLimits,
  personNamed,
  sessionSeconds,
  ticketFor,
  ticketSeconds,
} from './conformance/account-fixtures.ts';
import { limits as attemptLimits } from './conformance/attempt-fixtures.ts';
import { clientStays, found, type OpenStore, putNew } from './conformance/check.ts';
import { openPostgresSubject, openSqliteSubject } from './subjects.ts';

const monthSeconds = 30 * 86_400;
const limits = { ...attemptLimits, perClient: 1 };

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server[Symbol.asyncDispose]());

const stores: readonly (readonly [string, OpenStore])[] = [
  ['SQLite', openSqliteSubject],
  ['PostgreSQL', () => openPostgresSubject(server)],
];

describe.each(stores)('the %s store', (_name, open) => {
  it('P8 P14: when the time is set back, what began later than the new time keeps its remaining time', async () => {
    const { store, wallClock, close } = await open();
    try {
      const start = store.now();
      const ann = await personNamed(store, 'ann@example.org');
      const lasting = { ...newSession(start), expiresAt: start + 2 * monthSeconds };
      await logIn(store, ann, lasting);
      const earlier = {
        ...newTicket('reset', 'ann@example.org', start),
        expiresAt: start + 2 * monthSeconds,
      };
      await store.addTicket(earlier, noTicketLimits);
      wallClock.jump(monthSeconds);
      await store.setTime();

      const session = newSession(store.now());
      await logIn(store, ann, session);
      const ticket = await ticketFor(store, 'reset', 'ann@example.org');
      const { secretId } = await putNew(store);
      const client = new Uint8Array(16).fill(7);
      expect((await store.reserve(secretId, client, limits)).outcome).toBe('reserved');
      wallClock.jump(-monthSeconds);
      await store.setTime();
      expect(store.now()).toBe(start);

      // What had begun by this time is left unchanged.
      expect((await store.findSession(lasting.sessionHash))?.session.expiresAt).toBe(lasting.expiresAt);
      expect((await store.findTicket('reset', earlier.ticketHash))?.expiresAt).toBe(earlier.expiresAt);

      // The earlier dispute started on a new second, so one second has passed.
      const passed = 1;
      wallClock.advance(limits.windowSeconds - passed - 1);
      expect(await store.reserve(secretId, client, limits)).toEqual({
        outcome: 'exhausted',
        retryAfterSeconds: 1,
        needsCreator: false,
      });
      wallClock.advance(1);
      expect((await store.reserve(secretId, client, limits)).outcome).toBe('reserved');

      wallClock.set(start + ticketSeconds - passed - 1);
      expect(await store.findTicket('reset', ticket.ticketHash)).not.toBeNull();
      wallClock.advance(1);
      expect(await store.findTicket('reset', ticket.ticketHash)).toBeNull();

      wallClock.set(start + sessionSeconds - passed - 1);
      expect(await areFound(store, [session])).toEqual([true]);
      wallClock.advance(1);
      expect(await areFound(store, [session])).toEqual([false]);
    } finally {
      await close();
    }
  });

  it('P6: setting the time back leaves what is known of a secret that was read', async () => {
    const { store, wallClock, close } = await open();
    try {
      wallClock.jump(monthSeconds);
      await store.setTime();
      const now = store.now();
      const lasting = { expiresAt: now + 60, receiptExpiresAt: now + monthSeconds };
      const record = await putNew(store, lasting);
      await store.claim(await found(store, record.secretId), clientStays);
      wallClock.advance(60);
      await store.sweep(100);
      wallClock.jump(-monthSeconds);
      await store.setTime();
      const receipt = await store.findReceipt(record.receiptId);
      expect([receipt?.state, receipt?.expiresAt]).toEqual(['received', record.expiresAt]);
    } finally {
      await close();
    }
  });
});
