/**
 * The composition root: the one place that names concrete adapters.
 *
 * Owns: what is built from what, the order of starting and the order of stopping. Invariant: nothing listens before the
 * store has proved its settings and the key file has proved to be the store's (P12, P25); a stop takes no new request,
 * finishes what is in flight, and closes the store last (P23).
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemRandom } from './crypto/random.ts';
import { createAccountService } from './domain/account-service.ts';
import { createLinks } from './domain/links.ts';
import { createService } from './domain/service.ts';
import { systemClock } from './domain/time.ts';
import { createClientAddressOf, parseTrustedProxies } from './http/client-address.ts';
import {
  builtInRateLimits,
  createRateLimiter,
  parseRateLimits,
  type RateLimitTable,
} from './http/rate-limit.ts';
import { ListenError, startServer } from './http/server.ts';
import { type Locale, supportedLocales } from './locale/catalogues.ts';
import { createOutboxMailer } from './mail/capture.ts';
import { createSmtpMailer, type SmtpMailer } from './mail/smtp.ts';
import type { Config } from './ops/config.ts';
import { createAnswerObserver, createEvents } from './ops/events.ts';
import type { Log } from './ops/logger.ts';
import { type Metrics, noMetrics, openMetrics, serveMetrics } from './ops/metrics.ts';
import { openRootKeys } from './ops/root-keys.ts';
import { createPassphraseHasher } from './ops/slow-hashes.ts';
import { startSweeper } from './ops/sweeper.ts';
import { dicewareWords, isCommonPassword } from './ops/word-lists.ts';
import type { SiteDeps } from './site.ts';
import { StoreRefusal } from './store/refusal.ts';
import { openSqliteStore } from './store/sqlite/store.ts';
import type { Store } from './store/store.ts';
import type { Brands } from './web/brand/brand.ts';

/** The start cannot go on: a sentence for the operator. */
export class StartRefusal extends Error {
  override readonly name: string = 'StartRefusal';
}

/** A start that a setting makes impossible: wrong usage, rather than a machine in the wrong state. */
export class SettingRefusal extends StartRefusal {
  override readonly name = 'SettingRefusal';
}

export interface OpenStore {
  readonly store: Store;
  close(): Promise<void>;
}

/** Opens the store that the settings name. Rejects with `StartRefusal`. */
export async function openStore({ dataDir }: Config): Promise<OpenStore> {
  try {
    const store = await openSqliteStore({ directory: dataDir, clock: systemClock });
    return { store, close: async () => store[Symbol.asyncDispose]() };
  } catch (error) {
    throw error instanceof StoreRefusal ? new StartRefusal(error.message, { cause: error }) : error;
  }
}

export interface RunningApp {
  readonly port: number;
  /** Whether the key file was made at this start. */
  readonly hasNewKeys: boolean;
  /** Resolves when everything is closed, within about ten seconds. */
  stop(): Promise<void>;
}

/** What is opened on the way, closed in reverse when a later step fails or the app stops. */
type Closers = (() => unknown)[];

/** In-flight requests get most of the ten seconds that a stop may take; mail being handed over gets the rest. */
const requestGraceMs = 8_000;
const mailGraceMs = 1_000;

function readRateLimits({ rateLimits }: Config): RateLimitTable | 'off' {
  if (rateLimits.mode === 'on') return builtInRateLimits;
  if (rateLimits.mode === 'off') return 'off';
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(rateLimits.path, 'utf8'));
  } catch {
    throw new SettingRefusal(`MAYFLY_RATE_LIMITS (${rateLimits.path}) cannot be read as JSON.`);
  }
  const table = parseRateLimits(json);
  if ('error' in table) throw new SettingRefusal(`MAYFLY_RATE_LIMITS (${rateLimits.path}): ${table.error}.`);
  return table;
}

function readLocale(tag: string): Locale {
  const known = supportedLocales.find((locale) => locale === tag);
  if (known !== undefined) return known;
  throw new SettingRefusal(`There is no language "${tag}" here: there is ${supportedLocales.join(', ')}.`);
}

function readLocales(config: Config): Pick<SiteDeps, 'locales' | 'defaultLocale'> {
  const locales = config.locales?.map(readLocale) ?? supportedLocales;
  const defaultLocale = readLocale(config.defaultLocale);
  if (locales.includes(defaultLocale)) return { locales, defaultLocale };
  throw new SettingRefusal('MAYFLY_DEFAULT_LOCALE must be one of MAYFLY_LOCALES.');
}

/** The file's brands; the built-in one where there is no file. */
async function readBrands({ brandFile }: Config): Promise<Brands> {
  const { ownBrands } = await import('./web/brand/brand.ts');
  if (brandFile === null) return ownBrands;
  const { readBrandFile } = await import('./web/brand/brand-file.ts');
  const brands = readBrandFile(brandFile);
  if ('error' in brands) throw new SettingRefusal(`MAYFLY_BRAND_FILE (${brandFile}): ${brands.error}`);
  return brands;
}

