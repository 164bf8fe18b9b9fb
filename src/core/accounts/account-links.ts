/**
 * One-time links that the operator passes on when no email goes out: they set a new account's first password, or a new password. Each
 * contains a reset ticket (`sign-up.ts`), is valid for a day and replaces the account's earlier links. It carries no data key: otherwise,
 * anybody who got hold of the link could open the account's list.
 */

import { hashToken } from '../../crypto/derive.ts';
import type { RandomBytes } from '../../crypto/random.ts';
import type { Account, AccountLinkTicket, Ticket } from '../account.ts';
import { isDeliverable, usernameOf } from '../mail/recipients.ts';
import type { PlanName } from '../plans.ts';
import { Sensitive } from '../sensitive.ts';
import type { UnixSeconds } from '../time.ts';
import type { AccountAdminCore } from './admin.ts';
import { hasNothing } from './sign-up.ts';
import { drawBearer } from './tokens.ts';

const lifetimeSeconds = 86_400;

interface AccountLink {
  /** Used in the same kind of link as a reset. */
  readonly ticket: Sensitive<Ticket>;
  readonly expiresAt: UnixSeconds;
}

type InviteOutcome =
  | ({ readonly outcome: 'invited'; readonly username: string } & AccountLink)
  | { readonly outcome: 'exists' }
  | { readonly outcome: 'invalid_email' };

export async function inviteAccount(
  { store, random }: AccountAdminCore,
  input: { readonly email: string; readonly plan: PlanName },
): Promise<InviteOutcome> {
  const username = usernameOf(input.email);
  if (!isDeliverable(username)) return { outcome: 'invalid_email' };
  const createdAt = store.now();
  const { link, stored } = draw(random, createdAt);
  const account = await store.inviteAccount({ username, plan: input.plan, createdAt }, stored);
  return account === null ? { outcome: 'exists' } : { outcome: 'invited', username, ...link };
}

type ResetLinkOutcome =
  /** `isFirst`: the account has neither a password nor a token, so nothing is lost. */
  ({ readonly outcome: 'made'; readonly isFirst: boolean } & AccountLink) | { readonly outcome: 'locked' };

export async function makeResetLink(
  { store, random }: AccountAdminCore,
  { id, username }: Account,
): Promise<ResetLinkOutcome> {
  const { link, stored } = draw(random, store.now());
  if (!(await store.replaceResetTickets(id, stored))) return { outcome: 'locked' };
  return { outcome: 'made', isFirst: await hasNothing({ store }, username), ...link };
}

function draw(random: RandomBytes, createdAt: UnixSeconds): { link: AccountLink; stored: AccountLinkTicket } {
  const { bytes, text } = drawBearer(random);
  const expiresAt = createdAt + lifetimeSeconds;
  const stored = { ticketHash: hashToken(bytes, 'ticket'), createdAt, expiresAt };
  return { link: { ticket: new Sensitive(text as Ticket), expiresAt }, stored };
}
