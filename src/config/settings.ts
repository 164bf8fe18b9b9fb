/** Every setting, as data: a sentence, a kind, a default, a variable. A setting that is not in this table does not exist. */
import { join } from 'node:path';
import type { Region, RegionLabel } from '../core/keys.ts';
import { isLoopbackHost, isLoopbackUrl } from '../core/links.ts';
import { builtInPlans } from '../core/plans.ts';
import { supportedLocales } from '../locale/catalogues.ts';
import {
  addressRanges,
  baseUrl,
  contact,
  dnsServers,
  domainName,
  listenAddress,
  noProxies,
  origins,
  regionLabel,
  regions,
  regionUrls,
  regionWeights,
  smtpServer,
} from './addresses.ts';
import { type Definition, type Others, setting } from './definition.ts';
import { builtInRateLimits } from './json-files.ts';
import {
  byteLimit,
  day,
  filePath,
  locale,
  locales,
  mailAddress,
  mailSender,
  oneOf,
  optional,
  plainText,
  plans,
  rateLimits,
  sensitiveLine,
  sensitiveText,
  wholeNumber,
  yesNo,
} from './kinds.ts';
import { storeAddress } from './store-address.ts';

/** `null` when it is not listed, or is no region. */
export function regionAddress(region: RegionLabel | null, all: readonly Region[]): string | null {
  return all.find(({ label }) => label === region)?.baseUrl ?? null;
}

/** Mail needs a domain after the @; an installation without one is being tried out (RFC 2606 keeps `.invalid` for that). */
function defaultSender(siteUrl: string): string {
  return `mayfly@${nameOnInternet(siteUrl) ?? 'mayfly.invalid'}`;
}

/** `null` for an address, for a name without a dot, and for those of this machine alone. */
function nameOnInternet(siteUrl: string): string | null {
  const { hostname } = new URL(siteUrl);
  return /^(?:[a-z0-9-]+\.)+(?!localhost$)[a-z][a-z0-9-]*$/.test(hostname) ? hostname : null;
}

/** Whether it is being tried out: nobody else can connect, and links lead nobody else here. */
export function isForThisMachineAlone({ host, baseUrl: url }: Pick<Others, 'host' | 'baseUrl'>): boolean {
  return isLoopbackHost(host.toLowerCase()) && isLoopbackUrl(url);
}

