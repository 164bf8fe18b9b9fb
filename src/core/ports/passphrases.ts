/** Passphrases and passwords: slow hashing and word lists. */
import type { HashPlace } from '../account.ts';

/** Bounded, off-thread slow hashing (P24). */
export interface PassphraseHasher {
  /** Returns 32 bytes of argon2id (19 MiB, t = 2, p = 1). Rejects with `ServiceError('busy')` if the queue is full. */
  stretch(passphrase: Uint8Array, salt: Uint8Array, place: HashPlace): Promise<Uint8Array>;
  /** Hashes 1–72 bytes of visible ASCII with bcrypt at the lowest cost: the input is already stretched, and nothing depends on the hash. */
  hashVerifier(input: string): Promise<string>;
}

/** Checks whether a password is among those that attackers try first, even if surrounded by digits and symbols. */
export type IsCommonPassword = (password: string) => Promise<boolean>;

/** Returns the words that passphrases are drawn from: 7,776 of them in lower-case ASCII, without duplicates. */
export type WordList = () => Promise<readonly string[]>;
