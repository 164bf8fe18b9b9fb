/**
 * Tickets: what stands in a mailed link that proves an address.
 *
 * Owns: how one is drawn, how long it lives and what is kept of it. Invariants: only its hash is stored; a newer one
 * replaces an older one of its kind; a ticket of one kind does nothing in the other's place, nor as a token or a session.
 *
 * An address that is to get no ticket gets a husk: the same write to the store, of a ticket whose text nobody has, for as
 * long as the quiet time. So the work, and a second request within that time, tell nothing about the address (P17).
 */
import { hashToken } from '../crypto/derive.ts';
import type { RandomBytes } from '../crypto/random.ts';
import type { StoredTicket, Ticket, TicketKind } from './accounts.ts';
import { drawBearer, parseBearer } from './bearer.ts';
import type { AccountStore } from './ports.ts';
import { Sensitive } from './sensitive.ts';
import type { UnixSeconds } from './time.ts';

export interface TicketDeps {
  readonly store: Pick<AccountStore, 'addTicket' | 'findTicket'> & { now(): UnixSeconds };
  readonly random: RandomBytes;
}

/** Between two mails of one kind to one address. */
export const quietSeconds = 60;
const lifetimeSeconds: Readonly<Record<TicketKind, number>> = { sign_up: 86_400, reset: 3_600 };

export interface KeptTicket {
  readonly ticket: Sensitive<Ticket>;
  readonly expiresAt: UnixSeconds;
}

/** Keeps a new ticket, or its husk; `null` when an earlier one is so young that no mail should follow it. */
export async function keepTicket(
  { store, random }: TicketDeps,
  kind: TicketKind,
  username: string,
  form: 'ticket' | 'husk',
): Promise<KeptTicket | null> {
  const { bytes, text } = drawBearer(random);
  const createdAt = store.now();
  const expiresAt = createdAt + (form === 'husk' ? quietSeconds : lifetimeSeconds[kind]);
  const stored = { kind, ticketHash: hashToken(bytes, 'ticket'), username, createdAt, expiresAt };
  const isKept = await store.addTicket(stored, quietSeconds);
  return isKept ? { ticket: new Sensitive(text as Ticket), expiresAt } : null;
}

/** A live ticket of this kind, or `null`. Uses nothing up. */
export async function findTicket(
  { store }: Pick<TicketDeps, 'store'>,
  kind: TicketKind,
  text: string,
): Promise<StoredTicket | null> {
  const bytes = parseBearer(text);
  const found = bytes === null ? null : await store.findTicket(kind, hashToken(bytes, 'ticket'));
  return found !== null && store.now() < found.expiresAt ? found : null;
}
