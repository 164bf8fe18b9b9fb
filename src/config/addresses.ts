/** Kinds of settings that are addresses: this installation, its mail server, proxies and regions. */
import { BlockList, isIP, isIPv4 } from 'node:net';
import { z } from 'zod';
import { parseRegionLabel, type Region, type RegionLabel } from '../core/keys.ts';
import { isLoopbackHost } from '../core/links.ts';
import { Sensitive } from '../core/sensitive.ts';
import { Complaint, hidden, type Kind, kind, listOf, parts, readBy, showList } from './kinds.ts';

/** An IP address according to `node:net`, or a host name as in a hosts file. */
export const listenAddress = kind(
  'an IP address or a host name, such as 127.0.0.1 or 0.0.0.0',
  z.string().refine((text) => isIP(text) !== 0 || /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/i.test(text)),
);

function parseUrl(text: string, protocols: readonly string[]): URL | undefined {
  const url = URL.parse(text);
  return url !== null && protocols.includes(url.protocol) && url.hostname !== '' ? url : undefined;
}

const installation = readBy((text) => {
  const url = parseUrl(text, ['http:', 'https:']);
  if (url === undefined || url.username !== '' || url.password !== '') return undefined;
  if (text.includes('?') || text.includes('#')) return undefined;
  return url.origin + url.pathname.replace(/\/+$/, '');
});

/** Origin and path of an installation, without a trailing slash. */
export const baseUrl = kind(
  'an http or https address without user, query or fragment, such as https://secrets.example.org',
  installation,
);

/** A contact (RFC 9116 §2.5.3), normalised by the URL parser, which removes line breaks. */
export const contact = kind(
  'a mailto: or https: address, such as mailto:security@example.org',
  readBy((text) => {
    const url = URL.parse(text);
    if (url?.protocol === 'mailto:') return url.pathname.includes('@') ? url.href : undefined;
    return parseUrl(text, ['https:'])?.href;
  }),
);

/**
 * How mail is encrypted on its way to the server. Mail carries live links, so a remote server must use TLS unless the URL says otherwise.
 * STARTTLS is then mandatory: an attacker who strips the offer gets no mail (RFC 8314 §4.1, RFC 3207 §6).
 *
 * - `implicit`: TLS from the first byte (`smtps:`).
 * - `required`: STARTTLS, or no mail.
 * - `opportunistic`: STARTTLS if offered, otherwise unencrypted. The certificate is not checked, because an attacker who could forge one
 *   could also strip the offer (RFC 7435 §3).
 * - `never`: unencrypted, even if the server offers STARTTLS.
 */
export type SmtpTls = 'implicit' | 'required' | 'opportunistic' | 'never';

export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  readonly tls: SmtpTls;
  readonly login: { readonly user: string; readonly password: Sensitive<string> } | null;
}

interface SmtpUrlError {
  /** Says what to do without quoting the URL, which may contain a password. */
  readonly error: string;
}

const choices: readonly SmtpTls[] = ['required', 'opportunistic', 'never'];

const form = 'smtp://[user:password@]host[:port] or smtps://[user:password@]host[:port]';

export function parseSmtpUrl(url: string): SmtpServer | SmtpUrlError {
  const parsed = URL.parse(url);
  if (parsed === null || !['smtp:', 'smtps:'].includes(parsed.protocol)) return { error: `Must be ${form}.` };
  const host = parsed.hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  if (!/^[a-z0-9.:_-]+$/.test(host)) return { error: `Names no mail server. Must be ${form}.` };
  if (!['', '/'].includes(parsed.pathname) || parsed.hash !== '')
    return { error: `Contains more than a server. Must be ${form}.` };
  const tls = parseTls(parsed, host);
  if (typeof tls === 'object') return tls;
  const login = parseLogin(parsed);
  if (login !== null && 'error' in login) return login;
  const port = parsed.port === '' ? (tls === 'implicit' ? 465 : 587) : Number(parsed.port);
  return port === 0 ? { error: 'Port 0 is not allowed.' } : { host, port, tls, login };
}

function parseTls(url: URL, host: string): SmtpTls | SmtpUrlError {
  const unknown = [...url.searchParams.keys()].filter((name) => name !== 'tls');
  if (unknown.length > 0) return { error: 'Has an unknown parameter: only ?tls=… is allowed.' };
  const asked = url.searchParams.getAll('tls');
  const choice = choices.find((one) => one === asked[0]);
  if (asked.length > 1 || (asked.length === 1 && choice === undefined))
    return { error: '?tls= must be required, opportunistic or never, and appear once.' };
  if (url.protocol === 'smtps:') {
    return choice === undefined || choice === 'required'
      ? 'implicit'
      : { error: 'smtps:// is always encrypted: remove ?tls= or use smtp://.' };
  }
  return choice ?? (isLoopbackHost(host) ? 'never' : 'required');
}

function parseLogin(url: URL): SmtpServer['login'] | SmtpUrlError {
  if (url.username === '' && url.password === '') return null;
  try {
    const user = decodeURIComponent(url.username);
    const password = new Sensitive(decodeURIComponent(url.password));
    return user === '' ? { error: 'Has a password but no user.' } : { user, password };
  } catch {
    return { error: 'User or password is not percent-encoded: write % as %25.' };
  }
}

