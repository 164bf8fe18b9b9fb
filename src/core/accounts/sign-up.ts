/**
 * Sign-up and password reset by an emailed link that proves an address, and the ticket in that link.
 *
 * The store has only a ticket's hash. A ticket of one kind does not work as the other, or as a token or a session. Requesting one does not
 * affect earlier ones, so a stranger cannot void an owner's link; using one voids the others of its kind. Even a ticket that is not
 * emailed is stored, with its text discarded: the response, its timing, the work and the effect on later requests are the same whether or
 * not the address has an account (P17).
 *
 * An account is created, and its password chosen, only through the emailed link: an account for another person's address is impossible.
 *
 * A reset also serves accounts created by a command, which have no password yet, and operators' links (`account-links.ts`). All refusals
 * come before the ticket is used up. A reset ends every session and, on request, revokes every API token. Only an API token can carry the
 * data key over: without one the account gets a new key, and the list of earlier secrets is lost (P9 allows no other way).
 */

import { hashToken } from '../../crypto/derive.ts';
import type {
  Account,
  BegunSession,
  StoredPassword,
  StoredTicket,
  Ticket,
  TicketKind,
  TicketLimits,
  TokenFate,
} from '../account.ts';
import type { Links } from '../links.ts';
import { isDeliverable, usernameOf } from '../mail/recipients.ts';
import type { AccountMail } from '../mailer.ts';
import type { AccountStore } from '../ports/accounts.ts';
import type { AccountCore } from '../ports/core.ts';
import { Sensitive } from '../sensitive.ts';
import type { UnixSeconds } from '../time.ts';
import { sendAfter, sendOneOf } from './account-mail.ts';
import { drawDataKey } from './data-key.ts';
import { makePassword, type PasswordRefusal, refusalOf } from './passwords.ts';
import { beginSession } from './sessions.ts';
import { dataKeyOfToken, drawBearer, parseBearer } from './tokens.ts';

const hourSeconds = 3_600;
const daySeconds = 86_400;
const lifetimeSeconds: Readonly<Record<TicketKind, number>> = { sign_up: daySeconds, reset: hourSeconds };

/**
 * A stranger who keeps making requests can cause at most 26 reset emails and 3 sign-up emails to a mailbox per day. No quiet time is
 * longer than a link lives, so the mailbox always contains a working link, or gets one on request.
 */
const ticketLimits: TicketLimits = {
  maxLive: 3,
  quietSeconds: [60, 300, 900, hourSeconds],
  windowSeconds: daySeconds,
};

interface DrawnTicket {
  readonly ticket: Sensitive<Ticket>;
  readonly expiresAt: UnixSeconds;
  /** Whether the ticket was stored, so that an email may follow. */
  readonly isKept: boolean;
}

