/**
 * The client of API v1, for code that talks to v1 and moves to the main entry piece by piece: the same names, options and errors.
 *
 * v1 answers a wrong passphrase exactly as a secret that is gone (`unknown_secret`). It cannot look at a secret without reading it, and
 * its list has no pages.
 *
 * ```ts
 * const mayfly = createV1Client({ server: 'https://secrets.example.org' });
 * const { link } = await mayfly.conceal({ value: 'hunter2', ttlSeconds: 3600 });
 * const { value } = await mayfly.reveal(link);
 * ```
 */

import { MayflyError } from './error.ts';
import { given } from './json.ts';
import type { CallOptions } from './limit.ts';
import { keyOf, partsOf } from './link.ts';
import { createTransport, serverOf, type TransportOptions } from './transport.ts';
import {
  toBurned,
  toCreated,
  toGenerated,
  toList,
  toReceipt,
  toRevealed,
  toStatus,
  type V1ConcealOptions,
  type V1Created,
  type V1Generated,
  type V1GenerateOptions,
  type V1PassphraseOption,
  type V1Receipt,
  type V1Revealed,
  v1CreationFields,
  v1GenerationFields,
} from './v1-records.ts';
import { v1 } from './v1-refusals.ts';

export { type FieldError, MayflyError, type MayflyErrorCode } from './error.ts';
export type { CallOptions } from './limit.ts';
export { type ParsedLink, parseLink } from './link.ts';
export type { ReceiptState } from '../src/protocol/vocabulary.ts';
export type { NoticeKind } from '../src/protocol/vocabulary.ts';
export type { Credentials, Fetch, TransportOptions } from './transport.ts';
export type {
  V1ConcealOptions,
  V1Created,
  V1CreateOptions,
  V1Generated,
  V1GenerateOptions,
  V1PassphraseOption,
  V1Receipt,
  V1Revealed,
} from './v1-records.ts';

/** Every method rejects only with `MayflyError`, and shares nothing end to end, which v1 cannot. Where a link is expected, a bare key works too. */
export interface V1Client {
  conceal(options: V1ConcealOptions): Promise<V1Created>;
  /** Lets the server generate a random value, which is returned only now. */
  generate(options?: V1GenerateOptions): Promise<V1Generated>;
  /**
   * Reads the value and consumes the secret. Rejects with `unknown_secret` if it is gone or the passphrase is wrong. The link of an
   * end-to-end secret is refused, and nothing is sent: reveal it with the main entry.
   */
  reveal(secret: string, options?: V1PassphraseOption): Promise<V1Revealed>;
  /** The creator's view, without a trace. Needs an account. */
  receipt(metadata: string, options?: CallOptions): Promise<V1Receipt>;
  /** The same, and the receipt is then `viewed`. Needs an account. */
  view(metadata: string, options?: CallOptions): Promise<V1Receipt>;
  /**
   * Destroys an unread secret. Rejects with `unknown_secret` if there is none. Needs an account; a server in the dialect `upstream` needs
   * the passphrase instead, if there is one.
   */
  burn(metadata: string, options?: V1PassphraseOption): Promise<V1Receipt>;
  /** The account's receipts, newest first, at most 1,000. */
  recent(options?: CallOptions): Promise<readonly V1Receipt[]>;
  /** Rejects with `not_authorized` if the credentials are missing or wrong. */
  checkCredentials(options?: CallOptions): Promise<void>;
  /** Resolves with the server's default language if it works. */
  serviceStatus(options?: CallOptions): Promise<{ readonly locale: string }>;
}

/** @throws MayflyError `invalid_key` */
function plainKeyOf(secret: string): string {
  const { key, fragment } = partsOf(secret, 'receipt');
  if (fragment === null) return key;
  throw new MayflyError(
    'invalid_key',
    'API v1 cannot open an end-to-end secret: use createClient of the main entry.',
  );
}

/**
 * @throws TypeError if `server` is not an http(s) address
 * @throws RangeError if `retries` is not a whole number from 0 to 5
 */
export function createV1Client(options: TransportOptions): V1Client {
  const call = createTransport(options, v1);
  const server = serverOf(options);
  const get = (path: string, own?: CallOptions) => call({ method: 'GET', path, isRead: true }, own);
  const post = (path: string, fields: object, own?: CallOptions) =>
    call({ method: 'POST', path, body: given(fields) }, own);
  const receiptPath = (metadata: string) => `/private/${keyOf(metadata, 'secret')}`;
  return {
    conceal: async ({ value, ...rest }) =>
      toCreated(await post('/share', { secret: value, ...v1CreationFields(rest) }, rest), server),
    generate: async (wanted = {}) =>
      toGenerated(await post('/generate', v1GenerationFields(wanted), wanted), server),
    reveal: async (secret, { passphrase, ...own } = {}) =>
      toRevealed(await post(`/secret/${plainKeyOf(secret)}`, { passphrase }, own)),
    receipt: async (metadata, own) => toReceipt(await get(receiptPath(metadata), own), server),
    view: async (metadata, own) => toReceipt(await post(receiptPath(metadata), {}, own), server),
    burn: async (metadata, { passphrase, ...own } = {}) => {
      const { key, fragment } = partsOf(metadata, 'secret');
      // The passphrase of an end-to-end secret is never sent, and burning it needs none.
      const fields = fragment === null ? { passphrase } : {};
      return toBurned(await post(`/private/${key}/burn`, fields, own), server);
    },
    recent: async (own) => toList(await get('/private/recent', own), server),
    checkCredentials: async (own) => void toStatus(await get('/authcheck', own)),
    serviceStatus: async (own) => toStatus(await get('/status', own)),
  };
}
