/**
 * The whole core on a test bench: the real use cases, the store in memory, a clock moved by hand, a hasher that is fast and
 * counts its calls, a mailer that keeps what it gets, and accounts that sign up as in production.
 */

import { createHash } from 'node:crypto';
import type { AccountCaller } from '../../src/core/account.ts';
import { createAccount } from '../../src/core/accounts/admin.ts';
import { ServiceError } from '../../src/core/errors.ts';
import type { ServiceEvent } from '../../src/core/events.ts';
import { createLinks } from '../../src/core/links.ts';
import type { AccountMail, SecretLinkMail } from '../../src/core/mailer.ts';
import { builtInPlans, type PlanName } from '../../src/core/plans.ts';
import type { PassphraseHasher } from '../../src/core/ports/passphrases.ts';
import { createRequestService, type RequestService } from '../../src/core/requests/service.ts';
import type { NewRecord } from '../../src/core/secret.ts';
import type {
  ConcealInput,
  ReceiptView,
  RevealInput,
  RevealOutcome,
} from '../../src/core/secrets/outcomes.ts';
import { textOf } from '../../src/core/secrets/reveal.ts';
import { createService, type SecretService, type ServiceParts } from '../../src/core/secrets/service.ts';
import { Sensitive } from '../../src/core/sensitive.ts';
import { createKeyRing } from '../../src/crypto/keyring.ts';
import { createOwnLimits } from '../../src/http/rate-limit.ts';
import type { DeliveryState } from '../../src/protocol/vocabulary.ts';
import { clientStays } from '../stores/conformance/check.ts';
import { createMemoryStore, type MemoryStore } from '../stores/memory.ts';
import { steadyClock } from './clocks.ts';
import { noOptions } from './inputs.ts';
import { seededRandom } from './seeded-random.ts';

export const startOfTime = 1_790_000_000;

export interface CountingHasher extends PassphraseHasher {
  /** Calls of `stretch` so far: guesses computed, and one for each secret made with a passphrase. */
  readonly stretched: number;
  /** While `true`, every hash is refused, as when the queue is full. */
  busy: boolean;
}

export function createCountingHasher(): CountingHasher {
  let stretched = 0;
  const digest = (...parts: Array<Uint8Array | string>) =>
    parts.reduce((sum, part) => sum.update(part), createHash('sha256')).digest();
  const hasher: CountingHasher = {
    busy: false,
    get stretched() {
      return stretched;
    },
    async stretch(passphrase, salt) {
      if (hasher.busy) throw new ServiceError('busy', 'the queue of passphrase hashes is full');
      stretched += 1;
      return new Uint8Array(digest(salt, passphrase));
    },
    async hashVerifier(input) {
      return `$2b$04$${digest('bcrypt', input).toString('base64').slice(0, 53)}`;
    },
  };
  return hasher;
}

export interface Bench {
  readonly service: SecretService;
  readonly requests: RequestService;
  readonly deps: ServiceParts;
  /** The store itself, whatever wraps it for the service. */
  readonly memory: MemoryStore;
  readonly hasher: CountingHasher;
  readonly events: ServiceEvent[];
  readonly mails: SecretLinkMail[];
  readonly accountMails: AccountMail[];
  /** The last code that was mailed. */
  codeMailed(): string;
  /** Every record as it was passed to the store. */
  readonly records: NewRecord[];
  /** The final state of the next mails. */
  mailEndsIn: Exclude<DeliveryState, 'queued'>;
  /** The mail server's final reply to the next mails. */
  mailReply: string | null;
  advance(seconds: number): void;
  signUp(email: string, plan?: PlanName): Promise<AccountCaller & { readonly token: string }>;
  /** Conceals and returns the receipt; throws when refused. */
  share(value: string, options?: ShareOptions): Promise<ReceiptView & { readonly secretKey: string }>;
}

export interface ShareOptions extends Partial<Omit<ConcealInput, 'value' | 'passphrase' | 'recipient'>> {
  readonly passphrase?: string;
  readonly recipient?: string;
  readonly caller?: AccountCaller;
}

