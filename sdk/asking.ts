/** Asks for secrets, answers, and reads answers (docs/requests.md). Loaded with the first request. */
import { answersLink, askLink, parseLink, secretLink } from '../src/protocol/link.ts';
import {
  type AnswerState,
  answerStates,
  type RequestState,
  requestStates,
} from '../src/protocol/vocabulary.ts';
import { MayflyError } from './error.ts';
import { type CallOptions, pause, withinOneLimit } from './limit.ts';
import { partsOf } from './link.ts';
import { askAgain } from './lost-answer.ts';
import { assertSecure, contentOf, fullLink, stretch } from './preparing.ts';
import type { Created, SharedFile } from './records.ts';
import { askProofOf, drawRequest, openAsker, openTerms, publicKeyIn, unwrap, wrap } from './request.ts';
import { type Bytes, seal } from './sealing.ts';
import type { Connection } from './transport.ts';
import {
  flag,
  given,
  type Json,
  number,
  orNull,
  read,
  recordOf,
  recordsOf,
  text,
  time,
  type WireOf,
} from './wire.ts';

export interface AskOptions extends CallOptions {
  /** What is asked for: one line of plain text, up to 200 characters, tidied if need be. */
  readonly prompt: string;
  /** How many answers to take, 1–20. Default: 1. */
  readonly answers?: number | undefined;
  /** How long the request takes answers, in whole seconds. As for a secret: the plan has a default and limits. */
  readonly ttlSeconds?: number | undefined;
  /** How long each answer waits to be read. */
  readonly answerTtlSeconds?: number | undefined;
  /** `true`: email the account when an answer comes. Needs an account. */
  readonly notify?: boolean | undefined;
  /** The account's share domain to use in the ask link. */
  readonly shareDomain?: string | undefined;
}

export type AnswerOptions = CallOptions &
  (
    | { readonly value: string; readonly file?: undefined }
    | { readonly file: SharedFile; readonly value?: undefined }
  );

/** One of the three. */
export type RequestChange =
  | { readonly close: true }
  /** From now, in whole seconds. */
  | { readonly ttlSeconds: number }
  /** How many answers to take in all. */
  | { readonly answers: number };

/** A request, as its asker sees it. Except for the prompt, it is the server's word. */
export interface SecretRequest {
  readonly requestKey: string;
  readonly prompt: string;
  readonly state: RequestState;
  /** How many answers it takes in all. */
  readonly answers: number;
  /** How many more it takes now. */
  readonly left: number;
  readonly createdAt: Date;
  readonly until: Date;
}

/** A request, as anyone with the ask link sees it. A stranger wrote the prompt: show it as text, never as markup or a link. */
export interface OpenedRequest extends Pick<SecretRequest, 'requestKey' | 'prompt' | 'state' | 'until'> {
  /** The account that asks, and since when it exists; `null` for somebody without an account. */
  readonly askedBy: { readonly username: string; readonly since: Date } | null;
  /** The largest answer: bytes of a text, or of a file with its name and type. */
  readonly maxSealedBytes: number;
}

export interface Asked {
  /** To give away: anyone who has it may answer. */
  readonly askLink: string;
  /** To keep: it alone opens the answers, and cannot be restored. */
  readonly answersLink: string;
  readonly request: SecretRequest;
}

export interface Answer {
  readonly secretKey: string;
  /** Opens the answer by `reveal`, once. `null` if it is damaged, or of another request: discard it. */
  readonly link: string | null;
  /** `unknown`: gone, and so is its record. */
  readonly state: AnswerState;
  readonly createdAt: Date;
  /** Of the encrypted answer. */
  readonly sizeBytes: number;
  readonly isDiscarded: boolean;
}

export interface Answers {
  readonly request: SecretRequest;
  /** Oldest first. */
  readonly answers: readonly Answer[];
}

