/**
 * Reveal: the only door through which a value leaves, in the order prove → claim → open.
 *
 * Nothing is opened before the store has durably confirmed that this call and no other took the secret (P1, P2). Anything
 * that could be wrong is found before the claim, and nothing is claimed for a client that has left (P3). Any new path that
 * shows a value must go through here: a test forbids other imports of `open`.
 */
import { open } from '../../crypto/envelope.ts';
import type { Caller } from '../account.ts';
import { type NoticeCore, sendNotice } from '../mail/notices.ts';
import { Sensitive } from '../sensitive.ts';
import { type AccessCore, type ProvenSecret, proveAccess, secretViewOf, tagOf } from './access.ts';
import type { InspectInput, InspectOutcome, RevealInput, RevealOutcome } from './outcomes.ts';

/** Less than the whole core: nothing that makes a secret or lists an account's. */
type RevealCore = AccessCore & NoticeCore;

export async function reveal(deps: RevealCore, input: RevealInput, caller: Caller): Promise<RevealOutcome> {
  const access = await proveAccess(deps, input);
  if (access.outcome !== 'proven') return access;
  // Hashing and the look-ups took time.
  if (input.isAbandoned()) return { outcome: 'abandoned' };
  const claim = await deps.store.claim(access.stored, input.isAbandoned);
  if (claim !== 'won') return { outcome: claim === 'gone' ? 'unknown' : 'abandoned' };
  const now = deps.store.now();
  sendNotice(deps, 'read', access.stored, now);
  return {
    outcome: 'revealed',
    secret: secretViewOf(access.stored, access.secretKey, 'received', caller, now),
    value: release(deps, access),
  };
}

function release(deps: AccessCore, access: ProvenSecret): Sensitive<string> {
  const tag = tagOf(access.stored.secretId);
  try {
    const bytes = open(access.unwrapped, access.keys);
    const value = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    bytes.fill(0);
    deps.events({ event: 'revealed', tag });
    return new Sensitive(value);
  } catch (fault) {
    // The claim stands and the value is lost: counted, never retried (at most one reader matters more than no loss).
    deps.events({ event: 'reveal_forfeited', tag });
    throw fault;
  }
}

/** Proves link and passphrase without consuming. */
export async function inspect(
  deps: AccessCore,
  input: InspectInput,
  caller: Caller,
): Promise<InspectOutcome> {
  const access = await proveAccess(deps, input);
  if (access.outcome !== 'proven') return access;
  return {
    outcome: 'waiting',
    secret: secretViewOf(access.stored, access.secretKey, 'new', caller, deps.store.now()),
  };
}
