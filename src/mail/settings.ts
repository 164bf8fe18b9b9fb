/** The key that signs mail (DKIM, RFC 6376), and the error for a mail setting. No error repeats a setting, which may contain a key. */
import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import type { Sensitive } from '../core/sensitive.ts';

/** Which setting is wrong, so that the caller can name the variable. */
export type MailSetting = 'sender' | 'return_path' | 'dkim';

export class MailSettingError extends RangeError {
  override readonly name = 'MailSettingError';
  readonly setting: MailSetting;

  constructor(setting: MailSetting, sentence: string) {
    super(sentence);
    this.setting = setting;
  }
}

export interface DkimSettings {
  readonly domain: string | null;
  /** The public key is published at `SELECTOR._domainkey.DOMAIN`. */
  readonly selector: string | null;
  /** In PEM, without a password. */
  readonly privateKey: Sensitive<string> | null;
}

export interface DkimSigner {
  readonly domainName: string;
  readonly keySelector: string;
  readonly privateKey: string;
}

const shortestKeyBits = 1_024;
const hostName =
  /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?)*$/i;

/**
 * Returns `null` if nothing is set. The library silently leaves mail unsigned if it cannot use the key, so the key is tested here. The
 * library signs with `rsa-sha256` only, and RFC 8301 §3.2 forbids verifiers from accepting keys below 1,024 bits.
 * @throws MailSettingError if the settings are incomplete or the key cannot sign
 */
export function toDkimSigner({ domain, selector, privateKey }: DkimSettings): DkimSigner | null {
  if (domain === null && selector === null && privateKey === null) return null;
  if (domain === null || selector === null || privateKey === null)
    throw refusal('Signing mail needs a domain, a selector and a private key: set all three or none.');
  if (!hostName.test(domain) || !hostName.test(selector))
    throw refusal('The domain and the selector for signing mail must be host names.');
  assertCanSign(privateKey);
  return { domainName: domain, keySelector: selector, privateKey: privateKey.expose() };
}

function refusal(sentence: string): MailSettingError {
  return new MailSettingError('dkim', sentence);
}

function assertCanSign(privateKey: Sensitive<string>): void {
  const key = readKey(privateKey);
  if (key.asymmetricKeyType !== 'rsa') throw refusal('The key that signs mail must be an RSA key.');
  if ((key.asymmetricKeyDetails?.modulusLength ?? 0) < shortestKeyBits)
    throw refusal(
      `The key that signs mail is too short to be trusted: create one of 2,048 bits, at least ${shortestKeyBits}.`,
    );
  sign('sha256', new Uint8Array(), key);
}

function readKey(privateKey: Sensitive<string>): KeyObject {
  try {
    return createPrivateKey(privateKey.expose());
  } catch {
    // The runtime's message may repeat part of the key.
    throw refusal(
      'The key that signs mail is not a private key in PEM without a password: create one with "openssl genrsa 2048".',
    );
  }
}
