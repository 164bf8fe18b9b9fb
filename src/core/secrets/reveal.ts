/**
 * Reveal: the only door through which a value leaves, in the order prove → claim → open.
 *
 * Nothing is opened before the store has durably confirmed that this call and no other took the secret (P1, P2). Every flaw
 * is found before the claim, and nothing is claimed for a client that has left (P3). Any new path that shows a value must go
 * through here: a test forbids other imports of `open`.
 *
 * An opener who claims with a nonce can get the same answer again with it (`look.ts`): prove → count → open.
 */
import { open } from '../../crypto/envelope.ts';
import type { Caller } from '../account.ts';
import { type NoticeCore, sendNotice } from '../mail/notices.ts';
import type { Core } from '../ports/core.ts';
import { Sensitive } from '../sensitive.ts';
import {
  type AccessCore,
  findLive,
  type ProvenSecret,
  proveLive,
  proveOpening,
  secretViewOf,
} from './access.ts';
import { lookFor, proveLook } from './look.ts';
import type {
  InspectInput,
  InspectOutcome,
  RevealedContent,
  RevealInput,
  RevealOutcome,
} from './outcomes.ts';

/** Dependencies of a reveal, which neither creates a secret nor lists an account's. */
type RevealCore = AccessCore & NoticeCore & Pick<Core, 'random'>;

export async function reveal(deps: RevealCore, input: RevealInput, caller: Caller): Promise<RevealOutcome> {
  const { look: nonce = null } = input;
  const first = await take(deps, input, nonce, caller);
  // An earlier request by the same opener may already have opened the secret.
  return first.outcome === 'unknown' && nonce !== null ? takeAgain(deps, input, nonce, caller) : first;
}

async function take(
  deps: RevealCore,
  input: RevealInput,
  nonce: Uint8Array | null,
  caller: Caller,
): Promise<RevealOutcome> {
  const access = await proveOpening(deps, input);
  if (access.outcome !== 'proven') return access;
  // The client may have left during hashing and look-ups.
  if (input.isAbandoned()) return { outcome: 'abandoned' };
  const look = nonce === null ? null : lookFor(deps, access, nonce);
  const claim = await deps.store.claim(access.stored, input.isAbandoned, look);
  if (claim !== 'won') return { outcome: claim === 'gone' ? 'unknown' : 'abandoned' };
  sendNotice(deps, 'read', access.stored, deps.store.now());
  return release(deps, access, caller, 'revealed');
}

/** Gives the same opener the same answer again. */
async function takeAgain(
  deps: RevealCore,
  input: RevealInput,
  nonce: Uint8Array,
  caller: Caller,
): Promise<RevealOutcome> {
  const access = await proveLook(deps, input, nonce);
  if (access.outcome !== 'proven') return access;
  if (input.isAbandoned()) return { outcome: 'abandoned' };
  const { secretId } = access.stored;
  const answer = await deps.store.takeAnswer(secretId, access.lookTag, input.isAbandoned);
  if (answer !== 'answered') return { outcome: answer === 'gone' ? 'unknown' : 'abandoned' };
  return release(deps, access, caller, 'revealed_again');
}

type ReleaseEvent = 'revealed' | 'revealed_again';

function release(deps: AccessCore, access: ProvenSecret, caller: Caller, event: ReleaseEvent): RevealOutcome {
  const content = contentIn(deps, access, event);
  const secret = secretViewOf(access.stored, access.secretKey, 'received', caller, deps.store.now());
  return { outcome: 'revealed', secret, content };
}

function contentIn(deps: AccessCore, access: ProvenSecret, event: ReleaseEvent): RevealedContent {
  const { tag } = access;
  try {
    const bytes = open(access.unwrapped, access.keys);
    const content = access.stored.sealed
      ? ({ kind: 'sealed', ciphertext: bytes } as const)
      : ({ kind: 'value', value: textIn(bytes) } as const);
    deps.events({ event, tag });
    return content;
  } catch (fault) {
    // The claim is final, so the value is lost. The loss is counted, never retried: at most one reader matters more than no loss.
    deps.events({ event: 'reveal_forfeited', tag });
    throw fault;
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Decodes the bytes, then wipes them. */
function textIn(bytes: Uint8Array): Sensitive<string> {
  const value = utf8.decode(bytes);
  bytes.fill(0);
  return new Sensitive(value);
}

/** @throws Error for ciphertext, which only a reveal with proofs releases */
export function textOf(content: RevealedContent): string {
  if (content.kind === 'value') return content.value.expose();
  throw new Error('a reveal without proofs released ciphertext');
}

/** Proves link and passphrase without consuming the secret; guesses are counted as in a reveal. Describes an end-to-end secret even without proofs. */
export async function inspect(
  deps: AccessCore,
  input: InspectInput,
  caller: Caller,
): Promise<InspectOutcome> {
  const live = await findLive(deps, input.secretKey);
  if (live === null) return { outcome: 'unknown' };
  const { stored, secretKey } = live;
  // A look takes no code, and trying passphrases needs one.
  if (stored.verify && stored.hasPassphrase) return { outcome: 'code_required' };
  const isLook = stored.sealed && input.proofs === null;
  const access = isLook ? null : await proveLive(deps, live, input);
  if (access !== null && access.outcome !== 'proven') return access;
  const secret = secretViewOf(stored, secretKey, 'new', caller, deps.store.now());
  return { outcome: 'waiting', secret, isProven: !isLook };
}
