/** Passphrases and passwords: slow hashing and word lists. */
import type { HashPlace } from '../account.ts';

/** Bounded, off-thread slow hashing (P24). */
export interface PassphraseHasher {
  /** argon2id, 19 MiB, t = 2, p = 1: 32 bytes. Rejects with `ServiceError('busy')` when the queue is full. */
  stretch(passphrase: Uint8Array, salt: Uint8Array, place: HashPlace): Promise<Uint8Array>;
  /** bcrypt of 1 to 72 bytes of visible ASCII, at its least cost: its input is already stretched, and it decides nothing. */
  hashVerifier(input: string): Promise<string>;
}

/** Whether a password is one of those tried first, even surrounded by digits and signs. */
export type IsCommonPassword = (password: string) => Promise<boolean>;

/** Words to draw passphrases from: lower-case ASCII, no duplicates, 7,776 of them. */
export type WordList = () => Promise<readonly string[]>;
