/** What a load generator is asked to do and answers: one line of JSON each way. */
import { prove, seal } from '../sdk/sealing.ts';

/** One trip of each kind, on one connection. */
export type JobKind =
  | 'get'
  | 'page'
  | 'create-v1-form'
  | 'create-v1-json'
  | 'create-v2'
  | 'trip-v1'
  | 'trip-v2'
  | 'create-sealed'
  | 'trip-sealed'
  | 'passphrase-create-v1'
  | 'passphrase-trip-v1'
  | 'reveal-v1'
  | 'create-large'
  | 'create-yopass'
  | 'trip-yopass'
  | 'create-ots'
  | 'trip-ots';

export interface Job {
  readonly kind: JobKind;
  readonly port: number;
  readonly connections: number;
  /** Trips in all. */
  readonly trips: number;
  /** Of a page; the other kinds have theirs. */
  readonly path?: string;
  /** Of `reveal-v1`: as many as trips. */
  readonly keys?: readonly string[];
  /** Of creates through v1: how many for each key that is given back; none if absent. */
  readonly keepEach?: number;
}

export interface JobResult {
  readonly trips: number;
  /** Of secrets, in the order in which they were made. */
  readonly keys: readonly string[];
  readonly seconds: number;
  /** Of single requests, in milliseconds. */
  readonly p50Milliseconds: number;
  readonly p99Milliseconds: number;
  /** The generator's own processor time, which shows whether it was the one that could do no more. */
  readonly generatorCpuSeconds: number;
}

export interface JobRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface JobAnswer {
  readonly status: number;
  readonly body: string;
}

/** 48 bytes: a long password. */
export const benchValue = 'a value of forty-eight bytes, for the benchmark.';
export const benchPassphrase = 'correct horse battery staple';

const formOf = (fields: Record<string, string>) => new URLSearchParams(fields).toString();
const postForm = (path: string, fields: Record<string, string>) =>
  post(path, 'application/x-www-form-urlencoded', formOf(fields));
const postJson = (path: string, value: unknown) => post(path, 'application/json', JSON.stringify(value));

function post(path: string, contentType: string, body: string): JobRequest {
  return { method: 'POST', path, headers: { 'Content-Type': contentType }, body };
}

function get(path: string, headers: Record<string, string> = {}): JobRequest {
  return { method: 'GET', path, headers, body: '' };
}

interface Trip {
  readonly first: JobRequest;
  /** For the secret that the first answer names; `null`: the trip has one request. */
  readonly second: ((answer: string) => JobRequest) | null;
  /** Of the first answer; 200 if absent. The second is 200. */
  readonly madeStatus?: number;
  /** What the last answer has of what was sent. */
  readonly kept: string;
}

/** The key in a create's answer. Not parsed as JSON, because that would be the generator's work and not the server's. */
function keyAfter(mark: string, answer: string): string {
  const at = answer.indexOf(mark);
  if (at === -1) throw new Error(`an answer without a key: ${answer}`);
  return answer.slice(at + mark.length, answer.indexOf('"', at + mark.length));
}

export const keyOfV1 = (answer: string) => keyAfter('"secret_key":"', answer);
const keyOfV2 = (answer: string) => keyAfter('"secret_identifier":"', answer);

const createForm = postForm('/api/v1/share', { secret: benchValue });
const createGuarded = postForm('/api/v1/share', { secret: benchValue, passphrase: benchPassphrase });
const createV2 = postJson('/api/v2/secret/conceal', { secret: { secret: benchValue } });

const noPassphrase = () => Promise.reject(new Error('nothing to stretch'));
/** The same for every trip: what a client computes is no part of the server's cost. */
const { sealed, fragment } = await seal({
  ...{ content: { kind: 'text', text: benchValue }, passphrase: null, stretch: noPassphrase },
});
const { linkProof, proof } = await prove(fragment, null, noPassphrase);
/** What a plan without an account allows, nearly. */
const large = await seal({
  ...{ content: { kind: 'text', text: 'x'.repeat(99_000) }, passphrase: null, stretch: noPassphrase },
});
export const revealV1 = (key: string) => postForm(`/api/v1/secret/${key}`, {});
const createSealed = postJson('/api/v2/secret/conceal', { secret: { sealed } });

/** What their own clients send for the same value: it was sealed there. */
const armored = `-----BEGIN PGP MESSAGE-----

jA0ECQMCOtHvXg2ntFL/0mQBGJQHe5Jqc04U8iGq2hZhdsmh1mAtDUReA6rxt15b
ko/tYSD4VTA9By5usXM5Y0sEoyPKeJ9qJm36dyKxWC9NaOH82Psd71OZiDbxhZRX
c7aBAmU6m6DXJlUBBfEEzmilUUwx
=10+R
-----END PGP MESSAGE-----
`;
const salted = `U2FsdGVkX18${'A'.repeat(97)}`;
const createYopass = postJson('/create/secret', { message: armored, expiration: 3_600, one_time: true });
const createOts = postJson('/api/create', { secret: salted });

const trips: Readonly<Record<Exclude<JobKind, 'page'>, Omit<Trip, 'kept'>>> = {
  get: { first: get('/'), second: null },
  'create-v1-form': { first: createForm, second: null },
  'create-v1-json': { first: postJson('/api/v1/share', { secret: benchValue }), second: null },
  'create-v2': { first: createV2, second: null },
  'trip-v1': {
    first: createForm,
    second: (answer) => revealV1(keyOfV1(answer)),
  },
  'trip-v2': {
    first: createV2,
    second: (answer) => postJson(`/api/v2/secret/${keyOfV2(answer)}/reveal`, {}),
  },
  'create-sealed': { first: createSealed, second: null },
  'trip-sealed': {
    first: createSealed,
    second: (answer) =>
      postJson(`/api/v2/secret/${keyOfV2(answer)}/reveal`, { link_proof: linkProof, proof }),
  },
  'passphrase-create-v1': { first: createGuarded, second: null },
  'passphrase-trip-v1': {
    first: createGuarded,
    second: (answer) => postForm(`/api/v1/secret/${keyOfV1(answer)}`, { passphrase: benchPassphrase }),
  },
  // The first request is another for each key.
  'reveal-v1': { first: revealV1(''), second: null },
  'create-large': {
    first: postJson('/api/v2/secret/conceal', { secret: { sealed: large.sealed } }),
    second: null,
  },
  'create-yopass': { first: createYopass, second: null },
  'trip-yopass': {
    first: createYopass,
    second: (answer) => get(`/secret/${keyAfter('"message":"', answer)}`),
  },
  'create-ots': { first: createOts, second: null, madeStatus: 201 },
  'trip-ots': {
    ...{ first: createOts, madeStatus: 201 },
    second: (answer) => get(`/api/get/${keyAfter('"secret_id":"', answer)}`),
  },
};

const keptOf: Partial<Record<JobKind, string>> = {
  'trip-sealed': sealed.ciphertext,
  'trip-yopass': armored.split('\n')[2] ?? '',
  'trip-ots': salted,
};

export function tripOf({ kind, path = '/' }: Pick<Job, 'kind' | 'path'>): Trip {
  // As browsers ask for it; nothing else here is compressed.
  if (kind === 'page') return { first: get(path, { 'Accept-Encoding': 'gzip' }), second: null, kept: '' };
  return { ...trips[kind], kept: keptOf[kind] ?? benchValue };
}

export const requestsPerTrip = (kind: JobKind): number => (tripOf({ kind }).second === null ? 1 : 2);
