/**
 * Log-in and sessions. The store has only a hash of the session token, and the data key wrapped under the token (P9). A session starts only
 * if its password is still the account's and the account is not locked (the store decides). It ends a week after its last use, and no later
 * than a month after its start (NIST SP 800-63B-3 §4.1.3).
 *
 * At log-in, an unknown address, a wrong or missing password and a locked account cost the same: one lookup, one hash, one answer (P17).
 * Callers limit the attempts.
 */

import { hex } from '../../crypto/bytes.ts';
import { deriveFormToken, hashToken } from '../../crypto/derive.ts';
import {
  type Account,
  type BegunSession,
  type SessionToken,
  type SignedIn,
  type StoredSession,
  tokenScopes,
} from '../account.ts';
import type { Events } from '../events.ts';
import { isDeliverable, usernameOf } from '../mail/recipients.ts';
import type { AccountCore } from '../ports/core.ts';
import { Sensitive } from '../sensitive.ts';
import type { UnixSeconds } from '../time.ts';
import { openDataKey, wrapDataKey } from './data-key.ts';
import { openWithPassword } from './passwords.ts';
import { drawBearer, parseBearer } from './tokens.ts';

const idleSeconds = 7 * 86_400;
const lifetimeSeconds = 30 * 86_400;
const maxLabelLength = 60;
/** A minute is precise enough for people and for an idle time of days, and avoids a write on every page. */
const useGranularitySeconds = 60;

interface SessionInput {
  readonly verifier: Uint8Array;
  readonly dataKey: Uint8Array;
  /** The browser; truncated to 60 characters. */
  readonly label: string;
}

/** Returns `null` if the password has changed since it was proven, or the account is locked. */
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

/** Returns `null` if the session is malformed, unknown, ended or expired. */
export async function openSession(deps: AccountCore, text: string): Promise<SignedIn | null> {
  const bytes = parseBearer(text);
  if (bytes === null) return null;
  const found = await deps.store.findSession(hashToken(bytes, 'session'));
  const now = deps.store.now();
  if (found === null || now >= Math.min(found.session.expiresAt, endOf(found.session.createdAt))) return null;
  const dataKey = openDataKey(found.session.wrappedDataKey, bytes);
  if (dataKey === null) return null;
  recordUse(deps, found.session, now);
  return {
    caller: {
      kind: 'account',
      account: found.account,
      dataKey: new Sensitive(dataKey),
      scopes: tokenScopes,
      apiToken: null,
    },
    sessionId: found.session.sessionId,
    formToken: hex(deriveFormToken(bytes)),
  };
}

function recordUse({ store, inBackground }: AccountCore, session: StoredSession, now: UnixSeconds): void {
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

type LogInOutcome =
  | { readonly outcome: 'logged_in'; readonly session: BegunSession }
  | { readonly outcome: 'refused' };

export interface LogInInput {
  readonly email: string;
  readonly password: Sensitive<string>;
  readonly label: string;
  /** The hash is queued per client, because the account is not proven yet. */
  readonly clientPrefix: string;
}

export async function logIn(deps: AccountCore, input: LogInInput): Promise<LogInOutcome> {
  const typed = usernameOf(input.email);
  // Invalid addresses also cost a (failing) lookup, for equal timing; raw input never reaches the store.
  const username = isDeliverable(typed) ? typed : '';
  const found = await deps.store.findPassword(username);
  const password = found?.password ?? null;
  const dataKey = await openWithPassword(deps.hasher, password, input.password, input.clientPrefix);
  if (found === null || password === null || dataKey === null) return refuse(deps.events);
  const { account } = found;
  if (account.lockedAt !== null) {
    dataKey.fill(0);
    deps.events({ event: 'locked_out', account: account.id, by: 'password' });
    return refuse(deps.events);
  }
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
