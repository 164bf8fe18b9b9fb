/**
 * Logging in.
 *
 * Owns: the use case. Invariant: an unknown address, an account without a password and a wrong password take the same
 * look-up, the same one stretching and the same answer (P17). How often one may try is bounded before this is called.
 */

import type { Events } from '../events.ts';
import { isDeliverable } from '../mail/recipients.ts';
import type { AccountStore, PassphraseHasher } from '../ports.ts';
import type { Sensitive } from '../sensitive.ts';
import type { UnixSeconds } from '../time.ts';
import type { LogInOutcome } from './outcomes.ts';
import { openWithPassword } from './passwords.ts';
import { beginSession, type SessionDeps } from './sessions.ts';

export interface LogInDeps extends SessionDeps {
  readonly store: Pick<AccountStore, 'findPassword'> & SessionDeps['store'] & { now(): UnixSeconds };
  readonly hasher: PassphraseHasher;
  readonly events: Events;
}

export interface LogInInput {
  readonly email: string;
  readonly password: Sensitive<string>;
  readonly label: string;
  /** The client's prefix: by it, and not by an account that is still to be proven, the work is shared out. */
  readonly clientPrefix?: string;
}

export async function logIn(deps: LogInDeps, input: LogInInput): Promise<LogInOutcome> {
  // What is no address is looked up as nobody's: as much work, and no strange text reaches the store.
  const username = isDeliverable(input.email) ? input.email.toLowerCase() : '';
  const found = await deps.store.findPassword(username);
  const password = found?.password ?? null;
  const dataKey = await openWithPassword(deps.hasher, password, input.password, input.clientPrefix ?? '');
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
