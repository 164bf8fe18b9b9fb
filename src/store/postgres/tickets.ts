/**
 * Tickets.
 *
 * One function in 002-accounts.sql uses up a ticket and voids the others. It also ends everything begun with the earlier password
 * up to the moment of the change. One rule for all stores (`mayKeepTicket`) limits how many tickets a username may have. A ticket
 * takes the place after those it was judged against; if another ticket has taken that place first, it is judged again.
 */
import type { AccountId, AccountLinkTicket, StoredTicket } from '../../core/account.ts';
import type { TicketStore } from '../../core/ports/tickets.ts';
import { type AccountRow, accountColumns, accountOf, freshAccount, ticketColumns } from '../account-rows.ts';
import { countsUntil, mayKeepTicket } from '../store.ts';
import { decided, isDone } from './batches.ts';
import type { Engine, Values } from './engine.ts';
import { passwordValues } from './passwords.ts';
import { copyOf, decision, statement } from './statement.ts';

const selectTicket = statement(`
  SELECT ${ticketColumns} FROM mayfly_store.tickets
  WHERE ticket_hash = $1 AND kind = $2 AND expires_at > $3`);

const selectEarlier = statement(`
  SELECT place, created_at AS "createdAt", expires_at AS "expiresAt" FROM mayfly_store.tickets
  WHERE kind = $1 AND username = $2 ORDER BY place`);

interface EarlierTicket extends Pick<StoredTicket, 'createdAt' | 'expiresAt'> {
  readonly place: number;
}

/** Uses the place after `$5`, unless the ticket at `$5` has been swept since: its place may have been reused. */
const insertTicket = decision(`
  WITH last AS MATERIALIZED (
    SELECT FROM mayfly_store.tickets WHERE kind = $3 AND username = $4 AND place = $5::bigint FOR KEY SHARE)
  INSERT INTO mayfly_store.tickets (kind, username, place, ticket_hash, created_at, expires_at, counts_until)
  SELECT $3, $4, $5::bigint + 1, $6, $7, $8, $9 WHERE $5::bigint = 0 OR EXISTS (SELECT FROM last)
  ON CONFLICT (kind, username, place) DO NOTHING RETURNING place`);

const insertInvited = decision(`
  WITH made AS (
    INSERT INTO mayfly_store.accounts (username, plan, created_at) VALUES ($3, $4, $5)
    ON CONFLICT (username) DO NOTHING RETURNING id, username)
  SELECT id, mayfly_store.hand_ticket(username, $6::bytea, $7::bigint, $8::bigint) FROM made`);

const replaceTickets = decision(`
  SELECT mayfly_store.replace_reset_tickets($3::bigint, $4::bytea, $5::bigint, $6::bigint) AS done`);
const redeemSignUp = decision(`
  SELECT new_id AS id, name FROM mayfly_store.redeem_sign_up(
    $3::bytea, (SELECT now FROM clock), $4::text, $5::bigint, $6::bytea, $7::bytea, $8::bytea, $9::bigint)`);
const redeemReset = decision(`
  SELECT ${accountColumns} FROM mayfly_store.redeem_reset(
    $3::bytea, (SELECT now FROM clock), $4::bytea, $5::bytea, $6::bytea, $7::bigint, $8::boolean) AS a`);

const linkValues = ({ ticketHash, createdAt, expiresAt }: AccountLinkTicket): Values => [
  copyOf(ticketHash),
  createdAt,
  expiresAt,
];

export function createTicketStore(engine: Engine): TicketStore {
  return {
    async inviteAccount({ username, plan, createdAt }, ticket) {
      const values = [username, plan, createdAt, ...linkValues(ticket)];
      const row = await decided<{ id: AccountId }>(engine, insertInvited, values);
      return row && freshAccount({ id: row.id, username, plan, createdAt });
    },
    async addTicket(ticket, limits) {
      const { kind, username, createdAt, expiresAt } = ticket;
      const ticketHash = copyOf(ticket.ticketHash);
      const counted = countsUntil(ticket, limits);
      for (;;) {
        const earlier = await engine.read<EarlierTicket>(selectEarlier, [kind, username]);
        if (!mayKeepTicket(ticket, earlier, limits, engine.time.now())) return false;
        const last = earlier.at(-1)?.place ?? 0;
        const values = [kind, username, last, ticketHash, createdAt, expiresAt, counted];
        if ((await engine.decide(insertTicket, values)).length === 1) return true;
      }
    },
    replaceResetTickets: (id, ticket) => isDone(engine, replaceTickets, [id, ...linkValues(ticket)]),
    async findTicket(kind, ticketHash) {
      const values = [copyOf(ticketHash), kind, engine.time.now()];
      return (await engine.read<StoredTicket>(selectTicket, values))[0] ?? null;
    },
    async redeemSignUp(ticketHash, { plan, createdAt }, password) {
      const values = [copyOf(ticketHash), plan, createdAt, ...passwordValues(password)];
      const row = await decided<{ id: AccountId | null; name: string }>(
        engine,
        redeemSignUp,
        values,
        ({ id }) => id !== null,
      );
      const { id = null, name: username = '' } = row ?? {};
      if (id === null) return 'gone';
      if (id === 0) return 'exists';
      return freshAccount({ id, username, plan, createdAt });
    },
    async redeemReset(ticketHash, password, tokens) {
      const values = [copyOf(ticketHash), ...passwordValues(password), tokens === 'revoke'];
      const row = await decided<AccountRow>(engine, redeemReset, values);
      return row && accountOf(row);
    },
  };
}