/** What an answer's sender may keep, to see by `status` whether it still waits, and to take it back by `burnUnread`. */
export type SentAnswer = Pick<Created, 'secretKey' | 'link'>;

const opened = { state: ['state', requestStates], until: ['until', time], terms: ['terms', text] } as const;

const requestRecord = {
  ...opened,
  key: ['key', text],
  answers: ['answers', number],
  left: ['left', number],
  createdAt: ['created', time],
} as const;

const askerRecord = { username: ['username', text], since: ['since', time] } as const;

const lookRecord = {
  ...opened,
  askedBy: ['asked_by', orNull(askerRecord)],
  maxSealedBytes: ['max_sealed_bytes', number],
} as const;

const answerRecord = {
  secretKey: ['secret_key', text],
  wrapped: ['wrapped', text],
  linkHash: ['link_hash', text],
  state: ['state', answerStates],
  createdAt: ['created', time],
  sizeBytes: ['size', number],
  isDiscarded: ['discarded', flag],
} as const;

export type WireRequest = WireOf<typeof requestRecord>;
export type WireLook = WireOf<typeof lookRecord>;
export type WireAnswer = WireOf<typeof answerRecord>;
export type WireAnswers = Readonly<{ record: WireRequest; records: readonly WireAnswer[] }>;

/** @param ownKey of the link, which counts more than the server's word */
async function toRequest(answer: unknown, publicKey: Bytes, ownKey?: string): Promise<SecretRequest> {
  const { key, terms, ...seen } = read(recordOf(answer), requestRecord);
  return { ...seen, requestKey: ownKey ?? key, prompt: await openTerms(terms, publicKey) };
}

export async function ask(connection: Connection, options: AskOptions): Promise<Asked> {
  const { server, call } = connection;
  const { prompt, answers, ttlSeconds: ttl, answerTtlSeconds: answer_ttl, notify } = options;
  const { shareDomain: share_domain } = options;
  assertSecure(server);
  return withinOneLimit(connection.timeoutMs, options, async (own) => {
    const { sent, publicKey, askEnd, answersEnd } = await drawRequest(prompt);
    const body = given({ ...sent, answers, ttl, answer_ttl, notify, share_domain });
    const request = await toRequest(await call({ method: 'POST', path: '/request', body }, own), publicKey);
    const { requestKey: key } = request;
    return {
      askLink: fullLink(askLink(key, share_domain ?? '', server), key, askEnd),
      answersLink: fullLink(answersLink(key, server), key, answersEnd),
      request,
    };
  });
}

async function openAsk(link: string) {
  const { key, fragment } = partsOf(link, 'ask');
  const publicKey = publicKeyIn(fragment ?? '');
  return { key, path: `/request/${key}`, publicKey, proof: { ask: await askProofOf(publicKey) } };
}

export async function inspectRequest(
  { call }: Connection,
  link: string,
  own?: CallOptions,
): Promise<OpenedRequest> {
  const { key, path, publicKey, proof } = await openAsk(link);
  const answer = await call({ method: 'POST', path: `${path}/look`, body: proof, isRead: true }, own);
  const { terms, ...seen } = read(recordOf(answer), lookRecord);
  return { ...seen, requestKey: key, prompt: await openTerms(terms, publicKey) };
}

export async function reportRequest({ call }: Connection, link: string, own?: CallOptions): Promise<void> {
  const { path, proof } = await openAsk(link);
  await call({ method: 'POST', path: `${path}/report`, body: proof }, own);
}

