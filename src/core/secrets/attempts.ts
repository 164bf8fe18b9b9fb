/** Limits on guesses (P14), and locks; `access.ts` counts and computes the guesses. */
import { type LockCause, lockCauses } from '../../protocol/vocabulary.ts';
import type { SecretId } from '../keys.ts';
import {
  type AttemptLimits,
  type AttemptStore,
  type CountedId,
  countedId,
  type Lock,
} from '../ports/attempts.ts';
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
const codeLimits: AttemptLimits = { ...attemptLimits, perNetwork: 5 };

/** Mails with codes, for one secret. */
export const codeMailLimits: AttemptLimits = {
  ...codeLimits,
  windowSeconds: 86_400,
  perClient: 3,
  perNetwork: 3,
  perLife: Number.POSITIVE_INFINITY,
};

/** What may be guessed, and how a refusal without a guess is called. */
export const guesses = {
  passphrase: { limits: attemptLimits, idOf: (id: SecretId): CountedId => id, none: 'attempts_exhausted' },
  code: { limits: codeLimits, idOf: (id: SecretId) => countedId(id, 'wrongCodes'), none: 'codes_exhausted' },
} as const;

export type NamedLock = Lock & { readonly by: LockCause };
export type Locks = ReadonlyMap<ReceiptRecord, NamedLock>;

/** Finds the locks on unread secrets; of two on one, that on codes, because without a code no passphrase is tried. */
export async function locksOf(
  store: Pick<AttemptStore, 'findLocks'> & Pick<SecretStore, 'now'>,
  records: readonly ReceiptRecord[],
): Promise<Locks> {
  const now = store.now();
  const found = new Map<ReceiptRecord, NamedLock>();
  for (const by of lockCauses) {
    const isGuarded = (each: ReceiptRecord) => (by === 'code' ? each.verify : each.hasPassphrase);
    const guarded = records.filter((each) => isGuarded(each) && isWaiting(each, now));
    if (guarded.length === 0) continue;
    const ids = guarded.map(({ secretId }) => guesses[by].idOf(secretId));
    const locks = await store.findLocks(ids, guesses[by].limits);
    for (const [n, lock] of locks.entries())
      if (lock !== null && guarded[n] !== undefined) found.set(guarded[n], { ...lock, by });
  }
  return found;
}
