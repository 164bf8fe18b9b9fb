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
import {
  type AccessCore,
  findLive,
  type ProvenSecret,
  proveAccess,
  proveLive,
  secretViewOf,
  tagOf,
} from './access.ts';
import type {
  InspectInput,
  InspectOutcome,
  RevealedContent,
  RevealInput,
  RevealOutcome,
} from './outcomes.ts';

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
    content: release(deps, access),
  };
}

function release(deps: AccessCore, access: ProvenSecret): RevealedContent {
  const tag = tagOf(access.stored.secretId);
  try {
    const bytes = open(access.unwrapped, access.keys);
    const content = access.stored.sealed
      ? ({ kind: 'sealed', ciphertext: bytes } as const)
      : ({ kind: 'value', value: textIn(bytes) } as const);
    deps.events({ event: 'revealed', tag });
    return content;
  } catch (fault) {
    // The claim stands and the value is lost: counted, never retried (at most one reader matters more than no loss).
    deps.events({ event: 'reveal_forfeited', tag });
    throw fault;
  }
}

/** Wipes the bytes. */
function textIn(bytes: Uint8Array): Sensitive<string> {
  const value = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  bytes.fill(0);
  return new Sensitive(value);
}

/**
 * The text of what was revealed without proofs, which is always one.
 * @throws Error for ciphertext
 */
export function textOf(content: RevealedContent): string {
  if (content.kind === 'value') return content.value.expose();
  throw new Error('a reveal without proofs released ciphertext');
}

/** Proves link and passphrase without consuming. Of an end-to-end secret, proofs that are not given are not needed. */
export async function inspect(
  deps: AccessCore,
  input: InspectInput,
  caller: Caller,
): Promise<InspectOutcome> {
  const live = await findLive(deps, input.secretKey);
  if (live === null) return { outcome: 'unknown' };
  const { stored, secretKey } = live;
  const isLook = stored.sealed && input.proofs === null;
  const access = isLook ? null : await proveLive(deps, live, input);
  if (access !== null && access.outcome !== 'proven') return access;
  const secret = secretViewOf(stored, secretKey, 'new', caller, deps.store.now());
  return { outcome: 'waiting', secret, isProven: !isLook };
}