export async function answer(
  connection: Connection,
  link: string,
  options: AnswerOptions,
): Promise<SentAnswer> {
  const { server, call } = connection;
  assertSecure(server);
  const content = contentOf(options);
  return withinOneLimit(connection.timeoutMs, options, async (own) => {
    // A server that cannot show this link's prompt gets nothing.
    await inspectRequest(connection, link, own);
    const { key, path, publicKey, proof } = await openAsk(link);
    const made = await seal({ content, passphrase: null, stretch });
    const body = { ...proof, sealed: made.sealed, wrapped: await wrap(made, key, publicKey) };
    // The same bytes are stored only once.
    const send = () => call({ method: 'POST', path: `${path}/answer`, body }, own);
    const sent = await askAgain(send, own.signal);
    const { secretKey } = read(recordOf(sent), { secretKey: answerRecord.secretKey });
    return { secretKey, link: fullLink(secretLink(secretKey, '', server), secretKey, made.fragment) };
  });
}

/** Calls an operation that returns the request and its answers. */
export async function answers(
  { call, server }: Connection,
  link: string,
  own?: CallOptions,
  operation: 'answers' | 'change' | 'discard' = 'answers',
  fields: Json = {},
): Promise<Answers> {
  const { key, fragment } = partsOf(link, 'answers');
  const asker = await openAsker(fragment ?? '');
  const body = { owner: asker.ownerProof, ...fields };
  const isRead = operation === 'answers' ? ({ isRead: true } as const) : {};
  const path = `/request/${key}/${operation}`;
  const answer = await call({ method: 'POST', path, body, ...isRead }, own);
  const request = await toRequest(answer, asker.publicKey, key);
  const records = recordsOf(answer).map((record) => read(record, answerRecord));
  const hashes = new Set<string>();
  const single = records.filter(({ linkHash }) => hashes.size < hashes.add(linkHash).size);
  const toAnswer = async ({ wrapped, linkHash, ...seen }: (typeof records)[number]): Promise<Answer> => {
    const { secretKey } = seen;
    const end = await unwrap({ wrapped, link_hash: linkHash }, key, asker);
    // The server names the answers, so each link leads to the client's own server.
    return { ...seen, link: end && fullLink(secretLink(secretKey, '', server), secretKey, end) };
  };
  return { request, answers: await Promise.all(single.map(toAnswer)) };
}

export const discardAnswer = (connection: Connection, link: string, secret_key: string, own?: CallOptions) =>
  answers(connection, link, own, 'discard', { secret_key });

export async function changeRequest(
  connection: Connection,
  link: string,
  change: RequestChange,
  own?: CallOptions,
): Promise<SecretRequest> {
  const body = 'ttlSeconds' in change ? { ttl: change.ttlSeconds } : { ...change };
  if (parseLink(link)?.kind !== 'ask') return (await answers(connection, link, own, 'change', body)).request;
  // The account that asked may have lost the answers link.
  const { key, path, publicKey } = await openAsk(link);
  const changed = await connection.call({ method: 'POST', path: `${path}/change`, body }, own);
  return toRequest(changed, publicKey, key);
}

const [shortestPauseMs, longestPauseMs] = [2_000, 60_000];

/** Returns for how long the server wants to be left alone. Rejects unless asking again may help. */
function waitMsAfter(error: unknown): number {
  if (!(error instanceof MayflyError)) throw error;
  const { code, status, retryAfterSeconds } = error;
  const isPassing = code === 'unreachable' || code === 'timed_out' || status === 429 || (status ?? 0) >= 500;
  if (isPassing) return (retryAfterSeconds ?? 0) * 1_000;
  throw error;
}

/** Asks often at first, then ever more rarely. */
export async function* watchAnswers(
  connection: Connection,
  link: string,
  own: CallOptions = {},
): AsyncIterableIterator<Answers> {
  const begunMs = performance.now();
  for (;;) {
    const found = await answers(connection, link, own).catch(waitMsAfter);
    if (typeof found === 'object') yield found;
    const usualMs = Math.min(Math.max((performance.now() - begunMs) / 10, shortestPauseMs), longestPauseMs);
    const pauseMs = typeof found === 'object' ? usualMs : Math.max(usualMs, found);
    // The next call rejects as aborted.
    if (own.signal?.aborted !== true) await pause(pauseMs, own.signal).catch(() => {});
  }
}
