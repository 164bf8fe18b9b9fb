/**
 * The operator's mail settings: the server's URL (`MAYFLY_SMTP_URL`) and the key that signs (DKIM, RFC 6376).
 *
 * Unencrypted mail carries live links, so a server that is not on this machine must offer TLS unless the URL says otherwise.
 * STARTTLS is then required and not just used when offered: an attacker who strips the offer gets no mail (RFC 8314 §4.1,
 * RFC 3207 §6). No error repeats a setting, which may hold a password or a key.
 */
import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { isLoopbackHost } from '../core/links.ts';
import { Sensitive } from '../core/sensitive.ts';

/**
 * Which setting of mail is not what it must be.
 *
 * Owns: the names by which those who read settings can tell their people what to change. Invariant: the sentence never
 * repeats the setting, which may hold a password or a key.
 */
export type MailSetting = 'server' | 'sender' | 'return_path' | 'dkim';

/** The message is a sentence that says what to do. */
export class MailSettingError extends RangeError {
  override readonly name = 'MailSettingError';
  readonly setting: MailSetting;

  constructor(setting: MailSetting, sentence: string) {
    super(sentence);
    this.setting = setting;
  }
}

/**
 * - `implicit`: TLS from the first byte (`smtps:`).
 * - `required`: STARTTLS, or no mail.
 * - `opportunistic`: STARTTLS where it is offered, else plain. The certificate is not checked: an attacker who could
 *   forge one could also remove the offer (RFC 7435 §3).
 * - `never`: plain, also when the server offers STARTTLS.
 */
export type SmtpTls = 'implicit' | 'required' | 'opportunistic' | 'never';

export interface SmtpSettings {
  readonly host: string;
  readonly port: number;
  readonly tls: SmtpTls;
  readonly login: { readonly user: string; readonly password: Sensitive<string> } | null;
}

export interface SmtpUrlError {
  /** Says what to do. */
  readonly error: string;
}

const choices: readonly SmtpTls[] = ['required', 'opportunistic', 'never'];

const form = 'smtp://[user:password@]host[:port] or smtps://[user:password@]host[:port]';

export function parseSmtpUrl(url: string): SmtpSettings | SmtpUrlError {
  const parsed = URL.parse(url);
  if (parsed === null || !['smtp:', 'smtps:'].includes(parsed.protocol)) return { error: `Must be ${form}.` };
  const host = parsed.hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  if (!/^[a-z0-9.:_-]+$/.test(host)) return { error: `Names no mail server. Must be ${form}.` };
  if (!['', '/'].includes(parsed.pathname) || parsed.hash !== '')
    return { error: `Has more than a server in it. Must be ${form}.` };
  const tls = parseTls(parsed, host);
  if (typeof tls === 'object') return tls;
  const login = parseLogin(parsed);
  if (login !== null && 'error' in login) return login;
  const port = parsed.port === '' ? (tls === 'implicit' ? 465 : 587) : Number(parsed.port);
  return port === 0 ? { error: 'Port 0 is no port.' } : { host, port, tls, login };
}

function parseTls(url: URL, host: string): SmtpTls | SmtpUrlError {
  const unknown = [...url.searchParams.keys()].filter((name) => name !== 'tls');
  if (unknown.length > 0) return { error: 'Has an unknown parameter: only ?tls=… is known.' };
  const asked = url.searchParams.getAll('tls');
  const choice = choices.find((one) => one === asked[0]);
  if (asked.length > 1 || (asked.length === 1 && choice === undefined))
    return { error: 'The parameter tls is required, opportunistic or never, and stands once.' };
  if (url.protocol === 'smtps:') {
    return choice === undefined || choice === 'required'
      ? 'implicit'
      : { error: 'smtps:// is always encrypted: leave ?tls= out, or write smtp://.' };
  }
  return choice ?? (isLoopbackHost(host) ? 'never' : 'required');
}

function parseLogin(url: URL): SmtpSettings['login'] | SmtpUrlError {
  if (url.username === '' && url.password === '') return null;
  try {
    const user = decodeURIComponent(url.username);
    const password = new Sensitive(decodeURIComponent(url.password));
    return user === '' ? { error: 'Has a password but no user.' } : { user, password };
  } catch {
    return { error: 'User or password is not percent-encoded: write % as %25.' };
  }
}

export interface DkimSettings {
  readonly domain: string | null;
  /** The public key is published at `SELECTOR._domainkey.DOMAIN`. */
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

/**
 * `null` when nothing is set. The library silently leaves mail unsigned when it cannot use the key, so the key is tried here. It signs
 * `rsa-sha256` only, and RFC 8301 §3.2 forbids verifying keys below 1,024 bits.
 * @throws MailSettingError when the settings are incomplete or the key cannot sign
 */
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
