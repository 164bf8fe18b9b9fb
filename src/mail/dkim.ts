/**
 * The signature that proves a mail's domain (DKIM, RFC 6376).
 *
 * Owns: what a mail is signed with. Invariant: the library leaves a mail unsigned without a word when it cannot use the
 * key, so the key is tried here, once, before any mail is sent. The library signs `rsa-sha256` and nothing else, and
 * RFC 8301 §3.2 lets nobody verify keys below 1,024 bits.
 */
import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import type { Sensitive } from '../core/sensitive.ts';
import { MailSettingError } from './mail-setting.ts';

export interface DkimSettings {
  readonly domain: string | null;
  /** The public key stands at `SELECTOR._domainkey.DOMAIN`. */
  readonly selector: string | null;
  /** In PEM, without a password. */
  readonly privateKey: Sensitive<string> | null;
}

/** As the library takes it. */
export interface DkimSigner {
  readonly domainName: string;
  readonly keySelector: string;
  readonly privateKey: string;
}

const shortestKeyBits = 1_024;
const hostName =
  /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?)*$/i;

/** `null` when nothing is set. @throws MailSettingError when some of it is, or the key cannot sign. */
export function toDkimSigner({ domain, selector, privateKey }: DkimSettings): DkimSigner | null {
  if (domain === null && selector === null && privateKey === null) return null;
  if (domain === null || selector === null || privateKey === null)
    throw refusal(
      'Signing mail needs a domain, a selector and a private key: set all three or none of them.',
    );
  if (!hostName.test(domain) || !hostName.test(selector))
    throw refusal('The domain and the selector that mail is signed for must be host names.');
  assertCanSign(privateKey);
  return { domainName: domain, keySelector: selector, privateKey: privateKey.expose() };
}

function refusal(sentence: string): MailSettingError {
  return new MailSettingError('dkim', sentence);
}

function assertCanSign(privateKey: Sensitive<string>): void {
  const key = readKey(privateKey);
  if (key.asymmetricKeyType !== 'rsa')
    throw refusal('The key that mail is signed with must be an RSA key: others are not supported here.');
  if ((key.asymmetricKeyDetails?.modulusLength ?? 0) < shortestKeyBits)
    throw refusal(
      `The key that mail is signed with is too short for anybody to trust: make one of 2,048 bits, at least ${shortestKeyBits}.`,
    );
  sign('sha256', new Uint8Array(), key);
}

function readKey(privateKey: Sensitive<string>): KeyObject {
  try {
    return createPrivateKey(privateKey.expose());
  } catch {
    // The runtime's own words may repeat a part of the key.
    throw refusal(
      'The key that mail is signed with is no private key in PEM without a password: make one with "openssl genrsa 2048".',
    );
  }
}
