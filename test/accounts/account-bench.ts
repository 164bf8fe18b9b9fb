/**
 * A bench for accounts: both services over one in-memory store, with a fake clock and a counting hasher.
 *
 * People sign up as in production, with the mailed link; the bench records what the services did meanwhile.
 */

import type { BegunSession, SignedIn } from '../../src/core/account.ts';
import { type AccountService, createAccountService } from '../../src/core/accounts/service.ts';
import type { ServiceEvent } from '../../src/core/events.ts';
import { createLinks } from '../../src/core/links.ts';
import type { AccountMail } from '../../src/core/mailer.ts';
import { builtInPlans } from '../../src/core/plans.ts';
import type { IsCommonPassword } from '../../src/core/ports/passphrases.ts';
import { createService, type SecretService, type ServiceParts } from '../../src/core/secrets/service.ts';
import { Sensitive } from '../../src/core/sensitive.ts';
import { createKeyRing } from '../../src/crypto/keyring.ts';
import { createOwnLimits } from '../../src/http/rate-limit.ts';
import { createMemoryStore } from '../stores/memory.ts';
import { steadyClock } from '../support/clocks.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { type CountingHasher, createCountingHasher } from '../support/service-bench.ts';

export type AccountBenchStore = ServiceParts['store'];

export const startOfTime = 1_790_000_000;
export const password = 'seven green bottles';
export const otherPassword = 'three blind badgers';
export const label = 'Firefox on Linux';
export const locale = 'en';
/** What creating an API token needs besides its own fields. */
export const proof = { password: new Sensitive(password), locale } as const;

export interface AccountBench {
  readonly accounts: AccountService;
  readonly secrets: SecretService;
  readonly store: AccountBenchStore;
  readonly deps: Pick<ServiceParts, 'store' | 'random'>;
  readonly hasher: CountingHasher;
  readonly events: readonly ServiceEvent[];
  /** The mails that were sent. */
  readonly mails: readonly AccountMail[];
  /** The steps taken for mails: every mail written, sent or not, and every pause. */
  readonly mailSteps: string[];
  /** The names of the store methods called, in order. */
  readonly calls: string[];
  /** Everything passed to the store. */
  readonly handed: unknown[];
  now(): number;
  advance(seconds: number): void;
  /** The ticket in the last mail of this kind to this address; throws when there is none. */
  mailedTicket(kind: 'sign_up' | 'reset', email: string): Promise<string>;
  /** Requests a sign-up and returns the mailed ticket. */
  signUpTicket(email: string): Promise<string>;
  resetTicket(email: string): Promise<string>;
  /** Signs up as in production; the person is then logged in. */
  person(email: string, text?: string): Promise<Person>;
  logIn(email: string, text?: string): ReturnType<AccountService['logIn']>;
  open(session: BegunSession): Promise<SignedIn>;
}

export interface Person {
  readonly signedIn: SignedIn;
  readonly sessionToken: string;
  readonly session: BegunSession;
}

export interface AccountBenchOptions {
  /** Puts something between the services and the store: a defect, a delay, an outage. */
  readonly wrap?: (store: AccountBenchStore) => AccountBenchStore;
  readonly wrapHasher?: (hasher: CountingHasher) => CountingHasher;
  readonly isCommonPassword?: IsCommonPassword;
  readonly mailEndsIn?: 'accepted' | 'not_sent';
}

/** Records every store call and its arguments. */
function listening(store: AccountBenchStore, calls: string[], handed: unknown[]): AccountBenchStore {
  return new Proxy(store, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== 'function' || name === 'now') return method;
      return (...args: unknown[]) => {
        calls.push(String(name));
        // A copy, because arguments may be wiped afterwards. Callbacks carry no data.
        handed.push(structuredClone(args.filter((each) => typeof each !== 'function')));
        return Reflect.apply(method, target, args);
      };
    },
  });
}

const linkForm = /\/([0-9a-f]{64})$/;

