/**
 * The composition root: the only place that names concrete adapters. Sets the order of startup and shutdown.
 *
 * Nothing listens until the store's settings and key file have been verified (P12, P25). During shutdown, the app accepts no new
 * requests, finishes those in flight, and closes the store last (P23).
 */
import { join } from 'node:path';
import type { SmtpServer } from './config/addresses.ts';
import type { Settings } from './config/read.ts';
import { mayVerify } from './config/settings.ts';
import { createAccountService } from './core/accounts/service.ts';
import { ServiceError } from './core/errors.ts';
import { createLinks, isForThisMachineAlone } from './core/links.ts';
import type { MailLocaleOf } from './core/mailer.ts';
import { createRequestService } from './core/requests/service.ts';
import { createService } from './core/secrets/service.ts';
import type { Sensitive } from './core/sensitive.ts';
import { createDomainService, type DomainCore, type DomainService } from './core/share-domains/service.ts';
import { deriveLimitKey, deriveMailboxKey } from './crypto/derive.ts';
import { systemRandom } from './crypto/random.ts';
import { createClientAddressOf } from './http/client-address.ts';
import { refuseForeignHosts } from './http/cross-site.ts';
import type { StoreRisk } from './http/health.ts';
import { startInternalServer } from './http/internal-server.ts';
import type { Fetch } from './http/pipeline.ts';
import { createMailQuota, createOwnLimits, createRateLimiter } from './http/rate-limit.ts';
import type { ServerOptions } from './http/server.ts';
import { findLocale, pickLocale } from './locale/catalogues.ts';
import { createOutboxMailer } from './mail/outbox.ts';
import type { MailProbe } from './mail/probe.ts';
import { type MailSetting, MailSettingError } from './mail/settings.ts';
import { createSmtpMailer, type SmtpMailer, type SmtpServerOptions } from './mail/smtp.ts';
import { createDomainNameParser, createResolver } from './ops/dns.ts';
import type { Finding } from './ops/doctor.ts';
import { createRandomPauses, startDomainChecker, startSweeper } from './ops/jobs.ts';
import type { Log } from './ops/log.ts';
import {
  createAnswerObserver,
  createEvents,
  createMailWatch,
  type MailWatch,
  noMetrics,
  type OpenMetrics,
  openMetrics,
} from './ops/metrics.ts';
import { watchRootKeys } from './ops/root-key-watch.ts';
import { openRootKeys } from './ops/root-keys.ts';
import { createPassphraseHasher } from './ops/slow-hashes.ts';
import type { StartFacts, StoreServer } from './ops/start-words.ts';
import { createRoomWatch, watchStore } from './ops/store-watch.ts';
import { dicewareWords, isCommonPassword } from './ops/word-lists.ts';
import type { Store } from './store/store.ts';
import { openStore, registerServer, StartRefusal } from './stores.ts';
import type { Brands } from './web/brand/brand.ts';

/** Thrown when a setting prevents startup: a usage error, not a machine in the wrong state. */
export class SettingRefusal extends StartRefusal {
  override readonly name = 'SettingRefusal';
}

export interface RunningApp extends Omit<StartFacts, 'version'> {
  readonly port: number;
  readonly hasAccounts: boolean;
  /** Resolves once everything is closed, within about ten seconds. */
  stop(): Promise<void>;
}

export interface Door {
  /** Resolves to the port once `fetch` handles its requests. @throws ListenError */
  open(fetch: ServerOptions['fetch']): Promise<number>;
  close(): Promise<unknown>;
}

/** Called in reverse order when a later step fails or the app stops. */
export type Closers = (() => unknown)[];

/** Grace period for email that is being delivered. Requests may take eight of the ten seconds for shutdown (`start.ts`). */
const mailGraceMs = 1_000;
/** Long enough for a database failover. */
const failoverMs = 2_000;
/** No longer than people would wait for an email anyway. */
const longestMailPauseMs = 2_000;

async function readBrands({ brandFile }: Settings): Promise<Brands> {
  const { ownBrands } = await import('./web/brand/brand.ts');
  if (brandFile === null) return ownBrands;
  const { readBrandFile } = await import('./web/brand/brand-file.ts');
  const read = readBrandFile(brandFile);
  if ('value' in read) return read.value;
  throw new SettingRefusal(
    read.problems.map((problem) => `MAYFLY_BRAND_FILE (${brandFile}): ${problem}.`).join('\n'),
  );
}

