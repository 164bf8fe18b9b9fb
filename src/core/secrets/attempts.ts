/** Limits on passphrase guesses (P14), and locks; `access.ts` counts and computes the guesses. */
import type { AttemptLimits, AttemptStore, Lock } from '../ports/attempts.ts';
import type { SecretStore } from '../ports/secrets.ts';
import { isWaiting, type ReceiptRecord } from '../secret.ts';

/** NIST SP 800-63B allows 100 for throttled authenticators; this applies it to a secret's whole life. */
export const attemptLimits: AttemptLimits = {
  windowSeconds: 600,
  perClient: 5,
  perNetwork: 10,
  perSecret: 20,
  keptForNewcomers: 5,
  perLife: 100,
};

/** Wrong codes, by network; an opener without the mailbox never reaches the passphrase. */
export const codeLimits: AttemptLimits = { ...attemptLimits, perNetwork: 5 };

/** Mails with codes, for one secret. */
export const codeMailLimits: AttemptLimits = {
  windowSeconds: 86_400,
  perClient: 3,
  perNetwork: 3,
  perSecret: 20,
  keptForNewcomers: 5,
  perLife: Number.POSITIVE_INFINITY,
};

export type Locks = ReadonlyMap<ReceiptRecord, Lock | null>;

/** Finds the locks on unread secrets with a passphrase. */
export async function locksOf(
  store: Pick<AttemptStore, 'findLocks'> & Pick<SecretStore, 'now'>,
  records: readonly ReceiptRecord[],
): Promise<Locks> {
  const now = store.now();
  const guarded = records.filter((each) => each.hasPassphrase && isWaiting(each, now));
  if (guarded.length === 0) return new Map();
  const ids = guarded.map(({ secretId }) => secretId);
  const locks = await store.findLocks(ids, attemptLimits);
  return new Map(guarded.map((each, n) => [each, locks[n] ?? null]));
}
