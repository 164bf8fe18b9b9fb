/**
 * The mail server's address, `MAYFLY_SMTP_URL`.
 *
 * Owns: the reading of `smtp://` and `smtps://` URLs and the rule about encryption: unencrypted mail carries live links,
 * so a server that is not on this machine must offer TLS unless the URL says otherwise. STARTTLS is then required, not
 * merely used when offered: who strips the offer gets no mail (RFC 8314 §4.1, RFC 3207 §6). Invariant: no refusal repeats
 * the URL, which may hold a password.
 */
import { isLoopbackHost } from '../core/loopback.ts';
import { Sensitive } from '../core/sensitive.ts';

/**
 * - `implicit`: TLS from the first byte (`smtps:`).
 * - `required`: STARTTLS, or no mail.
 * - `opportunistic`: STARTTLS where it is offered, else plain. The certificate is not looked at: who could forge one could
 *   take the offer away as well (RFC 7435 §3).
 * - `never`: plain, also when the server offers STARTTLS.
 */
export type SmtpTls = 'implicit' | 'required' | 'opportunistic' | 'never';

export interface SmtpSettings {
  readonly host: string;
  readonly port: number;
  readonly tls: SmtpTls;
  /** `null`: the server is used without logging in. */
  readonly login: { readonly user: string; readonly password: Sensitive<string> } | null;
}

export interface SmtpUrlError {
  /** A sentence that says what to do. */
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
