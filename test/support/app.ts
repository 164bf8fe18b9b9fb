/**
 * The whole service without a process: both APIs and the pages over the real core and the store in memory.
 *
 * Only the edges are replaced: the clock advances only by hand, passphrases are stretched by an HMAC instead of argon2id,
 * and mail is kept in a list.
 */
import { createHmac } from 'node:crypto';
import { createReference } from '../../src/api/reference/page.tsx';
import { createV1 } from '../../src/api/v1/operations.ts';
import { createV2 } from '../../src/api/v2/service.ts';
import type { DialectName } from '../../src/api/version.ts';
import type { RateLimitTable } from '../../src/config/json-files.ts';
import type { Settings } from '../../src/config/read.ts';
import { mayVerify } from '../../src/config/settings.ts';
import type { AccountId } from '../../src/core/account.ts';
import { createAccount } from '../../src/core/accounts/admin.ts';
import { type AccountService, createAccountService } from '../../src/core/accounts/service.ts';
import type { ServiceEvent } from '../../src/core/events.ts';
import type { Regions } from '../../src/core/keys.ts';
import { createLinks, type Links } from '../../src/core/links.ts';
import type { AccountMail, Mailer, MailLocaleOf, SecretLinkMail } from '../../src/core/mailer.ts';
import { builtInPlans, type PlanName, type Plans } from '../../src/core/plans.ts';
import type { PassphraseHasher } from '../../src/core/ports/passphrases.ts';
import { createRequestService, type RequestService } from '../../src/core/requests/service.ts';
import { createService, type SecretService } from '../../src/core/secrets/service.ts';
import type { Resolver } from '../../src/core/share-domains/check.ts';
import { createDomainService, type DomainService } from '../../src/core/share-domains/service.ts';
import type { UnixSeconds } from '../../src/core/time.ts';
import { deriveMailboxKey } from '../../src/crypto/derive.ts';
import { createKeyRing } from '../../src/crypto/keyring.ts';
import { systemRandom } from '../../src/crypto/random.ts';
import { type ApiDeps, createApi } from '../../src/http/api.ts';
import { bodyCapBytesFor } from '../../src/http/body.ts';
import { createClientAddressOf } from '../../src/http/client-address.ts';
import { type AnswerFacts, createFetch } from '../../src/http/pipeline.ts';
import { createMailQuota, createOwnLimits, createRateLimiter } from '../../src/http/rate-limit.ts';
import { findLocale, type Locale, pickLocale, supportedLocales } from '../../src/locale/catalogues.ts';
import { createDomainNameParser } from '../../src/ops/dns.ts';
import { dicewareWords, isCommonPassword } from '../../src/ops/word-lists.ts';
import type { FindDownload } from '../../src/web/about/downloads.ts';
import { type Brands, brandRules, createMailBrandOf, ownBrands } from '../../src/web/brand/brand.ts';
import { createPages } from '../../src/web/pages.ts';
import { createMemoryStore, type MemoryStore } from '../stores/memory.ts';
import { steadyClock } from './clocks.ts';
import { frontRegion, standBefore } from './router-front.ts';
import { proxiesOf, settingsOf } from './settings.ts';

export interface TestAppOptions {
  readonly dialect?: DialectName;
  /** `documented` when absent. */
  readonly v2Dialect?: DialectName;
  readonly endToEnd?: Settings['endToEnd'];
  /** Further settings, by their variables. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Merged over the built-in plans. */
  readonly plans?: Partial<Plans>;
  /** `off` when absent. */
  readonly rateLimits?: RateLimitTable | 'off';
  /** `true` when absent. */
  readonly anonymousMayCreate?: boolean;
  /** `accounts` when absent. */
  readonly requests?: Settings['requests'];
  /** Whether anybody may sign up at an address that is not loopback; `false` when absent. */
  readonly strangersSignUp?: boolean;
  /** `true` when absent. */
  readonly signUpIsOpen?: boolean;
  readonly brands?: Brands;
  readonly regions?: Regions;
  /** Answers DNS queries; finds nothing when absent. */
  readonly resolver?: Resolver;
  /** Whether the store answers; `true` when absent. */
  readonly isReady?: () => boolean | Promise<boolean>;
  /** All when absent. */
  readonly locales?: readonly Locale[];
  /** `en` when absent. */
  readonly defaultLocale?: Locale;
  readonly baseUrl?: string;
  /** None when absent. */
  readonly securityContact?: string;
  readonly allowedOrigins?: readonly string[];
  /** Addresses whose `X-Forwarded-For` is trusted; without a socket, calls come from 127.0.0.1. */
  readonly trustedProxies?: readonly string[];
  /** Replaces the store, given the real one: for faults. */
  readonly wrapStore?: (store: MemoryStore) => MemoryStore;
  /** Replaces the service, given the real one: for seeded defects. */
  readonly wrapService?: (service: SecretService) => SecretService;
  readonly hasher?: PassphraseHasher;
  readonly mailer?: Mailer;
  /** The packages that it serves; one of a few bytes for each when absent. */
  readonly findDownload?: FindDownload;
}

