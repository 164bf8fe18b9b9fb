/** What the load generator is asked to do and answers: one line of JSON each way. */

/** One trip of each kind, on one connection. */
export type JobKind =
  | 'get'
  | 'create-v1-form'
  | 'create-v1-json'
  | 'create-v2'
  | 'trip-v1'
  | 'trip-v2'
  | 'passphrase-create-v1'
  | 'passphrase-trip-v1';

export const requestsPerTrip: Readonly<Record<JobKind, number>> = {
  get: 1,
  'create-v1-form': 1,
  'create-v1-json': 1,
  'create-v2': 1,
  'trip-v1': 2,
  'trip-v2': 2,
  'passphrase-create-v1': 1,
  'passphrase-trip-v1': 2,
};

export interface Job {
  readonly kind: JobKind;
  readonly port: number;
  readonly connections: number;
  /** Trips in all. */
  readonly trips: number;
}

export interface JobResult {
  readonly trips: number;
  readonly seconds: number;
  /** Of single requests, in milliseconds. */
  readonly p50Milliseconds: number;
  readonly p99Milliseconds: number;
  /** The generator's own processor time, to show that it was not the one that could do no more. */
  readonly generatorCpuSeconds: number;
}

/** 48 bytes: a long password. */
export const benchValue = 'a value of forty-eight bytes, for the benchmark.';
export const benchPassphrase = 'correct horse battery staple';

export function post(path: string, contentType: string, body: string): Buffer {
  return Buffer.from(
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${contentType}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
}

const form = 'application/x-www-form-urlencoded';
const json = 'application/json';
const formOf = (fields: Record<string, string>) => new URLSearchParams(fields).toString();

/** The first request of a trip. */
export const firstRequest: Readonly<Record<JobKind, Buffer>> = {
  get: Buffer.from('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'),
  'create-v1-form': post('/api/v1/share', form, formOf({ secret: benchValue })),
  'create-v1-json': post('/api/v1/share', json, JSON.stringify({ secret: benchValue })),
  'create-v2': post('/api/v2/secret/conceal', json, JSON.stringify({ secret: { secret: benchValue } })),
  'trip-v1': post('/api/v1/share', form, formOf({ secret: benchValue })),
  'trip-v2': post('/api/v2/secret/conceal', json, JSON.stringify({ secret: { secret: benchValue } })),
  'passphrase-create-v1': post(
    '/api/v1/share',
    form,
    formOf({ secret: benchValue, passphrase: benchPassphrase }),
  ),
  'passphrase-trip-v1': post(
    '/api/v1/share',
    form,
    formOf({ secret: benchValue, passphrase: benchPassphrase }),
  ),
};

/** Where the secret key stands in a create's answer. */
const keyMarks = { v1: '"secret_key":"', v2: '"secret_identifier":"' } as const;

/** The second request, for the secret that the first one's answer names; `null` when the trip has ended. */
export function secondRequest(kind: JobKind, answer: string): Buffer | null {
  if (requestsPerTrip[kind] === 1) return null;
  const version = kind === 'trip-v2' ? 'v2' : 'v1';
  const at = answer.indexOf(keyMarks[version]) + keyMarks[version].length;
  const key = answer.slice(at, at + 31);
  if (kind === 'trip-v2') return post(`/api/v2/secret/${key}/reveal`, json, '{}');
  const fields = kind === 'trip-v1' ? '' : formOf({ passphrase: benchPassphrase });
  return post(`/api/v1/secret/${key}`, form, fields);
}
