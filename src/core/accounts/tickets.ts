/**
 * Tickets: what stands in a mailed link that proves an address.
 *
 * Owns: how one is drawn, how long it lives and what is kept of it. Invariants: only its hash is stored; a ticket of one
 * kind does nothing in the other's place, nor as a token or a session; asking for one takes nothing from those before it,
 * so no stranger voids an owner's link; using one voids the others of its kind.
 *
 * A ticket that no mail is to follow is kept like any other, and its text is thrown away: so the work, and what comes of
 * later requests, is the same whether or not the address has an account (P17).
 */

import { hashToken } from '../../crypto/derive.ts';
import type { RandomBytes } from '../../crypto/random.ts';
import type { AccountStore } from '../ports.ts';
import { Sensitive } from '../sensitive.ts';
import type { UnixSeconds } from '../time.ts';
import type { StoredTicket, Ticket, TicketKind, TicketLimits } from './accounts.ts';
import { drawBearer, parseBearer } from './tokens.ts';

export interface TicketDeps {
  readonly store: Pick<AccountStore, 'addTicket' | 'findTicket'> & { now(): UnixSeconds };
  readonly random: RandomBytes;
}

const hourSeconds = 3_600;
const daySeconds = 86_400;
const lifetimeSeconds: Readonly<Record<TicketKind, number>> = { sign_up: daySeconds, reset: hourSeconds };

/**
 * Strangers who keep asking bring one mailbox at most 26 mails about a reset and 3 about a sign-up in a day. No quiet time
 * is longer than a link lives, so the mailbox always holds a link that works, or gets one when it is asked for.
 */
export const ticketLimits: TicketLimits = {
  maxLive: 3,
  quietSeconds: [60, 300, 900, hourSeconds],
  windowSeconds: daySeconds,
};

export interface DrawnTicket {
  readonly ticket: Sensitive<Ticket>;
  readonly expiresAt: UnixSeconds;
  /** Whether it works, and a mail may follow. */
  readonly isKept: boolean;
}

/** Draws a ticket and keeps it, unless there were too many lately. */
export async function keepTicket(
  { store, random }: TicketDeps,
  kind: TicketKind,
  username: string,
): Promise<DrawnTicket> {
  const { bytes, text } = drawBearer(random);
  const createdAt = store.now();
  const expiresAt = createdAt + lifetimeSeconds[kind];
  const stored = { kind, ticketHash: hashToken(bytes, 'ticket'), username, createdAt, expiresAt };
  const isKept = await store.addTicket(stored, ticketLimits);
  return { ticket: new Sensitive(text as Ticket), expiresAt, isKept };
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
