/**
 * The calls that fault tests make, and what their answers mean.
 *
 * An answer that is not exactly what the contract says for a winner or a loser is `strange`, so a test cannot mistake a
 * half-right answer for a right one.
 */
import type { Burner } from '../../src/protocol/vocabulary.ts';
import { type RawAnswer, requestBytes } from './raw-client.ts';

export interface Made {
  readonly secretKey: string;
  readonly metadataKey: string;
}

type Headers = Readonly<Record<string, string>>;

const form: Headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
const json: Headers = { 'Content-Type': 'application/json' };
const withBasic = (basic: string | undefined): Headers =>
  basic === undefined ? {} : { Authorization: basic };

export interface NewSecret {
  readonly value: string;
  readonly passphrase?: string;
  /** The `Authorization` header; anonymous when absent. */
  readonly basic?: string;
}

export function createV1({ value, passphrase, basic }: NewSecret): Buffer {
  const fields = new URLSearchParams({ secret: value, ...(passphrase === undefined ? {} : { passphrase }) });
  return requestBytes({
    method: 'POST',
    path: '/api/v1/share',
    headers: { ...form, ...withBasic(basic) },
    body: fields.toString(),
  });
}

export function createV2({ value, passphrase, basic }: NewSecret): Buffer {
  return requestBytes({
    method: 'POST',
    path: '/api/v2/secret/conceal',
    headers: { ...json, ...withBasic(basic) },
    body: JSON.stringify({ secret: { secret: value, ...(passphrase === undefined ? {} : { passphrase }) } }),
  });
}

/** The keys in the answer to a create, in either version; `null` when it does not acknowledge one. */
export function readMade(answer: RawAnswer): Made | null {
  if (answer.status !== 200) return null;
  const body = JSON.parse(answer.body);
  const secretKey = body.secret_key ?? body.record?.secret?.key;
  const metadataKey = body.metadata_key ?? body.record?.metadata?.key;
  return typeof secretKey === 'string' && typeof metadataKey === 'string' ? { secretKey, metadataKey } : null;
}

/** One attempt to end a secret. */
export const doors = ['v1.reveal', 'v2.reveal', 'v1.burn', 'v2.burn', 'v2.link.burn'] as const;
export type Door = (typeof doors)[number];

export interface Attempt {
  readonly door: Door;
  readonly made: Made;
  /** Required for burns. */
  readonly basic?: string;
  readonly passphrase?: string;
}

export function attemptRequest({ door, made, basic, passphrase }: Attempt): Buffer {
  const credentials = withBasic(basic);
  switch (door) {
    case 'v1.reveal': {
      const fields = new URLSearchParams(passphrase === undefined ? {} : { passphrase });
      return requestBytes({
        method: 'POST',
        path: `/api/v1/secret/${made.secretKey}`,
        headers: { ...form, ...credentials },
        body: fields.toString(),
      });
    }
    case 'v2.reveal':
      return requestBytes({
        method: 'POST',
        path: `/api/v2/secret/${made.secretKey}/reveal`,
        headers: { ...json, ...credentials },
        // A server with the dialect `upstream` only looks without it.
        body: JSON.stringify({ continue: true, ...(passphrase === undefined ? {} : { passphrase }) }),
      });
    case 'v1.burn':
      return requestBytes({
        method: 'POST',
        path: `/api/v1/private/${made.metadataKey}/burn`,
        headers: credentials,
      });
    case 'v2.burn':
      return requestBytes({
        method: 'POST',
        path: `/api/v2/private/${made.metadataKey}/burn`,
        headers: { ...json, ...credentials },
        body: '{}',
      });
    case 'v2.link.burn':
      return requestBytes({
        method: 'POST',
        path: `/api/v2/secret/${made.secretKey}/burn`,
        headers: { ...json, ...credentials },
        body: JSON.stringify(passphrase === undefined ? {} : { passphrase }),
      });
  }
}

export type Reading =
  | { readonly is: 'released'; readonly value: string }
  | { readonly is: 'burned'; readonly by: Burner }
  /** Exactly the answer for a gone or unknown secret. */
  | { readonly is: 'lost' }
  /** 503: nothing was consumed. */
  | { readonly is: 'unavailable' }
  | { readonly is: 'strange'; readonly answer: RawAnswer };

