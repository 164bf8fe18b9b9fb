/**
 * Changes that a creator can make later: to the memo while the receipt lives, and to the lifetime and the remaining
 * passphrase guesses while the secret waits.
 *
 * A new lifetime replaces the outer layer of the envelope and opens nothing under it (P9). The store changes the expiry only
 * if it is still the one found, so no concurrent change is silently lost (P8).
 */
import { expiryLimitOf, rewrapSecret } from '../../crypto/envelope.ts';
import { type Caller, planOf } from '../account.ts';
import { ServiceError } from '../errors.ts';
import { type SecretId, tagOf } from '../keys.ts';
import { noticeDueAt } from '../mail/notices.ts';
import { countedId } from '../ports/attempts.ts';
import type { Core } from '../ports/core.ts';
import { epochKeyOf } from '../ports/epochs.ts';
import type { NewExpiry } from '../ports/secrets.ts';
import { isWaiting } from '../secret.ts';
import { damaged } from './access.ts';
import type { ChangeInput, ChangeOutcome, ReceiptInput } from './outcomes.ts';
import { checkMemo, findManaged, type ManagedReceipt, sealMemo, viewOf } from './receipts.ts';

/** How many attempts may lose to concurrent changes of the same lifetime before the call gives up. */
const maxTries = 3;

/** Changes only what is given. A refusal changes nothing. */
export async function change(deps: Core, input: ChangeInput, caller: Caller): Promise<ChangeOutcome> {
  const { memo, ttlSeconds } = input;
  const refusal = memo === undefined ? null : checkMemo(memo?.expose() ?? '');
  if (refusal !== null) return refusal;
  const lifetime = ttlSeconds === null ? null : await changeLifetime(deps, input, ttlSeconds, caller);
  if (lifetime !== null && lifetime.outcome !== 'changed') return lifetime;
  const managed = await findManaged(deps, input, caller);
  if (managed === null) return { outcome: 'unknown' };
  const { stored, metadataKey } = managed;
  const allowed = [
    ...(input.allowsMore === true ? [stored.secretId] : []),
    ...(input.allowsCodes === true ? codeCounts(stored.secretId) : []),
  ];
  if (allowed.length > 0) {
    if (!isWaiting(stored, deps.store.now()))
      return { outcome: 'already_gone', receipt: await viewOf(deps, managed, caller) };
    for (const id of allowed) await deps.store.allowMore(id);
    deps.events({ event: 'attempts_allowed', tag: tagOf(stored.secretId) });
  }
  let memoBox = stored.memoBox;
  if (memo !== undefined) {
    memoBox = sealMemo(deps.random, stored.receiptId, metadataKey, memo?.expose() ?? '');
    if (!(await deps.store.setMemo(stored.receiptId, memoBox))) return { outcome: 'unknown' };
  }
  const receipt = await viewOf(deps, { metadataKey, stored: { ...stored, memoBox } }, caller);
  return { outcome: 'found', receipt, grantedTtlSeconds: lifetime?.grantedSeconds ?? null };
}

/** The mails too: if somebody used them up, the right person could not ask for a code. */
const codeCounts = (id: SecretId) => [countedId(id, 'wrongCodes'), countedId(id, 'mailedCodes')];

type LifetimeOutcome =
  | { readonly outcome: 'changed'; readonly grantedSeconds: number }
  | Extract<ChangeOutcome, { outcome: 'already_gone' | 'lifetime_fixed' | 'unknown' }>;

/** @param askedSeconds counted from now */
async function changeLifetime(
  deps: Core,
  input: ReceiptInput,
  askedSeconds: number,
  caller: Caller,
): Promise<LifetimeOutcome> {
  for (let tries = 0; tries < maxTries; tries += 1) {
    const managed = await findManaged(deps, input, caller);
    if (managed === null) return { outcome: 'unknown' };
    const { stored } = managed;
    const now = deps.store.now();
    if (!isWaiting(stored, now) || stored.sealedSecret === null) {
      return { outcome: 'already_gone', receipt: await viewOf(deps, managed, caller) };
    }
    const limit = expiryLimitOf(stored.sealedSecret);
    if (limit === null) return { outcome: 'lifetime_fixed' };
    const leastSeconds = planOf(deps.plans, caller).ttlMinSeconds;
    const expiresAt = Math.min(now + Math.max(askedSeconds, leastSeconds), limit);
    const to = await newExpiry(deps, stored, stored.sealedSecret, expiresAt);
    if (await deps.store.setExpiry(stored.receiptId, stored.expiresAt, to)) {
      deps.events({ event: 'lifetime_changed', tag: tagOf(stored.secretId) });
      return { outcome: 'changed', grantedSeconds: expiresAt - now };
    }
  }
  throw new ServiceError('unavailable', 'the lifetime was changed by others at the same time');
}

/** Derives the record's other times from its expiry, as at creation. */
async function newExpiry(
  deps: Core,
  stored: ManagedReceipt['stored'],
  sealed: Uint8Array,
  expiresAt: number,
): Promise<NewExpiry> {
  const { createdAt, notify } = stored;
  const { store, ring, random } = deps;
  const epochKey = await epochKeyOf(store, sealed);
  const expiry = { expiresAt, epoch: await store.epochFor(expiresAt) };
  const sealedSecret = rewrapSecret(sealed, stored, { ring, epochKey, random }, { expiry });
  if (sealedSecret === null)
    throw damaged(deps.events, tagOf(stored.secretId), 'it cannot be wrapped for another expiry');
  return {
    expiresAt,
    receiptExpiresAt: createdAt + 2 * (expiresAt - createdAt),
    noticeDueAt: noticeDueAt(notify, { createdAt, expiresAt }),
    sealedSecret,
  };
}