/** @param options.wrap puts something between the service and the store: a defect, a delay, an outage */
export function createBench(
  options: {
    readonly deps?: Partial<ServiceParts>;
    readonly wrap?: (store: ServiceParts['store']) => ServiceParts['store'];
    readonly seed?: string;
  } = {},
): Bench {
  let now = startOfTime;
  const random = seededRandom(options.seed ?? 'bench');
  const hasher = createCountingHasher();
  const events: ServiceEvent[] = [];
  const mails: SecretLinkMail[] = [];
  const accountMails: AccountMail[] = [];
  const records: NewRecord[] = [];
  const memory = createMemoryStore({ clock: steadyClock(() => now) });
  const recording: ServiceParts['store'] = {
    ...memory,
    put(record) {
      records.push(record);
      return memory.put(record);
    },
  };
  const limits = createOwnLimits(() => now * 1_000);
  const deps: ServiceParts = {
    store: options.wrap?.(recording) ?? recording,
    mailer: {
      async sendSecretLink(mail) {
        mails.push(mail);
        return { state: bench.mailEndsIn, reply: bench.mailReply };
      },
      async sendAccountMail(mail) {
        accountMails.push(mail);
        return { state: bench.mailEndsIn, reply: bench.mailReply };
      },
    },
    hasher,
    ring: createKeyRing([{ kid: 1, key: random(32) }]),
    random,
    plans: builtInPlans,
    links: createLinks('https://mayfly.example'),
    events: (event) => events.push(event),
    anonymousMayCreate: true,
    mailQuota: { take: async () => ({ outcome: 'allowed' }), refund: async () => {} },
    limits,
    mayVerify: true,
    codeIsInSubject: false,
    mailBrandOf: async (shareDomain) => ({
      name: 'Mayfly',
      host: shareDomain || 'mayfly.example',
      colour: null,
    }),
    mailLocaleOf: (asked) => asked ?? 'en',
    region: null,
    words: async () => ['apple', 'brook', 'cloud', 'dune'],
    ...options.deps,
  };
  const service = createService(deps);
  const requests = createRequestService({ ...deps, mayAsk: 'anyone', strangersSignUp: false });
  const bench: Bench = {
    service,
    requests,
    deps,
    memory,
    hasher,
    events,
    mails,
    accountMails,
    codeMailed: () => codeIn(accountMails),
    records,
    mailEndsIn: 'accepted',
    mailReply: null,
    advance(seconds) {
      now += seconds;
    },
    async signUp(email, plan = 'basic') {
      const made = await createAccount(deps, { email, plan });
      if (made.outcome !== 'created') throw new Error(made.outcome);
      const token = made.token.expose();
      const caller = await service.authenticate(email, token);
      if (caller === null) throw new Error('not signed in');
      return { ...caller, token };
    },
    async share(value, { passphrase, recipient, caller, ...rest } = {}) {
      const input: ConcealInput = {
        ...noOptions,
        ...rest,
        value: new Sensitive(value),
        passphrase: passphrase === undefined ? null : new Sensitive(passphrase),
        recipient: recipient === undefined ? null : new Sensitive(recipient),
      };
      const made = await service.conceal(input, caller ?? { kind: 'anonymous' });
      if (made.outcome !== 'created' || made.receipt.secretKey === null) throw new Error(made.outcome);
      return { ...made.receipt, secretKey: made.receipt.secretKey };
    },
  };
  return bench;
}

/** The code of the last mail. */
export function codeIn(mails: readonly AccountMail[]): string {
  const mail = mails.at(-1);
  if (mail?.kind !== 'code') throw new Error('no code was mailed');
  return mail.code.expose();
}

/** The value that a reveal gave, or why it gave none. */
export function readBy(outcome: RevealOutcome): string {
  return outcome.outcome === 'revealed' ? textOf(outcome.content) : outcome.outcome;
}

/** One guess, as the HTTP layer passes it on. */
export function guess(secretKey: string, passphrase?: string, clientPrefix = '192.0.2.0/24'): RevealInput {
  const given = passphrase === undefined ? null : new Sensitive(passphrase);
  return { secretKey, passphrase: given, proofs: null, clientPrefix, isAbandoned: clientStays };
}
