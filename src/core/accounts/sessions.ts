/**
 * Sessions: a browser that is logged in, and logging in.
 *
 * Only a hash of a session's token is stored, and the data key only wrapped under the token (P9); a session begins only
 * while the password that it was begun with is the account's (the store decides); it ends a week after its last use, and
 * a month after its begin whatever its use (NIST SP 800-63B-3 §4.1.3).
 *
 * At a log-in, an unknown address, an account without a password and a wrong password take the same look-up, the same one
 * stretching and the same answer (P17). How often one may try is bounded before it is called.
 */

import { hex } from '../../crypto/bytes.ts';
import { deriveFormToken, hashToken } from '../../crypto/derive.ts';
import type { AccountCore } from '../core.ts';
import type { Events } from '../events.ts';
import { isDeliverable } from '../mail/recipients.ts';
import { Sensitive } from '../sensitive.ts';
import type { UnixSeconds } from '../time.ts';
import {
  type Account,
  type BegunSession,
  type SessionToken,
  type SignedIn,
  type StoredSession,
  tokenScopes,
} from './accounts.ts';
import { openDataKey, wrapDataKey } from './data-key.ts';
import { openWithPassword } from './passwords.ts';
import { drawBearer, parseBearer } from './tokens.ts';

const idleSeconds = 7 * 86_400;
const lifetimeSeconds = 30 * 86_400;
const maxLabelLength = 60;
/** A last use is for people, and for a span of days: to the minute is enough, and saves a write a page. */
const useGranularitySeconds = 60;

export interface SessionInput {
  /** Of the password that was right. */
  readonly verifier: Uint8Array;
  readonly dataKey: Uint8Array;
  /** Which browser it is; cut to 60 characters. */
  readonly label: string;
}

/** `null` when the account's password is no longer the one that it is begun with. */
export async function beginSession(
  { store, random }: Pick<AccountCore, 'store' | 'random'>,
  account: Account,
  { verifier, dataKey, label }: SessionInput,
): Promise<BegunSession | null> {
  const { bytes, text } = drawBearer(random);
  const createdAt = store.now();
  const session = {
    sessionHash: hashToken(bytes, 'session'),
    wrappedDataKey: wrapDataKey(dataKey, bytes, random),
    label: [...label].slice(0, maxLabelLength).join(''),
    createdAt,
    expiresAt: expiryAfterUse(createdAt, createdAt),
  };
  const stored = await store.addSession(account.id, verifier, session);
  if (stored === null) return null;
  return { token: new Sensitive(text as SessionToken), expiresAt: endOf(createdAt), account };
}

/** The caller that a session's token belongs to; `null` when it is none, ended or expired. */
export async function openSession(deps: AccountCore, text: string): Promise<SignedIn | null> {
  const bytes = parseBearer(text);
  if (bytes === null) return null;
  const found = await deps.store.findSession(hashToken(bytes, 'session'));
  const now = deps.store.now();
  if (found === null || now >= Math.min(found.session.expiresAt, endOf(found.session.createdAt))) return null;
  const dataKey = openDataKey(found.session.wrappedDataKey, bytes);
  if (dataKey === null) return null;
  noteUse(deps, found.session, now);
  return {
    caller: {
      kind: 'account',
      account: found.account,
      dataKey: new Sensitive(dataKey),
      scopes: tokenScopes,
    },
    sessionId: found.session.sessionId,
    formToken: hex(deriveFormToken(bytes)),
  };
}

function noteUse({ store, inBackground }: AccountCore, session: StoredSession, now: UnixSeconds): void {
  if (now - session.lastUsedAt < useGranularitySeconds) return;
  const expiresAt = expiryAfterUse(session.createdAt, now);
  inBackground(() => store.noteSessionUse(session.sessionId, now, expiresAt));
}

function expiryAfterUse(createdAt: UnixSeconds, usedAt: UnixSeconds): UnixSeconds {
  return Math.min(usedAt + idleSeconds, endOf(createdAt));
}

function endOf(createdAt: UnixSeconds): UnixSeconds {
  return createdAt + lifetimeSeconds;
}

export type LogInOutcome =
  | { readonly outcome: 'logged_in'; readonly session: BegunSession }
  /** Unknown address, wrong password, or an account without a password: one answer (P17). */
  | { readonly outcome: 'refused' };

export interface LogInInput {
  readonly email: string;
  readonly password: Sensitive<string>;
  readonly label: string;
  /** The client's prefix: by it, and not by an account that is still to be proven, the work is shared out. */
  readonly clientPrefix: string;
}

export async function logIn(deps: AccountCore, input: LogInInput): Promise<LogInOutcome> {
  // What is no address is looked up as nobody's: as much work, and no strange text reaches the store.
  const username = isDeliverable(input.email) ? input.email.toLowerCase() : '';
  const found = await deps.store.findPassword(username);
  const password = found?.password ?? null;
  const dataKey = await openWithPassword(deps.hasher, password, input.password, input.clientPrefix);
  if (found === null || password === null || dataKey === null) return refuse(deps.events);
  const { account } = found;
  const session = await beginSession(deps, account, {
    verifier: password.verifier,
    dataKey,
    label: input.label,
  });
  dataKey.fill(0);
  if (session === null) return refuse(deps.events);
  deps.events({ event: 'logged_in', account: account.id });
  return { outcome: 'logged_in', session };
}

function refuse(events: Events): LogInOutcome {
  events({ event: 'log_in_refused' });
  return { outcome: 'refused' };
}
