/**
 * The way from a link to proven keys: every step before a claim, none of which consumes.
 *
 * Owns: finding a live secret, taking its outer layer off, and proving link and passphrase. Invariant: what comes out
 * as `proven` will open; what is wrong with a record is known here, so that it never costs the secret (P3).
 */
import { hex } from '../../crypto/bytes.ts';
import {
  type ProvenKeys,
  proveKeys,
  type SecretContext,
  type UnwrappedSecret,
  unwrapSecret,
} from '../../crypto/envelope.ts';
import type { Caller } from '../accounts/accounts.ts';
import { ServiceError } from '../errors.ts';
import type { Events } from '../events.ts';
import { parseSecretKey, type SecretKey, secretIdOf } from '../keys.ts';
import type { SecretStore } from '../ports.ts';
import type { UnixSeconds } from '../time.ts';
import { type AttemptDeps, tryPassphrase } from './attempts.ts';
import type { InspectInput, SecretRefusal, SecretView } from './outcomes.ts';
import type { StoredSecret } from './secret.ts';

export interface AccessDeps extends AttemptDeps {
  readonly store: SecretStore & AttemptDeps['store'];
  readonly events: Events;
}

/** A live secret whose keys are proven right. */
export interface ProvenSecret {
  readonly outcome: 'proven';
  readonly secretKey: SecretKey;
  readonly stored: StoredSecret;
  readonly unwrapped: UnwrappedSecret;
  readonly keys: ProvenKeys;
}

/** What a log may call a record by: 8 hex digits of its id. */
export function tagOf(id: Uint8Array): string {
  return hex(id.subarray(0, 4));
}

export async function proveAccess(
  deps: AccessDeps,
  input: InspectInput,
): Promise<ProvenSecret | SecretRefusal> {
  const secretKey = parseSecretKey(input.secretKey);
  if (secretKey === null) return { outcome: 'unknown' };
  const stored = await deps.store.findSecret(secretIdOf(secretKey));
  if (stored === null) return { outcome: 'unknown' };
  const unwrapped = unwrap(deps, stored);
  const proof = await prove(deps, stored, unwrapped, secretKey, input);
  if (proof.outcome !== 'proven') {
    reportRefusal(deps.events, stored, proof);
    return proof;
  }
  return { outcome: 'proven', secretKey, stored, unwrapped, keys: proof.keys };
}

function unwrap(deps: AccessDeps, stored: StoredSecret): UnwrappedSecret {
  const outcome = unwrapSecret(stored.sealedSecret, contextOf(stored), deps.ring);
  if (outcome.outcome === 'unwrapped') return outcome.secret;
  throw damaged(
    deps.events,
    stored,
    outcome.outcome === 'unknown_root'
      ? `root ${outcome.kid} is not in the key ring`
      : 'its seal does not match',
  );
}

function damaged(events: Events, stored: StoredSecret, why: string): ServiceError {
  events({ event: 'record_damaged', tag: tagOf(stored.secretId) });
  return new ServiceError('damaged', `a stored secret does not open: ${why}`);
}

async function prove(
  deps: AccessDeps,
  stored: StoredSecret,
  unwrapped: UnwrappedSecret,
  secretKey: SecretKey,
  input: InspectInput,
): Promise<{ outcome: 'proven'; keys: ProvenKeys } | SecretRefusal> {
  if (!stored.hasPassphrase) {
    const keys = proveKeys(unwrapped, secretKey, null);
    if (keys === null) throw damaged(deps.events, stored, 'its commitment does not match its id');
    return { outcome: 'proven', keys };
  }
  if (input.passphrase === undefined || input.passphrase.expose() === '')
    return { outcome: 'passphrase_missing' };
  return tryPassphrase(deps, stored, unwrapped, {
    secretKey,
    passphrase: input.passphrase,
    clientPrefix: input.clientPrefix,
  });
}

function reportRefusal(events: Events, stored: StoredSecret, refusal: SecretRefusal): void {
  if (refusal.outcome === 'passphrase_wrong')
    events({ event: 'passphrase_refused', tag: tagOf(stored.secretId) });
  if (refusal.outcome === 'attempts_exhausted')
    events({ event: 'attempts_exhausted', tag: tagOf(stored.secretId) });
}

function contextOf(stored: StoredSecret): SecretContext {
  const { secretId, createdAt, expiresAt, hasPassphrase, owner, shareDomain } = stored;
  return { secretId, createdAt, expiresAt, hasPassphrase, owner, shareDomain };
}

export function secretViewOf(
  stored: StoredSecret,
  secretKey: SecretKey,
  state: SecretView['state'],
  caller: Caller,
  now: UnixSeconds,
): SecretView {
  return {
    secretKey,
    state,
    hasPassphrase: stored.hasPassphrase,
    ttlSeconds: stored.expiresAt - stored.createdAt,
    secretTtlSeconds: Math.max(0, stored.expiresAt - now),
    shareDomain: stored.shareDomain,
    createdAt: stored.createdAt,
    updatedAt: state === 'received' ? now : stored.createdAt,
    isOwner: caller.kind === 'account' && caller.account.id === stored.owner,
  };
}