export interface TestClock {
  now(): UnixSeconds;
  advance(seconds: number): void;
}

export interface TestAccount {
  readonly id: AccountId;
  readonly username: string;
  readonly token: string;
  /** The value of an `Authorization` header. */
  readonly authorization: string;
}

export interface TestApp {
  /** Answers as a server would; `path` begins with a slash. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** For a real server: `Bun.serve({ fetch: app.handler })`. */
  readonly handler: (request: Request, server?: object) => Response | Promise<Response>;
  readonly service: SecretService;
  readonly requests: RequestService;
  readonly accounts: AccountService;
  readonly domains: DomainService;
  readonly store: MemoryStore;
  readonly links: Links;
  readonly clock: TestClock;
  /** Creates an account with the username `email`. */
  account(email?: string, plan?: Exclude<PlanName, 'anonymous'>): Promise<TestAccount>;
  readonly mails: readonly SecretLinkMail[];
  readonly accountMails: readonly AccountMail[];
  readonly events: readonly ServiceEvent[];
  readonly answers: readonly AnswerFacts[];
  /** Errors that escaped a handler; empty in a healthy test. */
  readonly faults: readonly unknown[];
}

const smallDownload = { bytes: new Uint8Array([31, 139, 8, 0]), sha256: '0123456789abcdef'.repeat(4) };

/** 2025-05-08, chosen arbitrarily. */
const startSeconds = 1_746_700_000;
const ownBaseUrl = 'https://mayfly.example';
export const testRoot = { kid: 1, key: new Uint8Array(32).fill(7) };

export function createTestApp(options: TestAppOptions = {}): TestApp {
  const clock = createTestClock(startSeconds);
  const memory = createMemoryStore({ clock: steadyClock(clock.now) });
  const store = options.wrapStore?.(memory) ?? memory;
  const links = createLinks(options.baseUrl ?? ownBaseUrl);
  const plans = { ...builtInPlans, ...options.plans };
  const mails: SecretLinkMail[] = [];
  const accountMails: AccountMail[] = [];
  const events: ServiceEvent[] = [];
  const ports = {
    store,
    mailer: options.mailer ?? keepingMailer(mails, accountMails),
    hasher: options.hasher ?? fastHasher,
    random: systemRandom,
    links,
    events: (event: ServiceEvent) => void events.push(event),
  };
  const settings = settingsFor(options, plans);
  const { anonymousMayCreate, locales, defaultLocale, region } = settings;
  const { brands = ownBrands } = options;
  const answers: AnswerFacts[] = [];
  const faults: unknown[] = [];
  const deps = mountDeps(options, plans, answers, faults);
  const domains = createDomainService({
    ...{ store, plans, random: systemRandom, rules: brandRules, siteHost: links.siteHost },
    events: ports.events,
    resolver: options.resolver ?? silentResolver,
    parseName: createDomainNameParser(links.siteHost),
    target: links.siteHost,
    locales,
  });
  const mailLocaleOf: MailLocaleOf = (asked, accepted = null) =>
    asked === null
      ? pickLocale(accepted, locales, defaultLocale)
      : (findLocale(asked, locales) ?? defaultLocale);
  const limits = createOwnLimits(() => clock.now() * 1_000);
  const shared = {
    ...ports,
    ring: createKeyRing([testRoot]),
    plans,
    anonymousMayCreate,
    words: dicewareWords,
    mailQuota: createMailQuota(deps.limiter, deriveMailboxKey(testRoot.key)),
    ...{ limits, mayVerify: mayVerify(settings), codeIsInSubject: settings.codeIsInSubject },
    mailBrandOf: createMailBrandOf({ brands, domains, siteHost: links.siteHost }),
    mailLocaleOf,
    region: options.regions?.own ?? frontRegion(),
  };
  const whole = createService(shared);
  const requests = createRequestService({
    ...shared,
    mayAsk: settings.requests,
    strangersSignUp: options.strangersSignUp ?? false,
  });
  const accounts = createAccountService({
    ...{ ...ports, isCommonPassword },
    mailer: withWriting(ports.mailer),
    pauseBeforeSending: async () => {},
  });
  const service = options.wrapService?.(whole) ?? whole;
  const apiDeps = { ...deps, authenticate: service.authenticate };
  const { v1Dialect: dialect, v2Dialect } = settings;
  const v1Surface = createV1({ service, links, dialect, defaultLocale });
  const v1 = createApi(v1Surface, apiDeps);
  const v2Surface = createV2({
    ...{ service, requests, domains, links, plans, dialect: v2Dialect, version: '0.1.0', clock: clock.now },
    ...{ locales: ['en'], defaultLocale, mailLocaleOf },
    region,
  });
  const v2 = createApi(v2Surface, apiDeps);
  const pages = {
    ...{
      service,
      accounts,
      domains,
      settings,
      brands,
      links,
      clock: clock.now,
      version: '0.1.0',
    },
    isReady: options.isReady ?? (async () => true),
    findDownload: options.findDownload ?? (async () => smallDownload),
    apiReference: createReference([v1Surface, v2Surface], {
      version: '0.1.0',
      baseUrl: links.baseUrl,
      sharingNeedsAccount: !anonymousMayCreate,
      revealNeedsContinue: v2Dialect === 'upstream',
    }),
  } as const;
  const serve = createPages({ ...deps, ...pages, requests });
  const basePath = new URL(links.baseUrl).pathname.replace(/\/+$/, '');
  const reference = { base: `${basePath}/api/docs`, serve };
  const root = { base: `${basePath}/api`, isAlone: true, serve } as const;
  const fetch = createFetch([reference, root, v1, v2, { ...v1, base: '/api' }], serve);
  const handler = standBefore(fetch, options.trustedProxies ?? []);
  return {
    fetch: async (path, init) => handler(new Request(`http://localhost${path}`, init)),
    handler,
    service,
    requests,
    accounts,
    domains,
    store,
    links,
    clock,
    account: (email, plan) => openAccount(memory, email, plan),
    mails,
    accountMails,
    events,
    answers,
    faults,
  };
}

