/**
 * Encoding of API v2: whether secrets still wait.
 *
 * Owns: what is said of a key that opens nothing. Invariant: unknown, read, burned and expired are one answer (P17).
 */
import type { Caller } from '../../core/accounts/accounts.ts';
import type { SecretView, StatusOutcome } from '../../core/secrets/outcomes.ts';
import { custidOf, secretRecord } from './encode.ts';
import type { StatusAnswer, StatusesAnswer, UnknownSecretRecord, UnknownStatusAnswer } from './responses.ts';

export function encodeStatus(secret: SecretView, caller: Caller): StatusAnswer {
  return {
    success: true,
    custid: custidOf(caller),
    record: secretRecord(secret),
    details: { realttl: secret.secretTtlSeconds },
  };
}

function unknownRecord(key: string): UnknownSecretRecord {
  return { identifier: key, key, state: 'unknown' };
}

/** Of a key that opens nothing, where that is no refusal. */
export function encodeUnknownStatus(key: string, caller: Caller): UnknownStatusAnswer {
  return { success: true, custid: custidOf(caller), record: unknownRecord(key) };
}

/** @param keys as asked about, in that order */
export function encodeStatuses(
  keys: readonly string[],
  outcomes: ReadonlyMap<string, StatusOutcome>,
): StatusesAnswer {
  const recordOf = (key: string) => {
    const outcome = outcomes.get(key);
    return outcome?.outcome === 'waiting' ? secretRecord(outcome.secret) : unknownRecord(key);
  };
  return { success: true, records: keys.map(recordOf) };
}