/** Draws a ticket and stores it, unless too many were requested lately. */
export async function keepTicket(
  { store, random }: Pick<AccountCore, 'store' | 'random'>,
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

async function findTicket(
  { store }: Pick<AccountCore, 'store'>,
  kind: TicketKind,
  text: string,
): Promise<StoredTicket | null> {
  const bytes = parseBearer(text);
  const found = bytes === null ? null : await store.findTicket(kind, hashToken(bytes, 'ticket'));
  return found !== null && store.now() < found.expiresAt ? found : null;
}

export interface TicketRequest {
  readonly email: string;
  readonly locale: string;
}

type RequestOutcome = { readonly outcome: 'requested' } | { readonly outcome: 'invalid_email' };

type TicketOutcome =
  | { readonly outcome: 'valid'; readonly username: string }
  /** Unknown, used, replaced or expired. */
  | { readonly outcome: 'gone' };

type ResetTicketOutcome =
  /** `isFirst`: the account has neither a password nor a token, so nothing is replaced or lost. */
  | { readonly outcome: 'valid'; readonly username: string; readonly isFirst: boolean }
  | { readonly outcome: 'gone' };

type SignUpOutcome =
  | { readonly outcome: 'signed_up'; readonly session: BegunSession }
  | { readonly outcome: 'gone' }
  /** A command, or the link in a different email, has already created the account. */
  | { readonly outcome: 'exists' }
  | PasswordRefusal;

type ResetOutcome =
  | {
      readonly outcome: 'reset';
      readonly session: BegunSession;
      /** Whether earlier secrets are still listed, because an API token opened the data key. */
      readonly keepsList: boolean;
      readonly isFirst: boolean;
    }
  | { readonly outcome: 'gone' }
  /** Not a live API token of this account. The ticket remains usable. */
  | { readonly outcome: 'invalid_token' }
  | PasswordRefusal;

/** Emails a link that completes the sign-up. If the address has an account, the email says so instead. Same response, same time. */
export async function requestSignUp(
  deps: AccountCore,
  { email, locale }: TicketRequest,
): Promise<RequestOutcome> {
  const username = usernameOf(email);
  if (!isDeliverable(username)) return { outcome: 'invalid_email' };
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

export async function checkSignUp(deps: Pick<AccountCore, 'store'>, ticket: string): Promise<TicketOutcome> {
  const found = await findTicket(deps, 'sign_up', ticket);
  return found === null ? { outcome: 'gone' } : { outcome: 'valid', username: found.username };
}

export interface SignUpInput {
  readonly ticket: string;
  readonly password: Sensitive<string>;
  readonly label: string;
  readonly clientPrefix: string;
}

export async function signUp(deps: AccountCore, input: SignUpInput): Promise<SignUpOutcome> {
  const { store, events, random } = deps;
  const found = await findTicket(deps, 'sign_up', input.ticket);
  if (found === null) return { outcome: 'gone' };
  const refusal = await refusalOf(input.password.expose(), found.username, deps.isCommonPassword);
  if (refusal !== null) return refusal;
  const dataKey = drawDataKey(random);
  const createdAt = store.now();
  const client = input.clientPrefix;
  const password = await makePassword(deps, { password: input.password, dataKey, setAt: createdAt, client });
  const account = await store.redeemSignUp(found.ticketHash, { plan: 'basic', createdAt }, password);
  if (account === 'gone' || account === 'exists') return { outcome: account };
  events({ event: 'signed_up', account: account.id });
  const session = await begin(deps, account, { password, dataKey, label: input.label });
  // The password was replaced just now: only the person who did that is logged in.
  return session === null ? { outcome: 'exists' } : { outcome: 'signed_up', session };
}

/** Emails a link that sets a new password, if the account exists. Same response, same time. */
export async function requestReset(
  deps: AccountCore,
  { email, locale }: TicketRequest,
): Promise<RequestOutcome> {
  const username = usernameOf(email);
  if (!isDeliverable(username)) return { outcome: 'invalid_email' };
  const account = await deps.store.findAccount(username);
  const mayReset = account !== null && account.lockedAt === null;
  const drawn = await keepTicket(deps, 'reset', username);
  const link = new Sensitive(deps.links.resetUrl(drawn.ticket.expose()));
  const { expiresAt } = drawn;
  const mail = { to: new Sensitive(username), locale, kind: 'reset', link, expiresAt } as const;
  sendOneOf(deps, [mail], drawn.isKept && mayReset ? mail : null);
  return { outcome: 'requested' };
}

export async function checkReset(
  deps: Pick<AccountCore, 'store'>,
  ticket: string,
): Promise<ResetTicketOutcome> {
  const found = await findTicket(deps, 'reset', ticket);
  if (found === null) return { outcome: 'gone' };
  const { username } = found;
  return { outcome: 'valid', username, isFirst: await hasNothing(deps, username) };
}

/** Checks whether the account has neither a password nor a token. */
export async function hasNothing(
  { store }: { readonly store: AccountStore },
  username: string,
): Promise<boolean> {
  const found = await store.findPassword(username);
  if (found === null || found.password !== null) return false;
  return (await store.listTokens(found.account.id)).length === 0;
}

interface ResetInput extends SignUpInput {
  /** Carries the data key over; `''` loses the list of earlier secrets. */
  readonly existingToken: Sensitive<string>;
  /** `revoke` includes the given token, after it has opened the data key. */
  readonly tokens: TokenFate;
  readonly locale: string;
}

export async function resetPassword(deps: AccountCore, input: ResetInput): Promise<ResetOutcome> {
  const { store, random } = deps;
  const found = await findTicket(deps, 'reset', input.ticket);
  if (found === null) return { outcome: 'gone' };
  const refusal = await refusalOf(input.password.expose(), found.username, deps.isCommonPassword);
  if (refusal !== null) return refusal;
  const keepsList = input.existingToken.expose() !== '';
  const dataKey = keepsList
    ? await dataKeyOfToken(store, found.username, input.existingToken.expose())
    : drawDataKey(random);
  if (dataKey === null) return { outcome: 'invalid_token' };
  const hadPassword = (await store.findPassword(found.username))?.password != null;
  const isFirst = !keepsList && (await hasNothing(deps, found.username));
  const { password: text, clientPrefix: client } = input;
  const password = await makePassword(deps, { password: text, dataKey, setAt: store.now(), client });
  const account = await store.redeemReset(found.ticketHash, password, input.tokens);
  if (account === null) return { outcome: 'gone' };
  reportChange(deps, account, hadPassword ? 'password_changed' : 'password_set', input);
  const session = await begin(deps, account, { password, dataKey, label: input.label });
  // The password was replaced again just now, by another proof of the address: this link is used up.
  return session === null ? { outcome: 'gone' } : { outcome: 'reset', session, keepsList, isFirst };
}

function reportChange(
  deps: AccountCore,
  account: Account,
  kind: 'password_changed' | 'password_set',
  { locale, tokens }: ResetInput,
): void {
  deps.events({ event: 'password_changed', account: account.id, by: 'reset' });
  const { forgottenUrl } = deps.links;
  const to = new Sensitive(account.username);
  sendAfter(deps, { to, locale, kind, forgottenUrl, tokens });
}

async function begin(
  deps: AccountCore,
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
