/**
 * Mayfly's client: share a secret once, read it once.
 *
 * Runs in Node 20 or later, Bun, Deno and browsers. It stores nothing: a value exists only in what a call returns.
 *
 * ```ts
 * const mayfly = createClient({ server: 'https://secrets.example.org' });
 * const { link } = await mayfly.conceal({ value: 'hunter2', ttlSeconds: 3600 });
 * const { value } = await mayfly.reveal(link);
 * ```
 */
import type * as requests from './asking.ts';
import type {
  ConcealOptions,
  CreateOptions,
  GenerateOptions,
  PassphraseOption,
  RevealOptions,
} from './creation.ts';
import { MayflyError, notLoaded } from './error.ts';
import type { CallOptions } from './limit.ts';
import { keyOf, partsOf } from './link.ts';
import type { Receipt } from './receipt.ts';
import {
  type Account,
  type Created,
  type Generated,
  type Locales,
  type Remarks,
  type Revealed,
  type SentCode,
  type ServiceStatus,
  toAccount,
  toInspected,
  toLocales,
  toReceiptAnswer,
  toReceiptPage,
  toRemarkedReceipt,
  toServiceStatus,
  toStatus,
  toStatuses,
  toVersion,
  type WaitingSecret,
} from './records.ts';
import type { BatchItem, BatchOptions, BatchResult } from './sharing.ts';
import {
  type Connection,
  createTransport,
  defaultTimeoutMs,
  problemOf,
  serverOf,
  type Transport,
  type TransportOptions,
} from './transport.ts';
import { given, type Json } from './wire.ts';

export { type ParsedLink, parseLink } from '../src/protocol/link.ts';
export type {
  AnswerState,
  Burner,
  DeliveryState,
  NoticeKind,
  ReceiptState,
  RequestState,
} from '../src/protocol/vocabulary.ts';
export type {
  Answer,
  AnswerOptions,
  Answers,
  Asked,
  AskOptions,
  OpenedRequest,
  RequestChange,
  SecretRequest,
  SentAnswer,
} from './asking.ts';
export type {
  ConcealOptions,
  CreateOptions,
  GenerateOptions,
  PassphraseOption,
  RevealOptions,
} from './creation.ts';
export { newLook } from './drawing.ts';
export { type FieldError, MayflyError, type MayflyErrorCode } from './error.ts';
export type { CallOptions } from './limit.ts';
export type { Delivery, Lock, Receipt } from './receipt.ts';
export type {
  Account,
  Created,
  Generated,
  Locales,
  Remarks,
  Revealed,
  SentCode,
  ServiceStatus,
  SharedFile,
  WaitingSecret,
} from './records.ts';
export type { BatchItem, BatchOptions, BatchResult } from './sharing.ts';
export type { Credentials, Fetch } from './transport.ts';
export type { Adjustment } from './wire.ts';

export type ClientOptions = TransportOptions;

export interface DeliverOptions extends CallOptions, Pick<CreateOptions, 'locale'> {
  /** A new address. Default: the last one. */
  readonly recipient?: string | undefined;
}

export interface RecentOptions extends CallOptions {
  /** 1–200. Default: 50. */
  readonly pageSize?: number;
}