/** Returns the problems that would prevent startup and that the settings alone reveal. */
export async function settingProblems(settings: Settings): Promise<readonly Finding[]> {
  const problems = settings.serverFaults.map(({ setting, sentence: words }): Finding => {
    return { what: setting === 'smtpServer' ? 'mail' : 'settings', verdict: 'fault', words };
  });
  const note = (what: string) => (error: unknown) => {
    if (!(error instanceof SettingRefusal)) throw error;
    problems.push({ what, verdict: 'fault', words: error.message });
  };
  const watch = createMailWatch(() => {});
  await readBrands(settings).catch(note('settings'));
  await readBrands({ ...settings, brandFile: null })
    .then((brands) => openMailer(settings, brands, watch).close())
    .catch(note('mail'));
  return problems;
}

const mailVariables: Readonly<Record<MailSetting, string>> = {
  sender: 'MAYFLY_MAIL_FROM',
  return_path: 'MAYFLY_MAIL_RETURN_PATH',
  dkim: 'MAYFLY_DKIM_DOMAIN, MAYFLY_DKIM_SELECTOR, MAYFLY_DKIM_KEY',
};

function mailRefusal({ setting, message }: MailSettingError): string {
  return `${mailVariables[setting]}: ${message}`;
}

function siteNameOf({ baseUrl }: Settings, brands: Brands): string {
  return brands.forHost(createLinks(baseUrl).siteHost).name;
}

function mailOptions(settings: Settings, brands: Brands, server: SmtpServer): SmtpServerOptions {
  const { mailFrom: from, mailReturnPath: returnPath, mailHelo: helo } = settings;
  const { dkimDomain: domain, dkimSelector: selector, dkimKey: privateKey } = settings;
  const siteName = siteNameOf(settings, brands);
  return { server, from, siteName, returnPath, helo, dkim: { domain, selector, privateKey } };
}

function openMailer(settings: Settings, brands: Brands, watch: MailWatch): SmtpMailer {
  const { smtpServer, dataDir, mailFrom: from } = settings;
  try {
    if (smtpServer === null) {
      const directory = join(dataDir, 'outbox');
      const outbox = createOutboxMailer({ directory, from, siteName: siteNameOf(settings, brands) });
      return { ...outbox, close: () => {} };
    }
    return createSmtpMailer({
      ...mailOptions(settings, brands, smtpServer),
      onFault: watch.onFault,
      onAnswer: watch.onAnswer,
    });
  } catch (error) {
    throw error instanceof MailSettingError ? new SettingRefusal(mailRefusal(error)) : error;
  }
}

/** Returns a wrong setting as a failed result instead of rejecting. */
export async function tryMailServer(
  settings: Settings,
  server: SmtpServer,
  recipient: Sensitive<string> | null,
): Promise<MailProbe> {
  const { probeMail } = await import('./mail/probe.ts');
  const site = createLinks(settings.baseUrl).siteHost;
  const { defaultLocale: locale } = settings;
  try {
    const brands = await readBrands(settings);
    return await probeMail({
      ...mailOptions(settings, brands, server),
      recipient,
      site,
      locale,
    });
  } catch (error) {
    if (error instanceof SettingRefusal)
      return { server: { outcome: 'failed', words: error.message }, testMail: null };
    if (!(error instanceof MailSettingError)) throw error;
    return { server: { outcome: 'failed', words: mailRefusal(error) }, testMail: null };
  }
}

async function openObservers(settings: Settings, store: Store, mailWatch: MailWatch, log: Log) {
  const { internalPort, maxStorageBytes, smtpServer } = settings;
  const storage = { usedBytes: store.usedBytes, maxBytes: maxStorageBytes };
  const mailIsReached = smtpServer === null ? undefined : mailWatch.isReached;
  const metrics = internalPort === null ? null : await openMetrics(storage, mailIsReached);
  const counts = metrics ?? noMetrics;
  return { metrics, events: createEvents(log, counts), onAnswer: createAnswerObserver(log, counts) };
}

async function listenInternally(
  { internalHost: hostname, internalPort: port }: Settings,
  metrics: OpenMetrics | null,
  isVerified: DomainService['isVerified'],
  log: Log,
  closers: Closers,
): Promise<void> {
  if (port === null || metrics === null) return;
  const onFault = (error: unknown) => log({ event: 'fault', where: 'request', error });
  const server = await startInternalServer({ hostname, port }, { metrics, isVerified, onFault });
  if (server.outcome === 'refused') throw new StartRefusal(server.problem);
  closers.push(server.stop);
}