export const smtpServer: Kind<SmtpServer> = hidden(
  kind(
    'an address such as smtps://user:password@mail.example.org:465 or smtp://localhost:25',
    readBy((text) => {
      if (parseUrl(text, ['smtp:', 'smtps:']) === undefined) return undefined;
      const server = parseSmtpUrl(text);
      return 'error' in server
        ? new Complaint({ objections: [`: ${server.error}`], isForServer: true })
        : server;
    }),
  ),
);

/** Proxies whose `X-Forwarded-For` is trusted. */
export interface TrustedProxies {
  /** In CIDR notation. */
  readonly ranges: readonly string[];
  has(address: string): boolean;
}

/** A single address counts as a range of one. */
const addressRange = readBy((text) => {
  const [address = '', prefix, ...rest] = text.split('/');
  const family = address.includes('%') ? 0 : isIP(address);
  if (family === 0 || rest.length > 0) return undefined;
  const bits = family === 4 ? 32 : 128;
  if (prefix === undefined) return `${address}/${bits}`;
  return /^(0|[1-9][0-9]{0,2})$/.test(prefix) && Number(prefix) <= bits ? text : undefined;
});

/** @param ranges in CIDR notation */
function trustedProxies(ranges: readonly string[]): TrustedProxies {
  const list = new BlockList();
  for (const range of ranges) {
    const [network = '', bits] = range.split('/');
    list.addSubnet(network, Number(bits), isIPv4(network) ? 'ipv4' : 'ipv6');
  }
  const has = (address: string) => list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
  return { ranges, has };
}

export const noProxies = trustedProxies([]);

export const addressRanges: Kind<TrustedProxies> = kind(
  'addresses or ranges separated by commas, such as 10.0.0.0/8, ::1',
  parts(addressRange).transform(trustedProxies),
  ({ ranges }) => showList(ranges),
);

/** Origins as browsers send them (RFC 6454 §6.1): in lower case, without a trailing slash. */
export const origins: Kind<ReadonlySet<string>> = kind(
  'origins separated by commas, as a browser sends them, such as https://app.example.org',
  parts(z.string().refine((text) => parseUrl(text, ['http:', 'https:'])?.origin === text)).transform(
    (values) => new Set(values),
  ),
  showList,
);

/** Letters, digits, inner hyphens (RFC 1123 §2.1) and underscores; a single label is enough. */
const hostNameForm =
  /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?)*$/;

export const domainName = kind(
  'a host name such as mail.example.org',
  z.string().toLowerCase().regex(hostNameForm),
);

/** Accepts `192.0.2.53`, `127.0.0.1:5353`, `[::1]:5353`. */
function isDnsServer(text: string): boolean {
  const [, bracketed, plain, port = '53'] =
    /^(?:\[([^\]]+)\]|([^:]+|.*:.*:.*?))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const address = bracketed ?? plain ?? '';
  return isIP(address) !== 0 && Number(port) >= 1 && Number(port) <= 65_535;
}

export const dnsServers = listOf(
  'IP addresses separated by commas, optionally with ports, such as 192.0.2.53, [2001:db8::53]:5353',
  z.string().refine(isDnsServer),
);

const regionLabelText = readBy((text) => parseRegionLabel(text) ?? undefined);

export const regionLabel: Kind<RegionLabel> = kind(
  'two characters of a-z and 0-9, such as us or eu',
  regionLabelText,
);

const regionUrl = z
  .string()
  .transform((text): unknown => {
    const [, label = '', address = ''] = /^([^=]*)=(.*)$/.exec(text) ?? [];
    return { label: label.trim(), baseUrl: address.trim() };
  })
  .pipe(z.object({ label: regionLabelText, baseUrl: installation }));

const regionsForm =
  'labels of two characters, each with an http or https address, such as us=https://us.example.com,eu=https://eu.example.com';

function showRegions(values: readonly Region[]): string {
  return values.length === 0 ? 'none' : values.map(({ label, baseUrl: url }) => `${label}=${url}`).join(',');
}

export const regionUrls: Kind<readonly Region[]> = kind(regionsForm, parts(regionUrl), showRegions);

function isUnique(values: readonly string[]): boolean {
  return new Set(values).size === values.length;
}

export const regions: Kind<readonly Region[]> = kind(
  regionsForm,
  parts(regionUrl).refine(
    (values) => isUnique(values.map(({ label }) => label)) && isUnique(values.map((each) => each.baseUrl)),
    { params: { complaint: new Complaint({ problem: 'labels and addresses must not repeat' }) } },
  ),
  showRegions,
);

/** `us=3,eu=1`: whole numbers from 0 to 1,000, at least one of them above 0. */
export const regionWeights: Kind<Readonly<Record<string, number>>> = kind(
  'labels of regions, each with a whole number from 0 to 1000, at least one above 0, such as us=3,eu=1',
  readBy((text) => {
    const pairs = text.split(',').map((part) => /^\s*([0-9a-z]{2})=(\d{1,4})\s*$/.exec(part));
    if (!pairs.every((pair) => pair !== null && Number(pair[2]) <= 1_000)) return undefined;
    const weights = Object.fromEntries(pairs.map((pair) => [pair?.[1] ?? '', Number(pair?.[2])]));
    const isUsable =
      Object.keys(weights).length === pairs.length && Object.values(weights).some((weight) => weight > 0);
    return isUsable ? weights : undefined;
  }),
  (value) =>
    Object.entries(value)
      .map(([label, weight]) => `${label}=${weight}`)
      .join(','),
);
