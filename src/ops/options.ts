/**
 * Every setting, as data: a sentence, a kind, a default, a variable.
 *
 * Owns: the table that configuration is read by, that `mayfly config` prints and that docs/configuration.md is written
 * from. Invariant: a setting that is not in this table does not exist; the type of the settings follows from it.
 */
import { isIP } from 'node:net';
import { join } from 'node:path';
import { isLoopbackHost } from '../domain/loopback.ts';
import type { Sensitive } from '../domain/sensitive.ts';
import {
  addressRanges,
  anyText,
  baseUrl,
  filePath,
  listenAddress,
  locale,
  locales,
  mailSender,
  type OptionKind,
  oneOf,
  optional,
  origins,
  plainText,
  type RateLimitSetting,
  rateLimits,
  sensitive,
  smtpUrl,
  storeAddress,
  wholeNumber,
} from './option-kinds.ts';

/** What a default may depend on: read before the others. */
export interface EarlierValues {
  readonly port: number;
  readonly dataDir: string;
  readonly baseUrl: string;
}

export interface Option<T> {
  readonly env: string;
  /** One sentence. */
  readonly doc: string;
  readonly kind: OptionKind<T>;
  /** The default in words, as the reference shows it. */
  readonly defaultText: string;
  readonly fallback: (earlier: EarlierValues) => NoInfer<T>;
  /** Never printed; can also be read from the file that `<env>_FILE` names. */
  readonly secret?: true;
  /** Who reads it. */
  readonly reader: 'server' | 'commands';
}

/** Mail needs a domain behind its @; an installation without one is being tried out (RFC 2606 keeps `.invalid` for that). */
function mailHostOf(url: string): string {
  const { hostname } = new URL(url);
  return hostname.includes('.') && isIP(hostname) === 0 ? hostname : 'mayfly.invalid';
}

/** Keeps each entry's own type while checking its shape. */
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
    reader: 'server',
  }),
  host: option({
    env: 'HOST',
    doc: 'The address it listens on; 0.0.0.0 for all, as a container needs.',
    kind: listenAddress,
    defaultText: '127.0.0.1',
    fallback: () => '127.0.0.1',
    reader: 'server',
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
    defaultText: 'http://localhost:$PORT',
    fallback: ({ port }) => `http://localhost:${port}`,
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
    doc: 'The mail server. Without it mail is kept as .eml files, which hold live links, in $MAYFLY_DATA_DIR/outbox, for trying out. Plain smtp only to this machine, unless it ends in ?tls=never.',
    kind: optional(sensitive(smtpUrl)),
    defaultText: 'none',
    fallback: () => null,
    secret: true,
    reader: 'server',
  }),
  mailFrom: option({
    env: 'MAYFLY_MAIL_FROM',
    doc: 'The sender of mail.',
    kind: mailSender,
    defaultText: 'mayfly@ the host of MAYFLY_BASE_URL',
    fallback: (earlier) => `mayfly@${mailHostOf(earlier.baseUrl)}`,
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
    defaultText: 'open on localhost, for trying out; closed at every other MAYFLY_BASE_URL',
    fallback: (earlier) =>
      isLoopbackHost(new URL(earlier.baseUrl).hostname) ? ('open' as const) : ('closed' as const),
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
  plansFile: option<string | null>({
    env: 'MAYFLY_PLANS_FILE',
    doc: 'A JSON file of limits (largest value, shortest, usual and longest ttl) laid over the built-in plans.',
    kind: optional(filePath),
    defaultText: 'none: the built-in plans',
    fallback: () => null,
    reader: 'server',
  }),
  rateLimits: option<RateLimitSetting>({
    env: 'MAYFLY_RATE_LIMITS',
    doc: 'Limits on requests: on, off, or a JSON file of limits. It never touches the limit on passphrase guesses.',
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
    reader: 'server',
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
    reader: 'server',
  }),
  metricsPort: option<number | null>({
    env: 'MAYFLY_METRICS_PORT',
    doc: 'The port on 127.0.0.1 where /metrics answers for Prometheus.',
    kind: optional(wholeNumber(1, 65_535)),
    defaultText: 'none: no metrics',
    fallback: () => null,
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

/** The value of every option. */
export type OptionValues = { readonly [N in OptionName]: ValueOf<(typeof options)[N]> };

/** The table in order, for those who do not care about each value's type. */
export const optionList: readonly (readonly [OptionName, Option<unknown>])[] = Object.entries(
  options,
) as never;