function settingsFor(options: TestAppOptions, plans: Plans): Settings {
  const { dialect = 'documented', v2Dialect = 'documented', regions = null } = options;
  return {
    ...settingsOf({
      MAYFLY_BASE_URL: options.baseUrl ?? ownBaseUrl,
      MAYFLY_SMTP_URL: 'smtp://localhost',
      ...options.environment,
    }),
    plans,
    v1Dialect: dialect,
    v2Dialect,
    endToEnd: options.endToEnd ?? 'default',
    anonymousMayCreate: options.anonymousMayCreate ?? true,
    requests: options.requests ?? 'accounts',
    signUpIsOpen: options.signUpIsOpen ?? true,
    securityContact: options.securityContact ?? null,
    locales: options.locales ?? supportedLocales,
    defaultLocale: options.defaultLocale ?? 'en',
    region: regions?.own ?? null,
    regions: regions?.all ?? [],
    allowedOrigins: new Set(options.allowedOrigins ?? []),
  };
}

const noAnswer = async () => ({ outcome: 'failed' }) as const;
const silentResolver: Resolver = { txt: noAnswer, cname: noAnswer, addresses: noAnswer };

function createTestClock(start: UnixSeconds): TestClock {
  let seconds = start;
  return {
    now: () => seconds,
    advance(by) {
      seconds += by;
    },
  };
}

function mountDeps(
  options: TestAppOptions,
  plans: Plans,
  answers: AnswerFacts[],
  faults: unknown[],
): Omit<ApiDeps, 'authenticate'> {
  const trusted = proxiesOf(options.trustedProxies ?? []);
  return {
    limiter: createRateLimiter({ table: options.rateLimits ?? 'off', nowMs: () => performance.now() }),
    clientAddressOf: createClientAddressOf(trusted),
    bodyCapBytes: bodyCapBytesFor(plans),
    ownOrigin: new URL(options.baseUrl ?? ownBaseUrl).origin,
    allowedOrigins: new Set(options.allowedOrigins ?? []),
    onAnswer: (answer) => answers.push(answer),
    onFault: (error) => faults.push(error),
  };
}

/** As deterministic as argon2id and bcrypt, and a thousand times faster. Only for tests. */
export const fastHasher: PassphraseHasher = {
  stretch: async (passphrase, salt) => createHmac('sha256', salt).update(passphrase).digest(),
  hashVerifier: async (input) => verifierOf(input),
};

function verifierOf(input: string): string {
  return createHmac('sha256', 'test').update(input).digest('base64').padEnd(60, '.');
}

/** Adds `writeAccountMail` to a mailer: writing costs nothing here, so it only wraps the sending. */
export function withWriting<Sender extends Pick<Mailer, 'sendAccountMail'>>(mailer: Sender) {
  return {
    ...mailer,
    writeAccountMail: async (mail: AccountMail) => ({ send: () => mailer.sendAccountMail(mail) }),
  };
}

function keepingMailer(mails: SecretLinkMail[], accountMails: AccountMail[]): Mailer {
  return {
    async sendSecretLink(mail) {
      mails.push(mail);
      return { state: 'accepted', reply: '250 OK' };
    },
    async sendAccountMail(mail) {
      accountMails.push(mail);
      return { state: 'accepted', reply: '250 OK' };
    },
  };
}

async function openAccount(
  store: MemoryStore,
  email = 'alice@example.com',
  plan: Exclude<PlanName, 'anonymous'> = 'basic',
): Promise<TestAccount> {
  const made = await createAccount({ store, random: systemRandom }, { email, plan });
  if (made.outcome !== 'created') throw new Error(`the account ${email} was not created: ${made.outcome}`);
  const account = await store.findAccount(made.username);
  if (account === null) throw new Error(`the account ${email} was not stored`);
  const token = made.token.expose();
  const authorization = `Basic ${Buffer.from(`${made.username}:${token}`).toString('base64')}`;
  return { id: account.id, username: made.username, token, authorization };
}