export function createAccountBench(options: AccountBenchOptions = {}): AccountBench {
  let now = startOfTime;
  const random = seededRandom('accounts');
  const counting = createCountingHasher();
  const hasher = options.wrapHasher?.(counting) ?? counting;
  const events: ServiceEvent[] = [];
  const mails: AccountMail[] = [];
  const mailSteps: string[] = [];
  const calls: string[] = [];
  const handed: unknown[] = [];
  const memory = createMemoryStore({ clock: steadyClock(() => now) });
  const store = listening(options.wrap?.(memory) ?? memory, calls, handed);
  const sendAccountMail = async (mail: AccountMail) => {
    mails.push(mail);
    return { state: options.mailEndsIn ?? 'accepted', reply: null } as const;
  };
  const ports = {
    store,
    mailer: {
      sendSecretLink: async () => ({ state: 'accepted', reply: null }) as const,
      sendAccountMail,
      async writeAccountMail(mail: AccountMail) {
        mailSteps.push(`written: ${mail.kind}`);
        return { send: () => sendAccountMail(mail) };
      },
    },
    hasher,
    random,
    links: createLinks('https://mayfly.example'),
    events: (event: ServiceEvent) => void events.push(event),
  } as const;
  const accounts = createAccountService({
    ...ports,
    pauseBeforeSending: async () => void mailSteps.push('paused'),
    isCommonPassword: options.isCommonPassword ?? (async (text) => text === 'password123'),
  });
  const secrets = createService({
    ...ports,
    ring: createKeyRing([{ kid: 1, key: random(32) }]),
    plans: builtInPlans,
    anonymousMayCreate: true,
    mailQuota: { take: async () => ({ outcome: 'allowed' }), refund: async () => {} },
    ...{ limits: createOwnLimits(() => 0), mayVerify: true, codeIsInSubject: false },
    mailBrandOf: async () => ({ name: 'Mayfly', host: 'mayfly.example', colour: null }),
    mailLocaleOf: (asked) => asked ?? 'en',
    region: null,
    words: async () => ['one', 'two'],
  });

  const bench: AccountBench = {
    accounts,
    secrets,
    store,
    deps: { store, random },
    hasher: counting,
    events,
    mails,
    mailSteps,
    calls,
    handed,
    now: () => now,
    advance(seconds) {
      now += seconds;
    },
    async mailedTicket(kind, email) {
      await accounts.settled();
      const mail = mails.findLast((each) => each.kind === kind && each.to.expose() === email);
      if (mail === undefined || !('link' in mail)) throw new Error(`no mail of kind ${kind}`);
      const ticket = linkForm.exec(mail.link.expose())?.[1];
      if (ticket === undefined) throw new Error('no ticket in the link');
      return ticket;
    },
    async signUpTicket(email) {
      await accounts.requestSignUp({ email, locale });
      return bench.mailedTicket('sign_up', email);
    },
    async resetTicket(email) {
      await accounts.requestReset({ email, locale });
      return bench.mailedTicket('reset', email);
    },
    async person(email, text = password) {
      const ticket = await bench.signUpTicket(email);
      const made = await accounts.signUp({ clientPrefix: '', ticket, password: new Sensitive(text), label });
      if (made.outcome !== 'signed_up') throw new Error(made.outcome);
      const { session } = made;
      return { signedIn: await bench.open(session), sessionToken: session.token.expose(), session };
    },
    logIn: (email, text = password) =>
      accounts.logIn({ clientPrefix: '', email, password: new Sensitive(text), label }),
    async open(session) {
      const signedIn = await accounts.openSession(session.token.expose());
      if (signedIn === null) throw new Error('the session does not open');
      return signedIn;
    },
  };
  return bench;
}

/** The session of a successful log-in, sign-up or reset. */
export function sessionOf(outcome: {
  readonly outcome: string;
  readonly session?: BegunSession;
}): BegunSession {
  if (outcome.session === undefined) throw new Error(outcome.outcome);
  return outcome.session;
}

/** The account's data key as this caller has it, in hex. */
export function dataKeyOf({ caller }: Pick<SignedIn, 'caller'>): string {
  return Buffer.from(caller.dataKey.expose()).toString('hex');
}
