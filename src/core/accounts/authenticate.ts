/**
 * Authentication: from Basic credentials to a caller.
 *
 * Owns: the check. Invariant: an unknown username and a wrong token take the same steps and the same single look-up, by
 * the token's hash, so they cannot be told apart (P17).
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { InBackground } from '../background.ts';
import type { AccountStore } from '../ports.ts';
import { Sensitive } from '../sensitive.ts';
import type { UnixSeconds } from '../time.ts';
import type { AccountCaller, ApiToken } from './accounts.ts';
import { dataKeyOf, isLiveToken, parseApiToken, tokenHashOf } from './api-tokens.ts';

export interface AuthenticateDeps {
  readonly store: AccountStore & { now(): UnixSeconds };
  readonly inBackground: InBackground;
}

/** A last-used time is for people: to the minute is enough, and saves a write a call. */
const useGranularitySeconds = 60;
const impossibleToken = '0'.repeat(64) as ApiToken;

export async function authenticate(
  deps: AuthenticateDeps,
  username: string,
  text: string,
): Promise<AccountCaller | null> {
  const token = parseApiToken(text) ?? impossibleToken;
  const found = await deps.store.findToken(tokenHashOf(token));
  const expected = found?.account.username ?? '';
  if (!sameText(username.toLowerCase(), expected) || found === null) return null;
  const now = deps.store.now();
  if (!isLiveToken(found.token, now)) return null;
  const dataKey = dataKeyOf(token, found.token);
  if (dataKey === null) return null;
  if (now - (found.token.lastUsedAt ?? 0) >= useGranularitySeconds)
    deps.inBackground(() => deps.store.noteTokenUse(found.token.tokenId, now));
  const { account, token: stored } = found;
  return { kind: 'account', account, dataKey: new Sensitive(dataKey), scopes: stored.scopes };
}

/** Compares digests, so that the time tells neither length nor position of a difference. */
function sameText(a: string, b: string): boolean {
  return timingSafeEqual(createHash('sha256').update(a).digest(), createHash('sha256').update(b).digest());
}
