/**
 * Mayfly's client: share a secret once, read it once.
 *
 * Needs only `fetch`: Node 20 or later, Bun, Deno, or a browser. It keeps nothing, so a value exists only in what a call
 * returns, and repeats nothing that changes something (see `retries`).
 *
 * ```ts
 * const mayfly = createClient({ server: 'https://secrets.example.org' });
 * const { link } = await mayfly.conceal({ value: 'hunter2', ttlSeconds: 3600 });
 * const { value } = await mayfly.reveal(link);
 * ```
 */
import { type ConcealOptions, creationFields, type GenerateOptions, generationFields } from './creation.ts';
import { MayflyError } from './error.ts';
import type { CallOptions } from './limit.ts';
import { keyOf } from './link.ts';
import {
  type Created,
  type Generated,
  type Receipt,
  type Remarks,
  type Revealed,
  toCreated,
  toGenerated,
  toInspected,
  toReceiptAnswer,
  toReceiptPage,
  toRemarkedReceipt,
  toRevealed,
  toStatus,
  toStatuses,
  type WaitingSecret,
} from './records.ts';
import {
  type Account,
  type Locales,
  type ServiceStatus,
  toAccount,
  toLocales,
  toServiceStatus,
  toVersion,
} from './service.ts';
import { createTransport, given, type Json, type Transport, type TransportOptions } from './transport.ts';
import { v2 } from './v2.ts';

export type { ConcealOptions, CreateOptions, GenerateOptions } from './creation.ts';
export { type FieldError, MayflyError, type MayflyErrorCode } from './error.ts';
export type { CallOptions } from './limit.ts';
export { type ParsedLink, parseLink } from './link.ts';
export type { ReceiptState } from './receipt-state.ts';
export type {
  Adjustment,
  Created,
  Delivery,
  DeliveryState,
  Generated,
  NoticeKind,
  Receipt,
  Remarks,
  Revealed,
  WaitingSecret,
} from './records.ts';
export type { Account, Locales, ServiceStatus } from './service.ts';
export type { Credentials, Fetch } from './transport.ts';

export type ClientOptions = TransportOptions;

export interface DeliverOptions extends CallOptions {
  /** A new address; the one that the secret was last sent to if absent. */
  readonly recipient?: string;
  /** The mail's language, a BCP 47 tag; the server's default if absent, the nearest if not offered (see `adjusted`). */
  readonly locale?: string;
}

export interface PassphraseOption extends CallOptions {
  readonly passphrase?: string;
}

export interface RecentOptions extends CallOptions {
  /** 1–200; 50 if absent. */
  readonly pageSize?: number;
}

/** Every method rejects only with `MayflyError`. Where a link is expected, a bare key works too. */
export interface MayflyClient {
  /** Stores a value and returns the link that opens it once. */
  conceal(options: ConcealOptions): Promise<Created>;
  /** Lets the server generate a random value, which is returned only now, with the link. */
  generate(options?: GenerateOptions): Promise<Generated>;
  /** Reads the value and consumes the secret. Rejects with `unknown_secret` if it is gone. */
  reveal(secret: string, options?: PassphraseOption): Promise<Revealed>;
  /** Checks the passphrase, if there is one, without consuming. A wrong one counts as a guess. */
  inspect(secret: string, options?: PassphraseOption): Promise<WaitingSecret>;
  /** The secret while it waits, without needing its passphrase; `null` once it is gone. Does not consume. */
  status(secret: string, options?: CallOptions): Promise<WaitingSecret | null>;
  /**
   * `status` of up to 100 secrets at once, in their order. Where there are regions, each answers for its own secrets: `null` also for
   * one of another region.
   */
  statuses(secrets: readonly string[], options?: CallOptions): Promise<readonly (WaitingSecret | null)[]>;
  /** The creator's view. Needs an account. */
  receipt(metadata: string, options?: CallOptions): Promise<Receipt>;
  /** Destroys an unread secret. Rejects with `already_gone` if there is none. Needs an account. */
  burn(metadata: string, options?: CallOptions): Promise<Receipt>;
  /**
   * Sets the label for the creator only, up to 500 characters; `''` removes it. Works as long as the receipt lives, also once
   * the secret is gone. Rejects with `invalid_field` if it is too long. Needs an account.
   */
  setMemo(metadata: string, memo: string, options?: CallOptions): Promise<Receipt>;
  /**
   * Gives an unread secret another lifetime, shorter or longer, in whole seconds from now on; 0 leaves it as it is. It can end at
   * the plan's longest lifetime since the creation at the latest: the nearest possible is granted (see `adjusted`). Rejects with
   * `already_gone` if there is no secret any more, and with `invalid_field` if `ttlSeconds` is negative or not whole, or if an
   * earlier version of the server stored the secret. Needs an account.
   */
  setTtl(metadata: string, ttlSeconds: number, options?: CallOptions): Promise<Receipt & Remarks>;
  /**
   * Sends the recipient's mail again, or to another address. The receipt's `delivery` shows the result. Rejects with
   * `delivery_in_flight` while a mail for this secret is being sent. Needs an account.
   */
  deliver(metadata: string, options?: DeliverOptions): Promise<Receipt & Remarks>;
  /** The account's receipts, newest first, fetched page by page as they are consumed. The time limit is that of a page. */
  recent(options?: RecentOptions): AsyncIterableIterator<Receipt>;
  /** The account of the credentials, and what its plan allows. Rejects with `not_authorized` if they are wrong. */
  account(options?: CallOptions): Promise<Account>;
  /** Resolves if the server works. Looks at no credentials. */
  serviceStatus(options?: CallOptions): Promise<ServiceStatus>;
  /** The server's version, such as `0.1.0`. */
  version(options?: CallOptions): Promise<string>;
  /** The languages of the server's pages and mails. */
  locales(options?: CallOptions): Promise<Locales>;
}