function readProxies({ trustedProxies }: Config) {
  const proxies = parseTrustedProxies(trustedProxies);
  if ('error' in proxies) throw new SettingRefusal(`MAYFLY_TRUSTED_PROXIES: ${proxies.error}.`);
  return proxies;
}

function openMailer(config: Config, log: Log): SmtpMailer {
  const { smtpUrl, mailFrom: from, dataDir } = config;
  try {
    if (smtpUrl === null) {
      const outbox = createOutboxMailer({ directory: join(dataDir, 'outbox'), from });
      return { ...outbox, close: () => {} };
    }
    return createSmtpMailer({
      url: smtpUrl.expose(),
      from,
      onFault: (fault) => log({ event: 'mail_fault', ...fault }),
    });
  } catch (error) {
    if (error instanceof RangeError)
      throw new SettingRefusal(`MAYFLY_SMTP_URL or MAYFLY_MAIL_FROM: ${error.message}`);
    throw error;
  }
}

async function listenForMetrics(port: number, closers: Closers): Promise<Metrics> {
  const metrics = await openMetrics();
  try {
    closers.push(serveMetrics(metrics, port).stop);
    return metrics;
  } catch (error) {
    throw new StartRefusal(`Port ${port} of MAYFLY_METRICS_PORT cannot be listened on.`, { cause: error });
  }
}

async function openObservers(config: Config, log: Log, closers: Closers) {
  const metrics =
    config.metricsPort === null ? noMetrics : await listenForMetrics(config.metricsPort, closers);
  return { events: createEvents(log, metrics), onAnswer: createAnswerObserver(log, metrics) };
}

async function openKeys(config: Config, store: Store) {
  const wallClockMs = Date.now;
  const keys = await openRootKeys(config.rootKeysFile, store, { random: systemRandom, wallClockMs });
  if (keys.outcome === 'refused') throw new StartRefusal(keys.problem);
  return keys;
}

function within(milliseconds: number, work: Promise<unknown>): Promise<unknown> {
  return Promise.race([work, Bun.sleep(milliseconds)]);
}

async function start(config: Config, version: string, log: Log, closers: Closers): Promise<RunningApp> {
  const locales = readLocales(config);
  const table = readRateLimits(config);
  const clientAddressOf = createClientAddressOf(readProxies(config));
  const brands = await readBrands(config);
  const mailer = openMailer(config, log);
  closers.push(mailer.close);
  const opening = openStore(config);
  // Awaited below: until then a refusal is nobody's unhandled one.
  opening.catch(() => {});
  // The store's thread starts while this loads, which takes longer: schemas, pages and words.
  const { createSite } = await import('./site.ts');
  const { store, close } = await opening;
  closers.push(close);
  const { ring, isNew } = await openKeys(config, store);
  const { events, onAnswer } = await openObservers(config, log, closers);
  const links = createLinks(config.baseUrl);
  const shared = { links, plans: config.plans, anonymousMayCreate: config.anonymous === 'create' };
  const hasher = createPassphraseHasher();
  const ports = { store, mailer, hasher, events, links, random: systemRandom };
  const service = createService({ ...ports, ...shared, ring, words: dicewareWords });
  const accounts = createAccountService({ ...ports, isCommonPassword });
  closers.push(() => within(mailGraceMs, Promise.all([service.settled(), accounts.settled()])));
  const sweeper = startSweeper({
    store,
    log,
    monotonicMs: () => performance.now(),
    after: (milliseconds, run) => {
      const timer = setTimeout(run, milliseconds);
      return () => clearTimeout(timer);
    },
  });
  closers.push(sweeper.stop);
  const onFault = (error: unknown, requestId: string) =>
    log({ event: 'fault', where: 'request', error, requestId });
  const fetch = createSite({
    ...shared,
    service,
    accounts,
    dialect: config.v1Dialect,
    version,
    ...locales,
    signUpIsOpen: config.signUp === 'open',
    brands,
    limiter: createRateLimiter({ table, nowMs: () => performance.now() }),
    clientAddressOf,
    allowedOrigins: new Set(config.allowedOrigins),
    onAnswer,
    onFault,
    isReady: async () => (await store.findRootCheck(ring.current.kid)) !== null,
  });
  const server = await startServer({ fetch, hostname: config.host, port: config.port, onFault });
  closers.push(() => server.stop(requestGraceMs));
  // Loads the mail library behind the first answers rather than in front of the first mail.
  setTimeout(() => void mailer.prepare(), 1_000).unref();
  return { port: server.port, hasNewKeys: isNew, stop: () => closeAll(closers) };
}

async function closeAll(closers: Closers): Promise<void> {
  for (const close of closers.reverse()) await close();
}

/** Starts serving. Rejects with `StartRefusal` when the settings, the store, the keys or the port do not allow it. */
export async function startApp(config: Config, version: string, log: Log): Promise<RunningApp> {
  const closers: Closers = [];
  try {
    return await start(config, version, log, closers);
  } catch (error) {
    await closeAll(closers);
    throw error instanceof ListenError ? new StartRefusal(error.message, { cause: error }) : error;
  }
}
