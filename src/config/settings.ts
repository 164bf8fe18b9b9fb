/** Every setting: its variable, description, kind and default. */
import { join } from 'node:path';
import type { Region, RegionLabel } from '../core/keys.ts';
import { isForThisMachineAlone } from '../core/links.ts';
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
import { type Definition, setting } from './definition.ts';
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

export function regionAddress(region: RegionLabel | null, all: readonly Region[]): string | null {
  return all.find(({ label }) => label === region)?.baseUrl ?? null;
}

/** Mail needs a domain after the @. Trial installations have none, so they use `.invalid`, reserved by RFC 2606. */
function defaultSender(siteUrl: string): string {
  return `mayfly@${nameOnInternet(siteUrl) ?? 'mayfly.invalid'}`;
}

/** Returns `null` for IP addresses, names without a dot, and localhost. */
function nameOnInternet(siteUrl: string): string | null {
  const { hostname } = new URL(siteUrl);
  return /^(?:[a-z0-9-]+\.)+(?!localhost$)[a-z][a-z0-9-]*$/.test(hostname) ? hostname : null;
}

type OfVerify = Pick<SettingValues, 'verify' | 'smtpServer' | 'host' | 'baseUrl'>;

/** Whether secrets may ask for a code from an email. */
export const mayVerify = ({ verify, smtpServer: server, ...others }: OfVerify): boolean =>
  verify && (server !== null || isForThisMachineAlone(others));