async function openKeys({ rootKeysFile: path, store: at }: Settings, store: Store, log: Log) {
  const isShared = at !== 'sqlite';
  const opened = await openRootKeys(path, store, { random: systemRandom, wallClockMs: Date.now, isShared });
  if (opened.outcome === 'refused') throw new StartRefusal(opened.problem);
  const { ring, isNew } = opened;
  return { keys: watchRootKeys({ path, ring, store, log, after }), isNew };
}

async function openDomains(
  { plans, dnsServers, domainTarget }: Settings,
  deps: Pick<DomainCore, 'store' | 'events' | 'siteHost' | 'locales'>,
): Promise<DomainService> {
  const { brandRules } = await import('./web/brand/brand.ts');
  return createDomainService({
    ...deps,
    plans,
    random: systemRandom,
    resolver: createResolver(dnsServers),
    parseName: createDomainNameParser(deps.siteHost),
    rules: brandRules,
    target: domainTarget,
  });
}

/** Returns a function that cancels the timer. */
function after(milliseconds: number, run: () => void): () => void {
  const timer = setTimeout(run, milliseconds);
  return () => clearTimeout(timer);
}

function within(milliseconds: number, work: Promise<unknown>): Promise<unknown> {
  return Promise.race([work, Bun.sleep(milliseconds)]);
}

/** A server that lacks the new root of a rotation must not store anything. */
async function assertRootTaken(store: Store, kid: number): Promise<void> {
  if ((await store.findRootCheck(kid)) !== null && (await store.findFirstOpenRoot()) <= kid) return;
  const cause = Object.assign(new Error('The key file lacks a root.'), { code: 'ROOT_MISSING' });
  throw new ServiceError('unavailable', 'The key file does not fit the store.', { cause });
}

async function openParts(settings: Settings, log: Log, closers: Closers) {
  const brands = await readBrands(settings);
  const mailWatch = createMailWatch(log);
  const mailer = openMailer(settings, brands, mailWatch);
  closers.push(mailer.close);
  const opening = openStore(settings);
  // Awaited below. Until then, a rejection must not count as unhandled.
  opening.catch(() => {});
  // The store's thread starts while this import runs, which takes longer.
  const { createSite } = await import('./site.ts');
  const { store: opened, server, assertCommits, limitsUnder, duringRequest, close } = await opening;
  closers.push(close);
  const room = createRoomWatch(opened, log);
  const store: Store = { ...opened, put: room.put };
  const serving = registerServer(settings);
  closers.push(serving.leave);
  const { keys, isNew } = await openKeys(settings, store, log);
  closers.push(keys.stop);
  const { ring } = keys;
  const watch = watchStore({
    ...{ log, after, nowMs: () => performance.now() },
    patienceMs: server === null ? 0 : failoverMs,
    async assertAble(isDoubted) {
      await assertCommits(isDoubted);
      await assertRootTaken(store, ring.current.kid);
    },
  });
  closers.push(watch.stop);
  const { events, onAnswer, metrics } = await openObservers(settings, store, mailWatch, log);
  const links = createLinks(settings.baseUrl);
  const { siteHost } = links;
  const domains = await openDomains(settings, { store, events, siteHost, locales: settings.locales });
  await listenInternally(settings, metrics, domains.isVerified, log, closers);
  const nowMs = () => performance.now();
  const limits = limitsUnder?.(deriveLimitKey(ring.current.key)) ?? createOwnLimits(nowMs);
  const limiter = createRateLimiter({ table: settings.rateLimits, nowMs, shared: limits });
  const hasStarted = { hasNewKeys: isNew, isSecondServer: serving.hasOthers, server };
  const edge = { brands, createSite, onAnswer, links, domains, limiter, limits, duringRequest };
  return { ...edge, mailer, store, watch, room, ring, events, hasStarted };
}

type Parts = Awaited<ReturnType<typeof openParts>>;

