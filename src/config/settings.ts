/** Every setting, as data: a sentence, a kind, a default, a variable. A setting that is not in this table does not exist. */
import { isIP } from 'node:net';
import { join } from 'node:path';
import { isLoopbackHost, isLoopbackUrl } from '../core/links.ts';
import type { Region, RegionLabel } from '../core/regions.ts';
import type { Sensitive } from '../core/sensitive.ts';
import {
  addressRanges,
  anyText,
  baseUrl,
  byteLimit,
  dnsServers,
  domainName,
  filePath,
  httpDate,
  listenAddress,
  locale,
  locales,
  mailAddress,
  mailSender,
  type OptionKind,
  oneOf,
  optional,
  origins,
  plainText,
  type RateLimitSetting,
  rateLimits,
  regionLabel,
  regions,
  regionUrls,
  regionWeights,
  sensitive,
  smtpUrl,
  storeAddress,
  wholeNumber,
} from './kinds.ts';

/** What a default may depend on: read before the others. */
export interface EarlierValues {
  readonly port: number;
  readonly host: string;
  readonly dataDir: string;
  readonly baseUrl: string;
  /** The address of this region; `null` where there are none. */
  readonly regionUrl: string | null;
}

export interface Option<T> {
  readonly env: string;
  readonly doc: string;
  readonly kind: OptionKind<T>;
  /** The default in words, as the reference shows it. */
  readonly defaultText: string;
  readonly fallback: (earlier: EarlierValues) => NoInfer<T>;
  /** Never printed; can also be read from the file that `<env>_FILE` names. */
  readonly secret?: true;
  readonly reader: 'server' | 'router' | 'server and router' | 'commands';
}

/** Mail needs a domain after the @; an installation without one is being tried out (RFC 2606 keeps `.invalid` for that). */
function defaultSender(baseUrl: string): string {
  const { hostname } = new URL(baseUrl);
  return `mayfly@${hostname.includes('.') && isIP(hostname) === 0 ? hostname : 'mayfly.invalid'}`;
}

/** Whether it is being tried out: nobody else can connect, and links lead nobody else here. */
export function isForThisMachineAlone({
  host,
  baseUrl: url,
}: Pick<EarlierValues, 'host' | 'baseUrl'>): boolean {
  return isLoopbackHost(host.toLowerCase()) && isLoopbackUrl(url);
}

function option<T>(of: Option<T>): Option<T> {
  return of;
}