/** Every method rejects only with `MayflyError`. A bare key works in place of a link. Methods that take a metadata key need an account. */
export interface MayflyClient {
  /**
   * Encrypts a text or a file, stores it, and returns the only link that opens it, once. Unless it is `plain`, rejects with
   * `insecure_address` over plain http to another machine, and with `invalid_field` if there is a `recipient`.
   */
  conceal(options: ConcealOptions): Promise<Created>;
  /** Shares a random value as `conceal` does, and returns the value only this once. With `plain: true`, the server draws it. */
  generate(options?: GenerateOptions): Promise<Generated>;
  /**
   * Conceals or generates (`{ generate: … }`) up to 100 secrets in one request. Each result, in the same order, is a created secret, or a
   * `MayflyError` that says why there is none. With an `idempotencyKey`, the same plain items may be sent again until all are created.
   */
  batch(items: readonly BatchItem[], options?: BatchOptions): Promise<readonly BatchResult[]>;
  /**
   * Reads and consumes the secret. Rejects with `unknown_secret` if it is gone; with `incomplete_link` if the end of the link is missing;
   * and with `not_sealed`, without consuming it, if the link has an end but the server says that the secret is plain. If the answer is
   * lost, this client retries, as no other client can (see `look`). If the secret asks for a code, rejects with `code_required` without one
   * (see `sendCode`), and with `incorrect_code`.
   */
  reveal(secret: string, options?: RevealOptions): Promise<Revealed>;
  /**
   * Emails a code to the secret's `verify` address. For ten minutes it opens the secret with this `look` only, from `newLook()`. Replaces
   * that look's earlier code. Rejects with `needs_no_code`, `incomplete_link`, `unknown_secret`, or with `rate_limited` after too many.
   */
  sendCode(secret: string, look: string, options?: Omit<DeliverOptions, 'recipient'>): Promise<SentCode>;
  /** Ends the second look of a `reveal` with this `look`; resolves whether or not there was one. */
  done(secret: string, look: string, options?: CallOptions): Promise<void>;
  /**
   * Checks the passphrase of a plain secret, if it has one, without consuming the secret. A wrong passphrase counts as a guess. With the
   * full link of an end-to-end secret, no passphrase is sent, because only reading can check it.
   */
  inspect(secret: string, options?: PassphraseOption): Promise<WaitingSecret>;
  /**
   * Returns the sender's note, or `null` without one. Needs no passphrase, and does not consume the secret. A stranger wrote it: show it as
   * text, never as markup or a link. Rejects with `unknown_secret` or `incomplete_link`.
   */
  note(secret: string, options?: CallOptions): Promise<string | null>;
  /** Resolves to `null` once the secret is gone. Needs no passphrase, and does not consume the secret. */
  status(secret: string, options?: CallOptions): Promise<WaitingSecret | null>;
  /** Like `status`, for up to 100 secrets, in their order. A region knows only its own secrets, and returns `null` for others. */
  statuses(secrets: readonly string[], options?: CallOptions): Promise<readonly (WaitingSecret | null)[]>;
  /** Returns the creator's view. */
  receipt(metadata: string, options?: CallOptions): Promise<Receipt>;
  /**
   * Destroys an unread secret by its link, without reading it. Needs the same passphrase as `reveal`, and rejects as it does. The creator
   * sees that the recipient burned it.
   */
  burnUnread(secret: string, options?: Omit<RevealOptions, 'strictlyOnce'>): Promise<void>;
  /** Destroys an unread secret. Rejects with `already_gone`. */
  burn(metadata: string, options?: CallOptions): Promise<Receipt>;
  /**
   * Sets the creator's label, up to 500 characters; `''` removes it. Works as long as the receipt exists. Rejects with `invalid_field` if
   * it is too long.
   */
  setMemo(metadata: string, memo: string, options?: CallOptions): Promise<Receipt>;
  /**
   * Gives an unread secret a new lifetime, in whole seconds from now; 0 changes nothing. A lifetime beyond the plan's longest, counted from
   * the creation, is shortened to it (see `adjusted`). Rejects with `already_gone`, or with `invalid_field` if `ttlSeconds` is negative or
   * not a whole number, or if an earlier version of the server stored the secret.
   */
  setTtl(metadata: string, ttlSeconds: number, options?: CallOptions): Promise<Receipt & Remarks>;
  /** Forgets an unread secret’s wrong passphrases, wrong codes and sent codes, which lifts its lock. Rejects with `already_gone`. */
  allowMore(metadata: string, options?: CallOptions): Promise<Receipt>;
  /**
   * Emails the recipient again, or another address; see `Receipt.delivery`. Rejects with `delivery_in_flight` while an email is being sent.
   */
  deliver(metadata: string, options?: DeliverOptions): Promise<Receipt & Remarks>;
  /** Fetches the account's receipts page by page, newest first. The time limit applies to each page. */
  recent(options?: RecentOptions): AsyncIterableIterator<Receipt>;
  /**
   * Asks for secrets: anyone with the ask link may answer, and only the answers link opens the answers. The server sees neither the prompt
   * nor an answer. Rejects with `account_required`, `requests_disabled` or `too_many_places`; with `unsupported` in a runtime without
   * X25519, as do the calls that answer and read answers.
   */
  ask(options: requests.AskOptions): Promise<requests.Asked>;
  /** Shows what an ask link asks for. Rejects with `unknown_request`, `incomplete_link`, or `unreadable` if the server changed the prompt. */
  inspectRequest(askLink: string, options?: CallOptions): Promise<requests.OpenedRequest>;
  /**
   * Answers with a text or a file, encrypted for the asker. Rejects as `inspectRequest` does, before anything is sent, and with
   * `request_full` or `request_ended`. If the reply is lost, sends the same answer up to twice more, and makes only one.
   */
  answer(askLink: string, options: requests.AnswerOptions): Promise<requests.SentAnswer>;
  /** Tells the server's operator that the request is an abuse. */
  reportRequest(askLink: string, options?: CallOptions): Promise<void>;
  /** Returns the request and its answers, of which it opens none. Rejects with `unknown_request`, `incomplete_link` or `unreadable`. */
  answers(answersLink: string, options?: CallOptions): Promise<requests.Answers>;
  /**
   * Waits: returns what `answers` does, again and again, first every two seconds, later every minute, and goes on while the server is
   * unreachable or busy. It never ends by itself.
   */
  watchAnswers(answersLink: string, options?: CallOptions): AsyncIterableIterator<requests.Answers>;
  /** Closes a request for ever, or changes it. The account that asked may close it by the ask link too. Rejects with `request_ended`. */
  changeRequest(
    link: string,
    change: requests.RequestChange,
    options?: CallOptions,
  ): Promise<requests.SecretRequest>;
  /** Burns an answer if it is unread, and frees its place. Rejects with `unknown_secret` if it is not an answer to this request. */
  discardAnswer(answersLink: string, secretKey: string, options?: CallOptions): Promise<requests.Answers>;
  /** Rejects with `not_authorized` if the credentials are wrong. */
  account(options?: CallOptions): Promise<Account>;
  /** Resolves if the server is working. Ignores credentials. */
  serviceStatus(options?: CallOptions): Promise<ServiceStatus>;
  /** The server's version, such as `0.1.0`. */
  version(options?: CallOptions): Promise<string>;
  /** The languages of the server's pages and emails. */
  locales(options?: CallOptions): Promise<Locales>;
}

