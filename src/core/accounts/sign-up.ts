/**
 * Signing up and a forgotten password: what a mailed link that proves an address may do, and the ticket in it.
 *
 * Of a ticket only its hash is stored; a ticket of one kind does nothing in the other's place, nor as a token or a
 * session; asking for one takes nothing from those before it, so no stranger voids an owner's link; using one voids the
 * others of its kind. A ticket that no mail is to follow is kept like any other, and its text is thrown away: so the work,
 * and what comes of later requests, is the same whether or not the address has an account (P17).
 *
 * There is no account before its address is proven, and its password is chosen only behind the mailed link, so that nobody
 * sets one for somebody else's address. A request answers, and works, the same whether or not the address has an account
 * (P17).
 *
 * A reset also serves accounts made by a command, which have no password yet. What can be refused is refused before the
 * ticket is used up; every session ends, and every API token if that is asked for. The data key is kept only by an API
 * token that opens it: without one the account gets a new key, and the list of what was shared before is lost (P9 leaves
 * no other way).
 */

import { hashToken } from '../../crypto/derive.ts';
import type { AccountCore } from '../core.ts';
import type { Links } from '../links.ts';
import type { AccountMail } from '../mail/mailer.ts';
import { isDeliverable } from '../mail/recipients.ts';
import { Sensitive } from '../sensitive.ts';
import type { UnixSeconds } from '../time.ts';
import { sendAfter, sendOneOf } from './account-mail.ts';
import type {
  Account,
  BegunSession,
  StoredPassword,
  StoredTicket,
  Ticket,
  TicketKind,
  TicketLimits,
  TokenFate,
} from './accounts.ts';
import { drawDataKey } from './data-key.ts';
import { makePassword, type PasswordRefusal, refusalOf } from './passwords.ts';
import { beginSession } from './sessions.ts';
import { dataKeyOfToken, drawBearer, parseBearer } from './tokens.ts';

const hourSeconds = 3_600;
const daySeconds = 86_400;
const lifetimeSeconds: Readonly<Record<TicketKind, number>> = { sign_up: daySeconds, reset: hourSeconds };

/**
 * Strangers who keep asking bring one mailbox at most 26 mails about a reset and 3 about a sign-up in a day. No quiet time
 * is longer than a link lives, so the mailbox always holds a link that works, or gets one when it is asked for.
 */
const ticketLimits: TicketLimits = {
  maxLive: 3,
  quietSeconds: [60, 300, 900, hourSeconds],
  windowSeconds: daySeconds,
};

interface DrawnTicket {
  readonly ticket: Sensitive<Ticket>;
  readonly expiresAt: UnixSeconds;
  /** Whether it works, and a mail may follow. */
  readonly isKept: boolean;
}

/** Draws a ticket and keeps it, unless there were too many lately. */
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

/** A live ticket of this kind, or `null`. Uses nothing up. */
async function findTicket(
  { store }: Pick<AccountCore, 'store'>,
  kind: TicketKind,
  text: string,
): Promise<StoredTicket | null> {
  const bytes = parseBearer(text);
  const found = bytes === null ? null : await store.findTicket(kind, hashToken(bytes, 'ticket'));
  return found !== null && store.now() < found.expiresAt ? found : null;
}

/** Asks for the mail of a sign-up or a reset. */
export interface TicketRequest {
  readonly email: string;
  readonly locale: string;
}

export type RequestOutcome = { readonly outcome: 'requested' } | { readonly outcome: 'invalid_email' };

export type TicketOutcome =
  | { readonly outcome: 'valid'; readonly username: string }
  /** Unknown, used, replaced or expired. */
  | { readonly outcome: 'gone' };

export type SignUpOutcome =
  | { readonly outcome: 'signed_up'; readonly session: BegunSession }
  | { readonly outcome: 'gone' }
  /** The account was made meanwhile, by a command or another mail. */
  | { readonly outcome: 'exists' }
  | PasswordRefusal;

export type ResetOutcome =
  | {
      readonly outcome: 'reset';
      readonly session: BegunSession;
      /** Whether what was shared before is still listed: an API token opened the data key. */
      readonly keepsList: boolean;
    }
  | { readonly outcome: 'gone' }
  /** The text given as an API token is not a live one of this account. Nothing was used up. */
  | { readonly outcome: 'invalid_token' }
  | PasswordRefusal;

export async function requestSignUp(
  deps: AccountCore,
  { email, locale }: TicketRequest,
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
  // Its password was replaced in this very moment: whoever did that is logged in, and nobody else.
  return session === null ? { outcome: 'exists' } : { outcome: 'signed_up', session };
}

export async function requestReset(
  deps: AccountCore,
  { email, locale }: TicketRequest,
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

export async function checkReset(deps: Pick<AccountCore, 'store'>, ticket: string): Promise<TicketOutcome> {
  const found = await findTicket(deps, 'reset', ticket);
  return found === null ? { outcome: 'gone' } : { outcome: 'valid', username: found.username };
}

export interface ResetInput {
  readonly ticket: string;
  readonly password: Sensitive<string>;
  /** A live API token of the account, or `''`; without it the list of what was shared before is lost. */
  readonly existingToken: Sensitive<string>;
  /** `revoke` ends the one that was given too: it has opened the data key by then. */
  readonly tokens: TokenFate;
  readonly label: string;
  readonly locale: string;
  readonly clientPrefix: string;
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
  const { password: text, clientPrefix: client } = input;
  const password = await makePassword(deps, { password: text, dataKey, setAt: store.now(), client });
  const account = await store.redeemReset(found.ticketHash, password, input.tokens);
  if (account === null) return { outcome: 'gone' };
  tellChanged(deps, account, input);
  const session = await begin(deps, account, { password, dataKey, label: input.label });
  // Replaced again in this very moment, by somebody who proved the address too: this link has done what it could.
  return session === null ? { outcome: 'gone' } : { outcome: 'reset', session, keepsList };
}

function tellChanged(deps: AccountCore, account: Account, { locale, tokens }: ResetInput): void {
  deps.events({ event: 'password_changed', account: account.id, by: 'reset' });
  const { forgottenUrl } = deps.links;
  const to = new Sensitive(account.username);
  sendAfter(deps, { to, locale, kind: 'password_changed', forgottenUrl, tokens });
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