export const definitions = {
  port: setting({
    env: 'PORT',
    doc: 'The TCP port it listens on.',
    kind: wholeNumber(1, 65_535),
    default: 3000,
    reader: 'server and router',
  }),
  host: setting({
    env: 'HOST',
    doc: 'The address it listens on; 0.0.0.0 for all, as a container needs.',
    kind: listenAddress,
    default: '127.0.0.1',
    reader: 'server and router',
  }),
  dataDir: setting({
    env: 'MAYFLY_DATA_DIR',
    doc: 'The folder for the embedded store, the keys and the outbox; created with mode 0700.',
    kind: filePath,
    default: './data',
    reader: 'server',
  }),
  baseUrl: setting({
    env: 'MAYFLY_BASE_URL',
    doc: 'The address people reach it at. Links are built from it, never from a request. If it has a path, everything is served below that path.',
    kind: baseUrl,
    defaultText: 'the address of MAYFLY_REGION, or http://localhost:$PORT without regions',
    default: ({ port, region, regions: all }) => regionAddress(region, all) ?? `http://localhost:${port}`,
    reader: 'server',
  }),
  store: setting({
    env: 'MAYFLY_STORE',
    doc: 'Where secrets are stored: in the embedded database, or on a PostgreSQL server that any number of nodes share (see engines.md). Shown without its password. A server on another machine must prove its name by TLS; ?sslrootcert=PATH names the authority that it does it by, and ?sslmode=disable does without.',
    kind: storeAddress,
    default: 'sqlite',
    reader: 'server',
  }),
  storeDurability: setting({
    env: 'MAYFLY_STORE_DURABILITY',
    doc: 'Where PostgreSQL keeps a commit before it counts: synchronous: on a standby too, which is checked; single: on one server that nothing takes over for; engine: wherever a managed or distributed engine needs it to survive its own failovers, which you declare.',
    kind: optional(oneOf('single', 'synchronous', 'engine'), 'as the server has it'),
    defaultText: 'synchronous if the server names standbys; otherwise it must be set',
    default: null,
    reader: 'server',
  }),
  storePoolSize: setting({
    env: 'MAYFLY_STORE_POOL_SIZE',
    doc: 'How many connections to PostgreSQL a node keeps. All nodes together, and one more each, must fit in the server’s max_connections.',
    kind: wholeNumber(4, 500),
    default: 10,
    reader: 'server',
  }),
  allowsUnsafeStore: setting({
    env: 'MAYFLY_ALLOW_UNSAFE_STORE',
    doc: 'Whether to run on a PostgreSQL server whose settings can lose or double a secret, or write e-mail addresses to its log. What is unsafe is said at the start and on /status.',
    kind: yesNo('on', 'off'),
    default: false,
    reader: 'server',
  }),
  maxStorageBytes: setting({
    env: 'MAYFLY_MAX_STORAGE',
    doc: 'How much the store may hold; space in its files that can be reused does not count. At the limit, new secrets are refused; nothing is evicted, and everything else keeps working.',
    kind: byteLimit,
    default: 10 * 2 ** 30,
    reader: 'server',
  }),
  rootKeysFile: setting({
    env: 'MAYFLY_ROOT_KEYS_FILE',
    doc: 'The key file with the wrapping roots, mode 0600, created at the first start of the embedded store, and for PostgreSQL by `mayfly keys create`, once for all nodes. Back it up separately from the store: without it, no stored secret can be opened.',
    kind: filePath,
    defaultText: '$MAYFLY_DATA_DIR/keys.json',
    default: ({ dataDir }) => join(dataDir, 'keys.json'),
    reader: 'server',
  }),
  smtpServer: setting({
    env: 'MAYFLY_SMTP_URL',
    doc: 'The mail server. Without one, mail is written to $MAYFLY_DATA_DIR/outbox as .eml files, for trying Mayfly out; they contain live links. smtps:// is encrypted from the start. smtp:// must upgrade to TLS (STARTTLS), unless the server is this machine or the address ends in ?tls=opportunistic or ?tls=never.',
    kind: optional(smtpServer),
    default: null,
    reader: 'server',
  }),
  mailFrom: setting({
    env: 'MAYFLY_MAIL_FROM',
    doc: 'The sender of mail: an address, optionally with a name, such as Secrets <secrets@example.com>. Without a name, the site’s name (MAYFLY_BRAND_FILE) is used. A mail with a link also names the account that sends it: jo@example.com via Secrets.',
    kind: mailSender,
    defaultText:
      'mayfly@ and the host of MAYFLY_BASE_URL, or mayfly@mayfly.invalid if that is localhost or an IP address',
    default: (others) => defaultSender(others.baseUrl),
    reader: 'server',
  }),
  mailReturnPath: setting({
    env: 'MAYFLY_MAIL_RETURN_PATH',
    doc: 'The mailbox to which other mail servers return undeliverable mail. Mayfly does not read it.',
    kind: optional(mailAddress),
    defaultText: 'the address of MAYFLY_MAIL_FROM',
    default: null,
    reader: 'server',
  }),
  mailHelo: setting({
    env: 'MAYFLY_MAIL_HELO',
    doc: 'The name that Mayfly greets the mail server with (EHLO). Strict servers refuse one without a dot, or one that is not in the DNS.',
    kind: optional(domainName),
    defaultText:
      'the host of MAYFLY_BASE_URL, or the domain of MAYFLY_MAIL_FROM if that is localhost or an IP address',
    default: (others) => nameOnInternet(others.baseUrl),
    reader: 'server',
  }),
  dkimDomain: setting({
    env: 'MAYFLY_DKIM_DOMAIN',
    doc: 'The domain to sign mail for (DKIM). Set all three DKIM settings together.',
    kind: optional(domainName),
    defaultText: 'none: mail is not signed by Mayfly',
    default: null,
    reader: 'server',
  }),
  dkimSelector: setting({
    env: 'MAYFLY_DKIM_SELECTOR',
    doc: 'The selector of the public key, which is published at SELECTOR._domainkey.DOMAIN.',
    kind: optional(domainName),
    default: null,
    reader: 'server',
  }),
  dkimKey: setting({
    env: 'MAYFLY_DKIM_KEY',
    doc: 'The private key, in PEM. Preferably name its file in MAYFLY_DKIM_KEY_FILE.',
    kind: optional(sensitiveText),
    default: null,
    reader: 'server',
  }),
  v1Dialect: setting({
    env: 'MAYFLY_V1_DIALECT',
    doc: 'Whether API v1 answers as documented, or as the existing service does where the two differ.',
    kind: oneOf('documented', 'upstream'),
    default: 'documented',
    reader: 'server',
  }),
  v2Dialect: setting({
    env: 'MAYFLY_V2_DIALECT',
    doc: 'Whether API v2 answers as documented, or as the existing service does where the two differ.',
    kind: oneOf('documented', 'upstream'),
    default: 'documented',
    reader: 'server',
  }),
  anonymousMayCreate: setting({
    env: 'MAYFLY_ANONYMOUS',
    doc: 'What callers without an account may do: create and read, or only read.',
    kind: yesNo('create', 'read'),
    default: true,
    reader: 'server',
  }),
  signUpIsOpen: setting({
    env: 'MAYFLY_SIGNUP',
    doc: 'Whether people may sign up by themselves, with a mail to their address. If closed, only `mayfly account create` makes accounts.',
    kind: yesNo('open', 'closed'),
    defaultText:
      'open if only this machine can reach it (by MAYFLY_BASE_URL and HOST), for trying it out; otherwise closed',
    default: isForThisMachineAlone,
    reader: 'server',
  }),
  endToEnd: setting({
    env: 'MAYFLY_END_TO_END',
    doc: 'Whether the share page encrypts in the browser, so that the server never sees the secret: by default, offered as a choice that is off at first, or off. Links made that way open in every case, and programs may always make them.',
    kind: oneOf('default', 'offered', 'off'),
    default: 'default',
    reader: 'server',
  }),
  brandFile: setting({
    env: 'MAYFLY_BRAND_FILE',
    doc: 'A JSON file with the name, logo, colours and links that pages show, for the site and each share domain.',
    kind: optional(filePath),
    defaultText: 'none: Mayfly’s own brand',
    default: null,
    reader: 'server',
  }),
  domainTarget: setting({
    env: 'MAYFLY_DOMAIN_TARGET',
    doc: 'The host name that share domains must point to, by CNAME or by its addresses.',
    kind: domainName,
    defaultText: 'the host of MAYFLY_BASE_URL',
    default: (others) => new URL(others.baseUrl).hostname,
    reader: 'server',
  }),
  dnsServers: setting({
    env: 'MAYFLY_DNS_SERVERS',
    doc: 'The DNS servers to ask about share domains.',
    kind: dnsServers,
    defaultText: 'the system’s',
    default: [],
    reader: 'server',
  }),
  region: setting({
    env: 'MAYFLY_REGION',
    doc: 'Which of MAYFLY_REGIONS this installation is. The keys it creates carry this tag.',
    kind: optional(regionLabel),
    default: null,
    reader: 'server',
  }),
  regions: setting({
    env: 'MAYFLY_REGIONS',
    doc: 'All regions and their addresses, the preferred one first: us=https://us.example.com,eu=https://eu.example.com.',
    kind: regions,
    default: [],
    reader: 'server and router',
  }),
  routerUpstreams: setting({
    env: 'MAYFLY_ROUTER_UPSTREAMS',
    doc: 'Where the router reaches the servers of each region, if not at the region’s address. Several servers of one region share its load.',
    kind: regionUrls,
    defaultText: 'the addresses of MAYFLY_REGIONS',
    default: [],
    reader: 'router',
  }),
  routerWeights: setting({
    env: 'MAYFLY_ROUTER_WEIGHTS',
    doc: 'How new secrets are spread over the regions, such as us=3,eu=1. Without it, the first healthy region gets them all.',
    kind: optional(regionWeights),
    defaultText: 'none: the first healthy region of MAYFLY_REGIONS',
    default: null,
    reader: 'router',
  }),
  routerDeprecation: setting({
    env: 'MAYFLY_ROUTER_DEPRECATION',
    doc: 'The day, past or future, from which the address without a region is deprecated, such as 2027-01-31. Answers through the router then carry a Deprecation header.',
    kind: optional(day),
    defaultText: 'none: no such header',
    default: null,
    reader: 'router',
  }),
  plans: setting({
    env: 'MAYFLY_PLANS_FILE',
    doc: 'A JSON file of limits (largest value; shortest, default and longest lifetime; share domains) that overrides parts of the built-in plans.',
    kind: plans,
    defaultText: 'none: the built-in plans',
    default: builtInPlans,
    reader: 'server',
  }),
  rateLimits: setting({
    env: 'MAYFLY_RATE_LIMITS',
    doc: 'Limits on requests: on, off, or the path of a JSON file that overrides parts of the built-in limits (see configuration.md). The limit on passphrase guesses always applies.',
    kind: rateLimits,
    default: builtInRateLimits,
    reader: 'server',
  }),
  trustedProxies: setting({
    env: 'MAYFLY_TRUSTED_PROXIES',
    doc: 'The address ranges of trusted proxies: only from them is X-Forwarded-For accepted.',
    kind: addressRanges,
    default: noProxies,
    reader: 'server and router',
  }),
  allowedOrigins: setting({
    env: 'MAYFLY_ALLOWED_ORIGINS',
    doc: 'The web origins whose pages may call the API from a browser, without the browser’s credentials.',
    kind: origins,
    default: new Set<string>(),
    reader: 'server',
  }),
  defaultLocale: setting({
    env: 'MAYFLY_DEFAULT_LOCALE',
    doc: 'The language for readers who ask for none of the languages offered.',
    kind: locale,
    default: 'en',
    reader: 'server',
  }),
  locales: setting({
    env: 'MAYFLY_LOCALES',
    doc: 'The languages offered.',
    kind: locales,
    default: supportedLocales,
    reader: 'server',
  }),
  securityContact: setting({
    env: 'MAYFLY_SECURITY_CONTACT',
    doc: 'Where people report a security problem: a mailto: or https: address, published at /.well-known/security.txt (RFC 9116). Without one, there is no such file.',
    kind: optional(contact),
    default: null,
    reader: 'server',
  }),
  offersDownloads: setting({
    env: 'MAYFLY_DOWNLOADS',
    doc: 'Whether the site serves the packages of its own command and client at /mayfly.tgz and /client.tgz, for npx and npm.',
    kind: yesNo('on', 'off'),
    default: true,
    reader: 'server',
  }),
  logLevel: setting({
    env: 'MAYFLY_LOG_LEVEL',
    doc: 'The lowest level that is logged. An account appears by its id, never by its address.',
    kind: oneOf('debug', 'info', 'warn', 'error'),
    default: 'info',
    reader: 'server and router',
  }),
  internalPort: setting({
    env: 'MAYFLY_INTERNAL_PORT',
    doc: 'A second port, for your own machines only: /metrics for Prometheus, /ask for Caddy’s on-demand certificates.',
    kind: optional(wholeNumber(1, 65_535)),
    defaultText: 'none: neither is served',
    default: null,
    reader: 'server',
  }),
  internalHost: setting({
    env: 'MAYFLY_INTERNAL_HOST',
    doc: 'The address that MAYFLY_INTERNAL_PORT listens on. Keep it unreachable from the internet. Asked by another name, the port answers 421.',
    kind: listenAddress,
    default: '127.0.0.1',
    reader: 'server',
  }),
  server: setting({
    env: 'MAYFLY_SERVER',
    doc: 'The installation that share, generate, reveal, status, burn and recent talk to.',
    kind: baseUrl,
    default: 'http://localhost:3000',
    reader: 'commands',
  }),
  username: setting({
    env: 'MAYFLY_USERNAME',
    doc: 'The account that these commands act as.',
    kind: optional(plainText),
    defaultText: 'none: anonymous',
    default: null,
    reader: 'commands',
  }),
  token: setting({
    env: 'MAYFLY_TOKEN',
    doc: 'An API token of that account.',
    kind: optional(sensitiveLine),
    default: null,
    reader: 'commands',
  }),
  passphrase: setting({
    env: 'MAYFLY_PASSPHRASE',
    doc: 'The passphrase for share, generate, reveal and status.',
    kind: optional(sensitiveText),
    default: null,
    reader: 'commands',
  }),
} as const;

export type SettingName = keyof typeof definitions;

type ValueOf<D> = D extends Definition<infer T> ? T : never;

export type SettingValues = { readonly [N in SettingName]: ValueOf<(typeof definitions)[N]> };

/** The table in order, for those who do not care about each value's type. */
export const definitionList = Object.entries(definitions) as unknown as readonly (readonly [
  SettingName,
  Definition<unknown>,
])[];