/** Retries as often as the client's options allow. */
type Get = (path: string, options?: CallOptions) => Promise<object>;

async function* pages(
  get: Get,
  { pageSize = 50, ...options }: RecentOptions = {},
): AsyncIterableIterator<Receipt> {
  let cursor: string | null = null;
  do {
    const query: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const page = toReceiptPage(await get(`/private/recent?limit=${pageSize}${query}`, options));
    yield* page.receipts;
    cursor = page.nextCursor;
  } while (cursor !== null);
}

async function statusOf(get: Get, secret: string, options?: CallOptions): Promise<WaitingSecret | null> {
  try {
    return toStatus(await get(`/secret/${keyOf(secret, 'secret')}/status`, options));
  } catch (error) {
    if (error instanceof MayflyError && error.code === 'unknown_secret') return null;
    throw error;
  }
}

/** Never retried: a wrong passphrase counts as a guess. */
async function inspectWith(
  call: Transport,
  secret: string,
  options: PassphraseOption = {},
): Promise<WaitingSecret> {
  const { key, fragment } = partsOf(secret, 'secret');
  // An end-to-end secret's passphrase is never sent.
  const passphrase = fragment === null ? options.passphrase : undefined;
  // Headers can carry only Latin letters. Unlike queries, they do not end up in access logs.
  const headers = passphrase === undefined ? {} : { 'Secret-Passphrase': encodeURIComponent(passphrase) };
  return toInspected(await call({ method: 'GET', path: `/secret/${key}`, headers }, options));
}