export const options = {
  port: option({
    env: 'PORT',
    doc: 'The TCP port it listens on.',
    kind: wholeNumber(1, 65_535),
    defaultText: '3000',
    fallback: () => 3000,
    reader: 'server and router',
  }),
  host: option({
    env: 'HOST',
    doc: 'The address it listens on; 0.0.0.0 for all, as a container needs.',
    kind: listenAddress,
    defaultText: '127.0.0.1',
    fallback: () => '127.0.0.1',
    reader: 'server and router',
  }),
  dataDir: option({
    env: 'MAYFLY_DATA_DIR',
    doc: 'The folder of the embedded store, the keys and the outbox; made with mode 0700.',
    kind: filePath,
    defaultText: './data',
    fallback: () => './data',
    reader: 'server',
  }),
  baseUrl: option({
    env: 'MAYFLY_BASE_URL',
    doc: 'The address people reach it at: links are built from it and never from a request. A path in it is served under.',
    kind: baseUrl,
    defaultText: 'the address of MAYFLY_REGION; without regions http://localhost:$PORT',
    fallback: ({ port, regionUrl }) => regionUrl ?? `http://localhost:${port}`,
    reader: 'server',
  }),
  store: option({
    env: 'MAYFLY_STORE',
    doc: 'Where secrets are kept: the embedded store.',
    kind: storeAddress,
    defaultText: 'sqlite',
    fallback: () => 'sqlite' as const,
    reader: 'server',
  }),
  maxStorageBytes: option<number | null>({
    env: 'MAYFLY_MAX_STORAGE',
    doc: 'How much the embedded store may hold, without room in its file that is free for reuse. At the limit new secrets are refused; none is evicted, and everything else still works.',
    kind: byteLimit,
    defaultText: '10GiB',
    fallback: () => 10 * 2 ** 30,
    reader: 'server',
  }),
  rootKeysFile: option({
    env: 'MAYFLY_ROOT_KEYS_FILE',
    doc: 'The file of wrapping roots, mode 0600; made at the first start. Back it up apart from the store: without it no stored secret opens.',
    kind: filePath,
    defaultText: '$MAYFLY_DATA_DIR/keys.json',
    fallback: ({ dataDir }) => join(dataDir, 'keys.json'),
    reader: 'server',
  }),
  smtpUrl: option<Sensitive<string> | null>({
    env: 'MAYFLY_SMTP_URL',
    doc: 'The mail server. Without it mail is kept as .eml files, which hold live links, in $MAYFLY_DATA_DIR/outbox, for trying out. smtps:// is encrypted from the start, smtp:// must become so (STARTTLS) unless the server is this machine or the address ends in ?tls=opportunistic or ?tls=never.',
    kind: optional(sensitive(smtpUrl)),
    defaultText: 'none',
    fallback: () => null,
    secret: true,
    reader: 'server',
  }),
  mailFrom: option({
    env: 'MAYFLY_MAIL_FROM',
    doc: 'The sender of mail: an address, with a name perhaps, such as Secrets <secrets@example.com>. Without a name mail bears that of the site (MAYFLY_BRAND_FILE); a mail with a link names the account that sends it too, as jo@example.com via Secrets.',
    kind: mailSender,
    defaultText:
      'mayfly@ the host of MAYFLY_BASE_URL; where that is localhost or an IP address, mayfly@mayfly.invalid',
    fallback: (earlier) => defaultSender(earlier.baseUrl),
    reader: 'server',
  }),
  mailReturnPath: option<string | null>({
    env: 'MAYFLY_MAIL_RETURN_PATH',
    doc: 'The mailbox that other mail servers return undeliverable mail to; Mayfly does not read it.',
    kind: optional(mailAddress),
    defaultText: 'the address of MAYFLY_MAIL_FROM',
    fallback: () => null,
    reader: 'server',
  }),
  dkimDomain: option<string | null>({
    env: 'MAYFLY_DKIM_DOMAIN',
    doc: 'The domain that mail is signed for (DKIM); set the three together.',
    kind: optional(domainName),
    defaultText: 'none: mail is not signed here',
    fallback: () => null,
    reader: 'server',
  }),
  dkimSelector: option<string | null>({
    env: 'MAYFLY_DKIM_SELECTOR',
    doc: 'Under which name of that domain the public key stands: SELECTOR._domainkey.DOMAIN.',
    kind: optional(domainName),
    defaultText: 'none',
    fallback: () => null,
    reader: 'server',
  }),
  dkimKey: option<Sensitive<string> | null>({
    env: 'MAYFLY_DKIM_KEY',
    doc: 'The private key, in PEM; better as the path of a file in MAYFLY_DKIM_KEY_FILE.',
    kind: optional(sensitive(anyText)),
    defaultText: 'none',
    fallback: () => null,
    secret: true,
    reader: 'server',
  }),
  v1Dialect: option({
    env: 'MAYFLY_V1_DIALECT',
    doc: 'Whether API v1 answers as documented, or as the existing service does where the two differ.',
    kind: oneOf('documented', 'upstream'),
    defaultText: 'documented',
    fallback: () => 'documented' as const,
    reader: 'server',
  }),
  v2Dialect: option({
    env: 'MAYFLY_V2_DIALECT',
    doc: 'Whether API v2 answers as documented, or as the existing service does where the two differ.',
    kind: oneOf('documented', 'upstream'),
    defaultText: 'documented',
    fallback: () => 'documented' as const,
    reader: 'server',
  }),
  anonymous: option({
    env: 'MAYFLY_ANONYMOUS',
    doc: 'What callers without an account may do: create and read, or only read.',
    kind: oneOf('create', 'read'),
    defaultText: 'create',
    fallback: () => 'create' as const,
    reader: 'server',
  }),
  signUp: option({
    env: 'MAYFLY_SIGNUP',
    doc: 'Whether people may make accounts themselves, by a mail to their address; closed: only `mayfly account create` does.',
    kind: oneOf('open', 'closed'),
    defaultText:
      'open where MAYFLY_BASE_URL and HOST are both of this machine alone, for trying out; else closed',
    fallback: (earlier) => (isForThisMachineAlone(earlier) ? ('open' as const) : ('closed' as const)),
    reader: 'server',
  }),
  brandFile: option<string | null>({
    env: 'MAYFLY_BRAND_FILE',
    doc: 'A JSON file with the name, logo, colours and links that pages show, for the site and for each share domain.',
    kind: optional(filePath),
    defaultText: 'none: Mayfly’s own face',
    fallback: () => null,
    reader: 'server',
  }),
  domainTarget: option({
    env: 'MAYFLY_DOMAIN_TARGET',
    doc: 'The host name that share domains must lead to, by CNAME or with its addresses.',
    kind: domainName,
    defaultText: 'the host of MAYFLY_BASE_URL',
    fallback: (earlier) => new URL(earlier.baseUrl).hostname,
    reader: 'server',
  }),
  dnsServers: option<readonly string[]>({
    env: 'MAYFLY_DNS_SERVERS',
    doc: 'The DNS servers asked about share domains.',
    kind: dnsServers,
    defaultText: 'those of the system',
    fallback: () => [],
    reader: 'server',
  }),
  region: option<RegionLabel | null>({
    env: 'MAYFLY_REGION',
    doc: 'Which of MAYFLY_REGIONS this installation is: the keys that it makes carry the mark of it.',
    kind: optional(regionLabel),
    defaultText: 'none',
    fallback: () => null,
    reader: 'server',
  }),
  regions: option<readonly Region[]>({
    env: 'MAYFLY_REGIONS',
    doc: 'All regions with their own addresses, the preferred first: us=https://us.example.com,eu=https://eu.example.com.',
    kind: regions,
    defaultText: 'none',
    fallback: () => [],
    reader: 'server and router',
  }),
  routerUpstreams: option<readonly Region[]>({
    env: 'MAYFLY_ROUTER_UPSTREAMS',
    doc: 'Where the router reaches the servers of each region, if not at its own address; several for one region share its work.',
    kind: regionUrls,
    defaultText: 'the addresses of MAYFLY_REGIONS',
    fallback: () => [],
    reader: 'router',
  }),
  routerWeights: option<Readonly<Record<string, number>> | null>({
    env: 'MAYFLY_ROUTER_WEIGHTS',
    doc: 'How new secrets are spread over the regions, us=3,eu=1; without it the first region that is well gets them.',
    kind: optional(regionWeights),
    defaultText: 'none: the first of MAYFLY_REGIONS that is well',
    fallback: () => null,
    reader: 'router',
  }),
  routerDeprecation: option<string | null>({
    env: 'MAYFLY_ROUTER_DEPRECATION',
    doc: 'Since when or from when the address without a region is deprecated, as 2027-01-31: answers through the router then say so in a Deprecation header.',
    kind: optional(httpDate),
    defaultText: 'none: answers say nothing of it',
    fallback: () => null,
    reader: 'router',
  }),
  plansFile: option<string | null>({
    env: 'MAYFLY_PLANS_FILE',
    doc: 'A JSON file of limits (largest value, shortest, usual and longest ttl, share domains) laid over the built-in plans.',
    kind: optional(filePath),
    defaultText: 'none: the built-in plans',
    fallback: () => null,
    reader: 'server',
  }),
  rateLimits: option<RateLimitSetting>({
    env: 'MAYFLY_RATE_LIMITS',
    doc: 'Limits on requests: on, off, or the path of a JSON file that is laid over the built-in limits (see Rate limits below). It never touches the limit on passphrase guesses.',
    kind: rateLimits,
    defaultText: 'on',
    fallback: () => ({ mode: 'on' }),
    reader: 'server',
  }),
  trustedProxies: option<readonly string[]>({
    env: 'MAYFLY_TRUSTED_PROXIES',
    doc: 'The address ranges whose X-Forwarded-For is believed.',
    kind: addressRanges,
    defaultText: 'none',
    fallback: () => [],
    reader: 'server and router',
  }),
  allowedOrigins: option<readonly string[]>({
    env: 'MAYFLY_ALLOWED_ORIGINS',
    doc: 'The web origins whose pages may call the API from a browser, without credentials of the browser.',
    kind: origins,
    defaultText: 'none',
    fallback: () => [],
    reader: 'server',
  }),
  defaultLocale: option({
    env: 'MAYFLY_DEFAULT_LOCALE',
    doc: 'The language where a reader names none that is offered.',
    kind: locale,
    defaultText: 'en',
    fallback: () => 'en',
    reader: 'server',
  }),
  locales: option<readonly string[] | null>({
    env: 'MAYFLY_LOCALES',
    doc: 'The languages offered.',
    kind: optional(locales, 'all shipped'),
    defaultText: 'all shipped',
    fallback: () => null,
    reader: 'server',
  }),
  logLevel: option({
    env: 'MAYFLY_LOG_LEVEL',
    doc: 'The least serious log lines that are written. An account appears by its id, never by its address.',
    kind: oneOf('debug', 'info', 'warn', 'error'),
    defaultText: 'info',
    fallback: () => 'info' as const,
    reader: 'server and router',
  }),
  internalPort: option<number | null>({
    env: 'MAYFLY_INTERNAL_PORT',
    doc: 'The port, another one than PORT, for the machines around it alone: /metrics for Prometheus, /ask for Caddy’s on-demand certificates.',
    kind: optional(wholeNumber(1, 65_535)),
    defaultText: 'none: neither',
    fallback: () => null,
    reader: 'server',
  }),
  internalHost: option({
    env: 'MAYFLY_INTERNAL_HOST',
    doc: 'The address that MAYFLY_INTERNAL_PORT listens on; never one that the internet reaches.',
    kind: listenAddress,
    defaultText: '127.0.0.1',
    fallback: () => '127.0.0.1',
    reader: 'server',
  }),
  server: option({
    env: 'MAYFLY_SERVER',
    doc: 'The installation that share, generate, reveal, status, burn and recent talk to.',
    kind: baseUrl,
    defaultText: 'http://localhost:3000',
    fallback: () => 'http://localhost:3000',
    reader: 'commands',
  }),
  username: option<string | null>({
    env: 'MAYFLY_USERNAME',
    doc: 'The account those commands act as.',
    kind: optional(plainText),
    defaultText: 'none: anonymous',
    fallback: () => null,
    reader: 'commands',
  }),
  token: option<Sensitive<string> | null>({
    env: 'MAYFLY_TOKEN',
    doc: 'An API token of that account.',
    kind: optional(sensitive(plainText)),
    defaultText: 'none',
    fallback: () => null,
    secret: true,
    reader: 'commands',
  }),
  passphrase: option<Sensitive<string> | null>({
    env: 'MAYFLY_PASSPHRASE',
    doc: 'The passphrase that share, generate, reveal and status use.',
    kind: optional(sensitive(anyText)),
    defaultText: 'none',
    fallback: () => null,
    secret: true,
    reader: 'commands',
  }),
} as const;

export type OptionName = keyof typeof options;

type ValueOf<O> = O extends Option<infer T> ? T : never;

export type OptionValues = { readonly [N in OptionName]: ValueOf<(typeof options)[N]> };

/** The table in order, for those who do not care about each value's type. */
export const optionList: readonly (readonly [OptionName, Option<unknown>])[] = Object.entries(
  options,
) as never;