/** `get` repeats, as often as the client allows. */
type Get = (path: string, options?: CallOptions) => Promise<object>;

async function* pages(
  get: Get,
  { pageSize = 50, ...options }: RecentOptions,
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
    return toStatus(await get(`/secret/${keyOf(secret, 'receipt')}/status`, options));
  } catch (error) {
    if (error instanceof MayflyError && error.code === 'unknown_secret') return null;
    throw error;
  }
}

/** A wrong passphrase counts as a guess, so this is not repeated. */
async function inspectWith(
  call: Transport,
  secret: string,
  options: PassphraseOption,
): Promise<WaitingSecret> {
  const { passphrase } = options;
  // Headers carry only Latin letters, and unlike a query they do not end up in access logs.
  const headers = passphrase === undefined ? {} : { 'Secret-Passphrase': encodeURIComponent(passphrase) };
  const path = `/secret/${keyOf(secret, 'receipt')}`;
  return toInspected(await call({ method: 'GET', path, headers }, options));
}

/**
 * @throws TypeError if `server` is not an http(s) address
 * @throws RangeError if `retries` is not a whole number from 0 to 5
 */
export function createClient(options: ClientOptions): MayflyClient {
  const call = createTransport(options, v2);
  const server = options.server.replace(/\/+$/, '');
  const get: Get = (path, own) => call({ method: 'GET', path, isRead: true }, own);
  const post = (path: string, body: Json, own?: CallOptions) => call({ method: 'POST', path, body }, own);
  const change = (metadata: string, body: Json, own?: CallOptions) =>
    call({ method: 'PATCH', path: `/private/${keyOf(metadata, 'secret')}`, body }, own);
  return {
    conceal: async ({ value, ...rest }) =>
      toCreated(
        await post('/secret/conceal', { secret: given({ secret: value, ...creationFields(rest) }) }, rest),
        server,
      ),
    generate: async (wanted = {}) =>
      toGenerated(
        await post('/secret/generate', { secret: given(generationFields(wanted)) }, wanted),
        server,
      ),
    reveal: async (secret, { passphrase, ...own } = {}) => {
      const body = given({ continue: true, passphrase });
      return toRevealed(await post(`/secret/${keyOf(secret, 'receipt')}/reveal`, body, own));
    },
    inspect: (secret, own = {}) => inspectWith(call, secret, own),
    status: (secret, own) => statusOf(get, secret, own),
    statuses: async (secrets, own) => {
      const body = { identifiers: secrets.map((secret) => keyOf(secret, 'receipt')).join(',') };
      if (secrets.length === 0) return [];
      return toStatuses(await call({ method: 'POST', path: '/secret/status', body, isRead: true }, own));
    },
    receipt: async (metadata, own) =>
      toReceiptAnswer(await get(`/private/${keyOf(metadata, 'secret')}`, own)),
    burn: async (metadata, own) =>
      toReceiptAnswer(await post(`/private/${keyOf(metadata, 'secret')}/burn`, { continue: true }, own)),
    setMemo: async (metadata, memo, own) => toReceiptAnswer(await change(metadata, { memo }, own)),
    setTtl: async (metadata, ttlSeconds, own) =>
      toRemarkedReceipt(await change(metadata, { ttl: ttlSeconds }, own)),
    deliver: async (metadata, { recipient, locale, ...own } = {}) =>
      toRemarkedReceipt(
        await post(`/private/${keyOf(metadata, 'secret')}/deliver`, given({ recipient, locale }), own),
      ),
    recent: (own = {}) => pages(get, own),
    account: async (own) => toAccount(await get('/authcheck', own)),
    serviceStatus: async (own) => toServiceStatus(await get('/status', own)),
    version: async (own) => toVersion(await get('/version', own)),
    locales: async (own) => toLocales(await get('/supported-locales', own)),
  };
}