const pathOf = (metadata: string): string => `/private/${keyOf(metadata, 'receipt')}`;

/** The cryptography, loaded when first needed. */
const sharing = () => import('./sharing.ts').catch(notLoaded);
const asking = () => import('./asking.ts').catch(notLoaded);

/**
 * @throws TypeError if `server` is not an http(s) address
 * @throws RangeError if `retries` is not a whole number from 0 to 5
 */
export function createClient(options: ClientOptions): MayflyClient {
  const call = createTransport(options);
  const server = serverOf(options);
  const connection: Connection = {
    call,
    server,
    timeoutMs: options.timeoutMs ?? defaultTimeoutMs,
    hasAccount: options.credentials !== undefined,
    problemOf,
  };
  const get: Get = (path, own) => call({ method: 'GET', path, isRead: true }, own);
  const post = (path: string, body: Json, own?: CallOptions) => call({ method: 'POST', path, body }, own);
  const change = (metadata: string, body: Json, own?: CallOptions) =>
    call({ method: 'PATCH', path: pathOf(metadata), body }, own);
  return {
    conceal: async (...args) => (await sharing()).conceal(connection, ...args),
    generate: async (...args) => (await sharing()).generate(connection, ...args),
    batch: async (...args) => (await sharing()).batch(connection, ...args),
    reveal: async (...args) => (await sharing()).reveal(connection, ...args),
    sendCode: async (...args) => (await sharing()).sendCode(connection, ...args),
    done: async (...args) => (await sharing()).done(connection, ...args),
    inspect: (...args) => inspectWith(call, ...args),
    note: async (...args) => (await sharing()).note(connection, ...args),
    status: (...args) => statusOf(get, ...args),
    statuses: async (secrets, own) => {
      const body = { identifiers: secrets.map((secret) => keyOf(secret, 'secret')).join(',') };
      if (secrets.length === 0) return [];
      return toStatuses(await call({ method: 'POST', path: '/secret/status', body, isRead: true }, own));
    },
    receipt: async (metadata, own) => toReceiptAnswer(await get(pathOf(metadata), own)),
    burnUnread: async (...args) => (await sharing()).burnUnread(connection, ...args),
    burn: async (metadata, own) =>
      toReceiptAnswer(await post(`${pathOf(metadata)}/burn`, { continue: true }, own)),
    setMemo: async (metadata, memo, own) => toReceiptAnswer(await change(metadata, { memo }, own)),
    setTtl: async (metadata, ttlSeconds, own) =>
      toRemarkedReceipt(await change(metadata, { ttl: ttlSeconds }, own)),
    allowMore: async (metadata, own) =>
      toReceiptAnswer(await change(metadata, { attempts: 'more', codes: 'more' }, own)),
    deliver: async (metadata, { recipient, locale, ...own } = {}) =>
      toRemarkedReceipt(await post(`${pathOf(metadata)}/deliver`, given({ recipient, locale }), own)),
    recent: (...args) => pages(get, ...args),
    ask: async (...args) => (await asking()).ask(connection, ...args),
    inspectRequest: async (...args) => (await asking()).inspectRequest(connection, ...args),
    answer: async (...args) => (await asking()).answer(connection, ...args),
    reportRequest: async (...args) => (await asking()).reportRequest(connection, ...args),
    answers: async (...args) => (await asking()).answers(connection, ...args),
    async *watchAnswers(...args) {
      yield* (await asking()).watchAnswers(connection, ...args);
    },
    changeRequest: async (...args) => (await asking()).changeRequest(connection, ...args),
    discardAnswer: async (...args) => (await asking()).discardAnswer(connection, ...args),
    account: async (own) => toAccount(await get('/authcheck', own)),
    serviceStatus: async (own) => toServiceStatus(await get('/status', own)),
    version: async (own) => toVersion(await get('/version', own)),
    locales: async (own) => toLocales(await get('/supported-locales', own)),
  };
}
