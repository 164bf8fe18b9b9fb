/**
 * Signing up.
 *
 * Owns: the request and its completion. Invariants: there is no account before its address is proven, and its password
 * is chosen only behind the mailed link, so that nobody sets one for somebody else's address; the request answers, and
 * works, the same whether or not the address has an account (P17).
 */

import type { Links } from '../links.ts';
import { isDeliverable } from '../mail/recipients.ts';
import type { AccountMail, AccountStore, IsCommonPassword, PassphraseHasher } from '../ports.ts';
import { Sensitive } from '../sensitive.ts';
import type { UnixSeconds } from '../time.ts';
import { type AccountMailDeps, sendOneOf } from './account-mail.ts';
import { drawDataKey } from './data-key.ts';
import type { RequestOutcome, SignUpOutcome, TicketOutcome } from './outcomes.ts';
import { makePassword, refusalOf } from './passwords.ts';
import { beginSession, type SessionDeps } from './sessions.ts';
import { type DrawnTicket, findTicket, keepTicket } from './tickets.ts';

export interface SignUpDeps extends AccountMailDeps, SessionDeps {
  readonly store: AccountStore & { now(): UnixSeconds };
  readonly hasher: PassphraseHasher;
  readonly links: Links;
  readonly isCommonPassword: IsCommonPassword;
}

export async function requestSignUp(
  deps: SignUpDeps,
  { email, locale }: { readonly email: string; readonly locale: string },
): Promise<RequestOutcome> {
  if (!isDeliverable(email)) return { outcome: 'invalid_email' };
  const username = email.toLowerCase();
  const isTaken = (await deps.store.findAccount(username)) !== null;
  const drawn = await keepTicket(deps, 'sign_up', username);
  const to = { to: new Sensitive(username), locale };
  const [invitation, reminder] = [
    { ...to, ...invite(deps.links, drawn) },
    { ...to, ...remind(deps.links) },
  ];
  const wanted = isTaken ? reminder : invitation;
  sendOneOf(deps, [invitation, reminder], drawn.isKept ? wanted : null);
  return { outcome: 'requested' };
}

function invite(links: Links, { ticket, expiresAt }: DrawnTicket) {
  const link = new Sensitive(links.signUpUrl(ticket.expose()));
  return { kind: 'sign_up', link, expiresAt } as const satisfies Partial<AccountMail>;
}

function remind({ logInUrl, forgottenUrl }: Links) {
  return { kind: 'already_signed_up', logInUrl, forgottenUrl } as const satisfies Partial<AccountMail>;
}

export async function checkSignUp(deps: Pick<SignUpDeps, 'store'>, ticket: string): Promise<TicketOutcome> {
  const found = await findTicket(deps, 'sign_up', ticket);
  return found === null ? { outcome: 'gone' } : { outcome: 'valid', username: found.username };
}

export async function signUp(
  deps: SignUpDeps,
  input: {
    readonly ticket: string;
    readonly password: Sensitive<string>;
    readonly label: string;
    readonly clientPrefix?: string;
  },
): Promise<SignUpOutcome> {
  const { store, events, random } = deps;
  const found = await findTicket(deps, 'sign_up', input.ticket);
  if (found === null) return { outcome: 'gone' };
  const refusal = await refusalOf(input.password.expose(), found.username, deps.isCommonPassword);
  if (refusal !== null) return refusal;
  const dataKey = drawDataKey(random);
  const createdAt = store.now();
  const client = input.clientPrefix ?? '';
  const password = await makePassword(deps, { password: input.password, dataKey, setAt: createdAt, client });
  const account = await store.redeemSignUp(found.ticketHash, { plan: 'basic', createdAt }, password);
  if (account === 'gone' || account === 'exists') return { outcome: account };
  events({ event: 'signed_up', account: account.id });
  const session = await beginSession(deps, account, {
    verifier: password.verifier,
    dataKey,
    label: input.label,
  });
  dataKey.fill(0);
  // Its password was replaced in this very moment: whoever did that is logged in, and nobody else.
  return session === null ? { outcome: 'exists' } : { outcome: 'signed_up', session };
}
