/** Limits on guesses (P14), and locks; `access.ts` counts and computes the guesses. */
import type { LockCause } from '../../protocol/vocabulary.ts';
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

/** What may be guessed. */
export const guesses = {
  passphrase: {
    limits: attemptLimits,
    idOf: (id: SecretId): CountedId => id,
    wrong: 'passphrase_wrong',
    exhausted: 'attempts_exhausted',
    event: 'passphrase_refused',
  },
  code: {
    limits: codeLimits,
    idOf: (id: SecretId) => countedId(id, 'wrongCodes'),
    wrong: 'code_wrong',
    exhausted: 'codes_exhausted',
    event: 'code_refused',
  },
} as const;

export interface NamedLock extends Lock {
  readonly by: LockCause;
}

export type Locks = ReadonlyMap<ReceiptRecord, NamedLock>;

/** Finds the locks on unread secrets. Of two on one secret, the one on codes counts: without a code no passphrase is tried. */
export async function locksOf(
  store: Pick<AttemptStore, 'findLocks'> & Pick<SecretStore, 'now'>,
  records: readonly ReceiptRecord[],
): Promise<Locks> {
  const now = store.now();
  const waiting = records.filter((each) => isWaiting(each, now));
  const found = new Map<ReceiptRecord, NamedLock>();
  const find = async (by: LockCause, guarded: readonly ReceiptRecord[]) => {
    if (guarded.length === 0) return;
    const { idOf, limits } = guesses[by];
    const locks = await store.findLocks(
      guarded.map(({ secretId }) => idOf(secretId)),
      limits,
    );
    for (const [n, each] of guarded.entries()) {
      const lock = locks[n];
      if (lock) found.set(each, { ...lock, by });
    }
  };
  await find(
    'passphrase',
    waiting.filter((each) => each.hasPassphrase),
  );
  await find(
    'code',
    waiting.filter((each) => each.verify),
  );
  return found;
}