export const definitions = {
  port: setting({
    env: 'PORT',
    doc: 'The TCP port to listen on.',
    kind: wholeNumber(1, 65_535),
    default: 3000,
    reader: 'server and router',
  }),
  host: setting({
    env: 'HOST',
    doc: 'The address to listen on; 0.0.0.0 for all, as containers need.',
    kind: listenAddress,
    default: '127.0.0.1',
    reader: 'server and router',
  }),
  dataDir: setting({
    env: 'MAYFLY_DATA_DIR',
    doc: 'The folder for the embedded store, keys and outbox; created with mode 0700.',
    kind: filePath,
    default: './data',
  }),
  baseUrl: setting({
    env: 'MAYFLY_BASE_URL',
    doc: 'The public address. Links are built from it, never from a request. If it has a path, everything is served under that path.',
    kind: baseUrl,
    defaultText: 'the address of MAYFLY_REGION, or http://localhost:$PORT without regions',
    default: ({ port, region, regions: all }) => regionAddress(region, all) ?? `http://localhost:${port}`,
  }),
  store: setting({
    env: 'MAYFLY_STORE',
    doc: 'Where secrets are stored: in the embedded database, or on a PostgreSQL server that any number of nodes share (see engines.md). Shown without its password. Remote servers need a valid certificate: ?sslrootcert=PATH sets the CA, and ?sslmode=disable turns TLS off.',
    kind: storeAddress,
    default: 'sqlite',
  }),
  storeDurability: setting({
    env: 'MAYFLY_STORE_DURABILITY',
    doc: 'When a PostgreSQL commit counts as durable. synchronous: once a standby has it too, which Mayfly checks. single: once its only server has it, without failover. engine: you declare that a managed or distributed engine keeps commits through its own failovers.',
    kind: optional(oneOf('single', 'synchronous', 'engine'), 'as the server has it'),
    defaultText: 'synchronous if the server names standbys; otherwise required',
    default: null,
  }),
  storePoolSize: setting({
    env: 'MAYFLY_STORE_POOL_SIZE',
    doc: 'How many connections to PostgreSQL a node keeps open. All nodes together, plus one connection each, must fit in the server’s max_connections.',
    kind: wholeNumber(4, 500),
    default: 10,
  }),
  allowsUnsafeStore: setting({
    env: 'MAYFLY_ALLOW_UNSAFE_STORE',
    doc: 'Whether to accept a PostgreSQL server whose settings can lose or duplicate a secret, or write email addresses to its log. The startup messages and /status list what is unsafe.',
    kind: yesNo('on', 'off'),
    default: false,
  }),
  maxStorageBytes: setting({
    env: 'MAYFLY_MAX_STORAGE',
    doc: 'The largest size of the store, not counting reusable space in its files. At the limit, new secrets are refused; nothing is evicted, and everything else keeps working.',
    kind: byteLimit,
    default: 10 * 2 ** 30,
  }),
  rootKeysFile: setting({
    env: 'MAYFLY_ROOT_KEYS_FILE',
    doc: 'The key file with the wrapping roots, mode 0600. The embedded store creates it at its first start; for PostgreSQL, run `mayfly keys create` once for all nodes. Back it up separately from the store: without it, no stored secret can be opened.',
    kind: filePath,
    defaultText: '$MAYFLY_DATA_DIR/keys.json',
    default: ({ dataDir }) => join(dataDir, 'keys.json'),
  }),
  smtpServer: setting({
    env: 'MAYFLY_SMTP_URL',
    doc: 'The mail server. Without one, mail is written to $MAYFLY_DATA_DIR/outbox as .eml files, for trying Mayfly out; they contain live links. smtps:// is encrypted from the start. smtp:// must upgrade to TLS (STARTTLS), unless the server is this machine or the address ends in ?tls=opportunistic or ?tls=never.',
    kind: optional(smtpServer),
    default: null,
  }),
  mailFrom: setting({
    env: 'MAYFLY_MAIL_FROM',
    doc: 'The sender of mail: an address, optionally with a name, such as Secrets <secrets@example.com>. Without a name, the site’s name (MAYFLY_BRAND_FILE) is used. Emails with a link also name the sending account: jo@example.com via Secrets.',
    kind: mailSender,
    defaultText:
      'mayfly@ and the host of MAYFLY_BASE_URL, or mayfly@mayfly.invalid if that is localhost or an IP address',
    default: (others) => defaultSender(others.baseUrl),
  }),
  mailReturnPath: setting({
    env: 'MAYFLY_MAIL_RETURN_PATH',
    doc: 'The mailbox for undeliverable mail. Mayfly does not read it.',
    kind: optional(mailAddress),
    defaultText: 'the address of MAYFLY_MAIL_FROM',
    default: null,
  }),
  mailHelo: setting({
    env: 'MAYFLY_MAIL_HELO',
    doc: 'The name in the greeting to the mail server (EHLO). Strict servers refuse names without a dot or without a DNS record.',
    kind: optional(domainName),
    defaultText:
      'the host of MAYFLY_BASE_URL, or the domain of MAYFLY_MAIL_FROM if that is localhost or an IP address',
    default: (others) => nameOnInternet(others.baseUrl),
  }),
  dkimDomain: setting({
    env: 'MAYFLY_DKIM_DOMAIN',
    doc: 'The domain to sign mail for (DKIM). Set all three DKIM settings together.',
    kind: optional(domainName),
    defaultText: 'none: mail is not signed by Mayfly',
    default: null,
  }),
  dkimSelector: setting({
    env: 'MAYFLY_DKIM_SELECTOR',
    doc: 'The selector of the public key, published at SELECTOR._domainkey.DOMAIN.',
    kind: optional(domainName),
    default: null,
  }),
  dkimKey: setting({
    env: 'MAYFLY_DKIM_KEY',
    doc: 'The private key, in PEM. Better: name its file in MAYFLY_DKIM_KEY_FILE.',
    kind: optional(sensitiveText),
    default: null,
  }),
  v1Dialect: setting({
    env: 'MAYFLY_V1_DIALECT',
    doc: 'Whether API v1 responds as documented, or like the existing service where the two differ.',
    kind: oneOf('documented', 'upstream'),
    default: 'documented',
  }),
  v2Dialect: setting({
    env: 'MAYFLY_V2_DIALECT',
    doc: 'Whether API v2 responds as documented, or like the existing service where the two differ.',
    kind: oneOf('documented', 'upstream'),
    default: 'documented',
  }),
  anonymousMayCreate: setting({
    env: 'MAYFLY_ANONYMOUS',
    doc: 'What callers without an account may do: create and read, or only read.',
    kind: yesNo('create', 'read'),
    default: true,
  }),
  signUpIsOpen: setting({
    env: 'MAYFLY_SIGNUP',
    doc: 'Whether people can sign up, with an email to their address. If closed, only `mayfly account create` creates accounts.',
    kind: yesNo('open', 'closed'),
    defaultText:
      'open if only this machine can reach it (by MAYFLY_BASE_URL and HOST), for trying it out; otherwise closed',
    default: isForThisMachineAlone,
  }),
  requests: setting({
    env: 'MAYFLY_REQUESTS',
    doc: 'Who may ask for secrets: accounts; anyone, who without an account asks for one answer at a time; or off. Answering never needs an account.',
    kind: oneOf('accounts', 'anyone', 'off'),
    default: 'accounts',
  }),
  verify: setting({
    env: 'MAYFLY_VERIFY',
    doc: 'Whether accounts may share secrets that open only with a code mailed to an address. That needs a mail server, unless only this machine can reach Mayfly. Secrets that ask for a code keep doing so when this is turned off.',
    kind: yesNo('on', 'off'),
    default: true,
  }),
  codeIsInSubject: setting({
    env: 'MAYFLY_CODE_IN_SUBJECT',
    doc: 'Whether the subject of such a mail has the code, which then also shows in notifications and on locked screens.',
    kind: yesNo('on', 'off'),
    default: false,
  }),
  endToEnd: setting({
    env: 'MAYFLY_END_TO_END',
    doc: 'Whether the share page encrypts in the browser, so that the server never sees the secret: by default, offered as an option, or off. End-to-end links always open, and programs can always create them.',
    kind: oneOf('default', 'offered', 'off'),
    default: 'default',
  }),
  brandFile: setting({
    env: 'MAYFLY_BRAND_FILE',
    doc: 'A JSON file with the name, logo, colours and links that pages show, for the site and each share domain.',
    kind: optional(filePath),
    defaultText: 'none: Mayfly’s own brand',
    default: null,
  }),
  domainTarget: setting({
    env: 'MAYFLY_DOMAIN_TARGET',
    doc: 'The host name that share domains must point to, by CNAME or by its addresses.',
    kind: domainName,
    defaultText: 'the host of MAYFLY_BASE_URL',
    default: (others) => new URL(others.baseUrl).hostname,
  }),
  dnsServers: setting({
    env: 'MAYFLY_DNS_SERVERS',
    doc: 'The DNS servers for checking share domains.',
    kind: dnsServers,
    defaultText: 'the system’s',
    default: [],
  }),
  region: setting({
    env: 'MAYFLY_REGION',
    doc: 'The region of this installation, one of MAYFLY_REGIONS. The keys it creates carry its tag.',
    kind: optional(regionLabel),
    default: null,
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
    doc: 'Where the router reaches the servers of each region, if not at the region’s address. Several servers of a region share its load.',
    kind: regionUrls,
    defaultText: 'the addresses of MAYFLY_REGIONS',
    default: [],
    reader: 'router',
  }),
  routerWeights: setting({
    env: 'MAYFLY_ROUTER_WEIGHTS',
    doc: 'How to spread new secrets over the regions, such as us=3,eu=1. Without it, the first healthy region gets them all.',
    kind: optional(regionWeights),
    defaultText: 'none: the first healthy region of MAYFLY_REGIONS',
    default: null,
    reader: 'router',
  }),
  routerDeprecation: setting({
    env: 'MAYFLY_ROUTER_DEPRECATION',
    doc: 'The day, past or future, from which the address without a region is deprecated, such as 2027-01-31. With it, the router’s responses carry a Deprecation header.',
    kind: optional(day),
    defaultText: 'none: no such header',
    default: null,
    reader: 'router',
  }),
  plans: setting({
    env: 'MAYFLY_PLANS_FILE',
    doc: 'A JSON file that overrides parts of the built-in plans: largest value; shortest, default and longest lifetime; share domains; answers that may be open.',
    kind: plans,
    defaultText: 'none: the built-in plans',
    default: builtInPlans,
  }),
  rateLimits: setting({
    env: 'MAYFLY_RATE_LIMITS',
    doc: 'Limits on requests: on, off, or the path of a JSON file that overrides parts of the built-in limits (see configuration.md). The limits on guesses and on emails with codes always apply.',
    kind: rateLimits,
    default: builtInRateLimits,
  }),
  trustedProxies: setting({
    env: 'MAYFLY_TRUSTED_PROXIES',
    doc: 'The address ranges of proxies whose X-Forwarded-For header is trusted.',
    kind: addressRanges,
    default: noProxies,
    reader: 'server and router',
  }),
  allowedOrigins: setting({
    env: 'MAYFLY_ALLOWED_ORIGINS',
    doc: 'The web origins whose pages may call the API from a browser, without credentials.',
    kind: origins,
    default: new Set<string>(),
  }),
  defaultLocale: setting({
    env: 'MAYFLY_DEFAULT_LOCALE',
    doc: 'The language for visitors who accept none of MAYFLY_LOCALES.',
    kind: locale,
    default: 'en',
  }),
  locales: setting({
    env: 'MAYFLY_LOCALES',
    doc: 'The languages offered.',
    kind: locales,
    default: supportedLocales,
  }),
  securityContact: setting({
    env: 'MAYFLY_SECURITY_CONTACT',
    doc: 'Where to report security problems: a mailto: or https: address, published at /.well-known/security.txt (RFC 9116). Without it, there is no such file.',
    kind: optional(contact),
    default: null,
  }),
  offersDownloads: setting({
    env: 'MAYFLY_DOWNLOADS',
    doc: 'Whether to serve the packages of the command and the client at /mayfly.tgz and /client.tgz, for npx and npm.',
    kind: yesNo('on', 'off'),
    default: true,
  }),
  logLevel: setting({
    env: 'MAYFLY_LOG_LEVEL',
    doc: 'The lowest level to log. Accounts appear by their id, never by their address.',
    kind: oneOf('debug', 'info', 'warn', 'error'),
    default: 'info',
    reader: 'server and router',
  }),
  internalPort: setting({
    env: 'MAYFLY_INTERNAL_PORT',
    doc: 'A second port for internal use: /metrics for Prometheus, /ask for Caddy’s on-demand certificates.',
    kind: optional(wholeNumber(1, 65_535)),
    defaultText: 'none: neither is served',
    default: null,
  }),
  internalHost: setting({
    env: 'MAYFLY_INTERNAL_HOST',
    doc: 'The address that MAYFLY_INTERNAL_PORT listens on. Keep it unreachable from the internet. Requests for another host name get 421.',
    kind: listenAddress,
    default: '127.0.0.1',
  }),
  server: setting({
    env: 'MAYFLY_SERVER',
    doc: 'The server that share, generate, reveal, status, burn and recent use.',
    kind: baseUrl,
    default: 'http://localhost:3000',
    reader: 'commands',
  }),
  username: setting({
    env: 'MAYFLY_USERNAME',
    doc: 'The account that these commands use.',
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

export const definitionList = Object.entries(definitions) as unknown as readonly (readonly [
  SettingName,
  Definition<unknown>,
])[];