function isUnknownV1(answer: RawAnswer, key: string): boolean {
  return (
    answer.status === 404 && answer.body === JSON.stringify({ message: 'Unknown secret', secret_key: key })
  );
}

function readRevealV1(answer: RawAnswer, key: string): Reading {
  if (isUnknownV1(answer, key)) return { is: 'lost' };
  if (answer.status !== 200) return { is: 'strange', answer };
  const { value, secret_key } = JSON.parse(answer.body);
  return typeof value === 'string' && secret_key === key
    ? { is: 'released', value }
    : { is: 'strange', answer };
}

function isUnknownV2({ status, body: text }: RawAnswer, key: string): boolean {
  const body = JSON.parse(text);
  return (
    status === 404 && body.error === 'unknown_secret' && body.secret_key === key && body.success === false
  );
}

function readBurnByLink(answer: RawAnswer, key: string): Reading {
  if (isUnknownV2(answer, key)) return { is: 'lost' };
  const { record } = JSON.parse(answer.body);
  const isBurned = answer.status === 200 && record?.state === 'burned' && record?.key === key;
  return isBurned ? { is: 'burned', by: 'recipient' } : { is: 'strange', answer };
}

function readRevealV2(answer: RawAnswer, key: string): Reading {
  const body = JSON.parse(answer.body);
  if (isUnknownV2(answer, key)) return { is: 'lost' };
  const value = body.record?.secret_value;
  if (answer.status === 200 && body.success === true && typeof value === 'string')
    return { is: 'released', value };
  return { is: 'strange', answer };
}

function readBurnV1(answer: RawAnswer, key: string): Reading {
  if (isUnknownV1(answer, key)) return { is: 'lost' };
  const body = JSON.parse(answer.body);
  const isBurned = body.status === 'burned' && body.state?.state === 'burned' && body.metadata_key === key;
  return answer.status === 200 && isBurned ? { is: 'burned', by: 'creator' } : { is: 'strange', answer };
}

function readBurnV2(answer: RawAnswer, key: string): Reading {
  const body = JSON.parse(answer.body);
  const record = body.record?.metadata ?? body.record;
  if (answer.status === 409 && body.error === 'already_gone' && record?.is_destroyed === true)
    return { is: 'lost' };
  const isBurned = record?.state === 'burned' && record?.is_burned === true && record?.key === key;
  return answer.status === 200 && isBurned ? { is: 'burned', by: 'creator' } : { is: 'strange', answer };
}

export function readAttempt({ door, made }: Attempt, answer: RawAnswer): Reading {
  if (answer.status === 503)
    return answer.headers.has('retry-after') ? { is: 'unavailable' } : { is: 'strange', answer };
  switch (door) {
    case 'v1.reveal':
      return readRevealV1(answer, made.secretKey);
    case 'v2.reveal':
      return readRevealV2(answer, made.secretKey);
    case 'v1.burn':
      return readBurnV1(answer, made.metadataKey);
    case 'v2.burn':
      return readBurnV2(answer, made.metadataKey);
    case 'v2.link.burn':
      return readBurnByLink(answer, made.secretKey);
  }
}

/** The receipt by GET, which changes nothing. */
export function receiptRequest(made: Made, basic: string): Buffer {
  return requestBytes({
    method: 'GET',
    path: `/api/v1/private/${made.metadataKey}`,
    headers: withBasic(basic),
  });
}

/** `new`, `viewed`, `received`, `burned` or `expired`; `missing` for an unknown one. */
export function readReceiptState(answer: RawAnswer): string {
  if (answer.status === 404) return 'missing';
  if (answer.status !== 200) return `answer ${answer.status}`;
  return String(JSON.parse(answer.body).state);
}

/** The record that says who burned. */
export function recordRequest(made: Made, basic: string): Buffer {
  const path = `/api/v2/private/${made.metadataKey}`;
  return requestBytes({ method: 'GET', path, headers: withBasic(basic) });
}

/** `creator`, `recipient` or nobody, as the record says it. */
export function readBurner(answer: RawAnswer): Burner | null {
  return JSON.parse(answer.body).record?.burned_by || null;
}
