/**
 * Passwords of accounts.
 *
 * Owns: which password is taken (NIST SP 800-63B-3 §5.1.1.2, ASVS 5.0 V6.2: length and a list of common ones, no rules
 * of composition), and the one way from a password to the data key. Invariants: a password is compared as received, every
 * byte of it (P15); the store holds a value derived from the stretched password and the data key wrapped under it, under
 * which no password can be found without computing argon2id for each guess (P9); whatever is wrong, one password is
 * stretched and one value compared in constant time (P17).
 */
import { equalInConstantTime, utf8 } from '../../crypto/bytes.ts';
import { derivePasswordVerifier } from '../../crypto/derive.ts';
import type { RandomBytes } from '../../crypto/random.ts';
import { ServiceError } from '../errors.ts';
import type { IsCommonPassword, PassphraseHasher } from '../ports.ts';
import type { Sensitive } from '../sensitive.ts';
import type { UnixSeconds } from '../time.ts';
import type { StoredPassword } from './accounts.ts';
import { openDataKey, wrapDataKey } from './data-key.ts';
import type { PasswordRefusal } from './outcomes.ts';

/** In characters (code points). */
export const passwordLength = { min: 10, max: 256 } as const;
const saltBytes = 16;

/** Compared with where there is no password: as much work, and nothing is equal to it. */
const nobodysPassword = { salt: new Uint8Array(saltBytes), verifier: new Uint8Array(32) };

/** Why a password is not taken for this username; `null` when it is. */
export async function refusalOf(
  password: string,
  username: string,
  isCommonPassword: IsCommonPassword,
): Promise<PasswordRefusal | null> {
  if (!password.isWellFormed()) return { outcome: 'password_ill_formed' };
  const { min, max } = passwordLength;
  // The cheap count of code units first: a text of megabytes is not taken apart.
  const length = password.length > 2 * max ? password.length : [...password].length;
  if (length < min) return { outcome: 'password_too_short', minLength: min };
  if (length > max) return { outcome: 'password_too_long', maxLength: max };
  if (isMadeOf(password, username) || (await isCommonPassword(password)))
    return { outcome: 'password_common' };
  return null;
}

/** Whether nothing but digits and signs remains when the address, or its local part, is taken out. */
function isMadeOf(password: string, username: string): boolean {
  const lower = password.toLowerCase();
  const local = username.slice(0, username.lastIndexOf('@'));
  const rest = lower.replaceAll(username, '').replaceAll(local, '');
  return rest !== lower && !/\p{L}/u.test(rest);
}

/** What the store keeps of a new password. */
export async function makePassword(
  deps: { readonly hasher: PassphraseHasher; readonly random: RandomBytes },
  input: {
    readonly password: Sensitive<string>;
    readonly dataKey: Uint8Array;
    readonly setAt: UnixSeconds;
    readonly client: string;
  },
): Promise<StoredPassword> {
  const salt = deps.random(saltBytes);
  const stretched = await stretch(deps.hasher, input.password, salt, input.client);
  const verifier = derivePasswordVerifier(stretched, salt);
  const wrappedDataKey = wrapDataKey(input.dataKey, stretched, deps.random);
  stretched.fill(0);
  return { salt, verifier, wrappedDataKey, setAt: input.setAt };
}

/**
 * The account's data key, if the password is right; `null` when it is wrong or there is none.
 * @throws ServiceError `damaged` when the password is right and the data key does not open
 */
export async function openWithPassword(
  hasher: PassphraseHasher,
  stored: StoredPassword | null,
  password: Sensitive<string>,
  client: string,
): Promise<Uint8Array | null> {
  const { salt, verifier } = stored ?? nobodysPassword;
  const stretched = await stretch(hasher, password, salt, client);
  const isEqual = equalInConstantTime(derivePasswordVerifier(stretched, salt), verifier);
  // A lone surrogate is stretched as U+FFFD, which another password may have in that place.
  const isRight = isEqual && password.expose().isWellFormed();
  const dataKey = isRight && stored !== null ? openDataKey(stored.wrappedDataKey, stretched) : null;
  stretched.fill(0);
  if (isRight && stored !== null && dataKey === null)
    throw new ServiceError('damaged', 'an account’s data key does not open with its password');
  return dataKey;
}

async function stretch(
  hasher: PassphraseHasher,
  password: Sensitive<string>,
  salt: Uint8Array,
  client: string,
): Promise<Uint8Array> {
  const bytes = utf8(password.expose());
  try {
    return await hasher.stretch(bytes, salt, { client, purpose: 'prove' });
  } finally {
    bytes.fill(0);
  }
}
