/**
 * A forgotten password.
 *
 * Owns: the request and its completion, also for accounts made by a command, which have no password yet. Invariants: the
 * request answers, and works, the same whether or not there is an account (P17); what can be refused is refused before
 * the ticket is used up; every session ends, and every API token if that is asked for. The data key is kept only by an API token that opens it: without one the
 * account gets a new key, and the list of what was shared before is lost (P9 leaves no other way).
 */

import type { Links } from '../links.ts';
import { isDeliverable } from '../mail/recipients.ts';
import type { AccountStore, IsCommonPassword, PassphraseHasher } from '../ports.ts';
import { Sensitive } from '../sensitive.ts';
import type { UnixSeconds } from '../time.ts';
import { type AccountMailDeps, sendBehind, sendOneOf } from './account-mail.ts';
import type { Account, StoredPassword, TokenFate } from './accounts.ts';
import { drawDataKey } from './data-key.ts';
import type { RequestOutcome, ResetOutcome, TicketOutcome } from './outcomes.ts';
import { makePassword, refusalOf } from './passwords.ts';
import { beginSession, type SessionDeps } from './sessions.ts';
import { findTicket, keepTicket } from './tickets.ts';
import { dataKeyBehind } from './tokens.ts';

export interface ResetDeps extends AccountMailDeps, SessionDeps {
  readonly store: AccountStore & { now(): UnixSeconds };
  readonly hasher: PassphraseHasher;
  readonly links: Links;
  readonly isCommonPassword: IsCommonPassword;
}

export async function requestReset(
  deps: ResetDeps,
  { email, locale }: { readonly email: string; readonly locale: string },
): Promise<RequestOutcome> {
  if (!isDeliverable(email)) return { outcome: 'invalid_email' };
  const username = email.toLowerCase();
  const isKnown = (await deps.store.findAccount(username)) !== null;
  const drawn = await keepTicket(deps, 'reset', username);
  const link = new Sensitive(deps.links.resetUrl(drawn.ticket.expose()));
  const { expiresAt } = drawn;
  const mail = { to: new Sensitive(username), locale, kind: 'reset', link, expiresAt } as const;
  sendOneOf(deps, [mail], drawn.isKept && isKnown ? mail : null);
  return { outcome: 'requested' };
}

export async function checkReset(deps: Pick<ResetDeps, 'store'>, ticket: string): Promise<TicketOutcome> {
  const found = await findTicket(deps, 'reset', ticket);
  return found === null ? { outcome: 'gone' } : { outcome: 'valid', username: found.username };
}

export interface ResetInput {
  readonly ticket: string;
  readonly password: Sensitive<string>;
  /** `''` for none. */
  readonly existingToken: Sensitive<string>;
  /** `revoke` ends the one that was given too: it has opened the data key by then. */
  readonly tokens: TokenFate;
  readonly label: string;
  readonly locale: string;
  readonly clientPrefix?: string;
}

export async function resetPassword(deps: ResetDeps, input: ResetInput): Promise<ResetOutcome> {
  const { store, random } = deps;
  const found = await findTicket(deps, 'reset', input.ticket);
  if (found === null) return { outcome: 'gone' };
  const refusal = await refusalOf(input.password.expose(), found.username, deps.isCommonPassword);
  if (refusal !== null) return refusal;
  const keepsList = input.existingToken.expose() !== '';
  const dataKey = keepsList
    ? await dataKeyBehind(store, found.username, input.existingToken.expose())
    : drawDataKey(random);
  if (dataKey === null) return { outcome: 'invalid_token' };
  const { password: text, clientPrefix: client = '' } = input;
  const password = await makePassword(deps, { password: text, dataKey, setAt: store.now(), client });
  const account = await store.redeemReset(found.ticketHash, password, input.tokens);
  if (account === null) return { outcome: 'gone' };
  tellChanged(deps, account, input);
  const session = await begin(deps, account, { password, dataKey, label: input.label });
  // Replaced again in this very moment, by somebody who proved the address too: this link has done what it could.
  return session === null ? { outcome: 'gone' } : { outcome: 'reset', session, keepsList };
}

function tellChanged(deps: ResetDeps, account: Account, { locale, tokens }: ResetInput): void {
  deps.events({ event: 'password_changed', account: account.id, by: 'reset' });
  const { forgottenUrl } = deps.links;
  const to = new Sensitive(account.username);
  sendBehind(deps, { to, locale, kind: 'password_changed', forgottenUrl, tokens });
}

async function begin(
  deps: ResetDeps,
  account: Account,
  {
    password,
    dataKey,
    label,
  }: { readonly password: StoredPassword; readonly dataKey: Uint8Array; readonly label: string },
) {
  const session = await beginSession(deps, account, { verifier: password.verifier, dataKey, label });
  dataKey.fill(0);
  return session;
}