/** Creates the services and ends their background work at shutdown. */
async function createServices(settings: Settings, parts: Parts, closers: Closers) {
  const { store, mailer, events, links, limiter, limits, ring, brands, domains } = parts;
  const { locales, defaultLocale, plans, anonymousMayCreate, region, codeIsInSubject } = settings;
  const strangersSignUp = settings.signUpIsOpen && !isForThisMachineAlone(settings);
  const { createMailBrandOf } = await import('./web/brand/brand.ts');
  const mailLocaleOf: MailLocaleOf = (asked, accepted = null) =>
    asked === null
      ? pickLocale(accepted, locales, defaultLocale)
      : (findLocale(asked, locales) ?? defaultLocale);
  const ports = { store, mailer, hasher: createPassphraseHasher(), events, links, random: systemRandom };
  const shared = {
    ...ports,
    ...{ plans, anonymousMayCreate, region, ring, mailLocaleOf, limits, codeIsInSubject },
    words: dicewareWords,
    mailQuota: createMailQuota(limiter, deriveMailboxKey(ring.current.key)),
    mayVerify: mayVerify(settings),
    mailBrandOf: createMailBrandOf({ brands, domains, siteHost: links.siteHost }),
  };
  const service = createService(shared);
  const requests = createRequestService({ ...shared, mayAsk: settings.requests, strangersSignUp });
  const pauses = createRandomPauses({ maxMs: longestMailPauseMs, random: systemRandom, after });
  const pauseBeforeSending = pauses.pause;
  const accounts = createAccountService({ ...ports, isCommonPassword, pauseBeforeSending });
  const settled = () =>
    within(mailGraceMs, Promise.all([service, requests, accounts].map((each) => each.settled())));
  closers.push(async () => {
    pauses.end();
    await settled();
    // Closing gives up on email waiting for a retry; the second wait lets its receipt show that.
    mailer.close();
    await settled();
  });
  return { service, requests, accounts, mailLocaleOf };
}

function risksOf(server: StoreServer | null): StoreRisk[] {
  if (server === null) return [];
  const risks: StoreRisk[] = server.durability === 'single' ? ['single'] : [];
  return server.unsafe.length > 0 ? [...risks, 'unsafe'] : risks;
}

/** Starts the app; `start.ts` decides when. After a rejection, `closers` contains everything that is still open. */
export async function serveAt(
  door: Door,
  settings: Settings,
  version: string,
  log: Log,
  closers: Closers,
): Promise<RunningApp> {
  const { serverFaults } = settings;
  if (serverFaults.length > 0)
    throw new SettingRefusal(serverFaults.map(({ sentence }) => sentence).join('\n'));
  const clientAddressOf = createClientAddressOf(settings.trustedProxies, () =>
    log({ event: 'proxy_untrusted' }),
  );
  const parts = await openParts(settings, log, closers);
  const { store, room, domains, brands, links, limiter, mailer, onAnswer, duringRequest } = parts;
  const roomChecked = room.check();
  const services = await createServices(settings, parts, closers);
  const sweeper = startSweeper({
    ...{ store, log, after },
    finishDeletions: services.accounts.finishDeletions,
    sendDueNotices: services.service.sendDueNotices,
    checkRoom: room.check,
    monotonicMs: () => performance.now(),
  });
  closers.push(sweeper.stop);
  closers.push(startDomainChecker({ domains, log, after }).stop);
  const onFault = (error: unknown, requestId: string) =>
    log({ event: 'fault', where: 'request', error, requestId });
  const answer = parts.createSite({
    ...services,
    // Pages offer it only where it works.
    settings: { ...settings, verify: mayVerify(settings) },
    ...{ version, links, domains, brands, limiter, clientAddressOf, onAnswer, onFault },
    clock: store.now,
    clockVerdict: () => store.clock().verdict,
    storageIsFull: room.isFull,
    storeRisks: risksOf(parts.hasStarted.server),
    isReady: parts.watch.isAble,
    storeIsLocked: parts.watch.isLocked,
  });
  const fetch: Fetch =
    duringRequest === null ? answer : (request, peer) => duringRequest(() => answer(request, peer));
  const served = isForThisMachineAlone(settings)
    ? refuseForeignHosts(fetch, {
        baseUrl: settings.baseUrl,
        isShareDomain: async (name) =>
          brands.forHost(name) !== brands.forHost(null) ||
          // `true` is harmless while the store is unavailable, because the handlers then report the outage.
          (await domains.isVerified(name).catch(() => true)),
      })
    : fetch;
  const port = await door.open(served);
  // Loads the mail library after the first responses rather than at the first email.
  setTimeout(() => void mailer.prepare(), 1_000).unref();
  await roomChecked;
  const facts = {
    hasAccounts: await store.hasAccounts(),
    clock: store.clock(),
    isStorageFull: room.isFull(),
  };
  return { port, ...parts.hasStarted, ...facts, stop: () => closeAll([...closers, door.close]) };
}

export async function closeAll(closers: Closers): Promise<void> {
  for (const close of closers.reverse()) await close();
}
