/** Requests and answers for the checks, each with its own random bytes. */
import { strict as assert } from 'node:assert';
import { randomBytes } from 'node:crypto';
import type { RequestId } from '../../../src/core/keys.ts';
import type {
  AnswerId,
  NewAnswer,
  NewRequest,
  StoredAnswer,
  StoredRequest,
} from '../../../src/core/request.ts';
import type { NewRecord } from '../../../src/core/secret.ts';
import type { Store } from '../../../src/store/store.ts';
import { newRecord } from './check.ts';

export const openSeconds = 3_600;
export const answerTtlSeconds = 600;

const bytes = (length: number): Uint8Array => new Uint8Array(randomBytes(length));

export const newRequest = (store: Store, changes: Partial<NewRequest> = {}): NewRequest => ({
  id: bytes(16) as RequestId,
  owner: null,
  ownerHash: bytes(32),
  askHash: bytes(32),
  terms: bytes(272),
  places: 1,
  createdAt: store.now(),
  until: store.now() + openSeconds,
  answerTtlSeconds,
  notify: false,
  shareDomain: '',
  ...changes,
});

/** Stores a fresh request and returns it. */
export async function ask(store: Store, changes: Partial<NewRequest> = {}): Promise<NewRequest> {
  const request = newRequest(store, changes);
  assert.equal(await store.putRequest(request, null), 'stored');
  return request;
}

export const newAnswer = (
  store: Store,
  { id: requestId, owner, answerTtlSeconds }: NewRequest,
  changes: Partial<NewRecord> = {},
): NewAnswer => {
  const [now, ttl] = [store.now(), answerTtlSeconds];
  const record = {
    owner,
    recentBox: null,
    sealed: true,
    expiresAt: now + ttl,
    receiptExpiresAt: now + 2 * ttl,
    ...changes,
  };
  return { requestId, id: bytes(16) as AnswerId, box: bytes(240), record: newRecord(now, record) };
};

/** Stores a fresh answer and returns it. */
export async function answer(
  store: Store,
  request: NewRequest,
  changes: Partial<NewRecord> = {},
): Promise<NewAnswer> {
  const given = newAnswer(store, request, changes);
  assert.equal(await store.putAnswer(given), 'stored');
  return given;
}

export const stored = ({ id, box }: NewAnswer, isDiscarded = false): StoredAnswer => ({
  id,
  box,
  isDiscarded,
});

/** The request as the store returns it: unanswered and unchanged, but for `changes`. */
export const kept = (request: NewRequest, changes: Partial<StoredRequest> = {}): StoredRequest => ({
  ...request,
  isEnded: false,
  taken: 0,
  answered: 0,
  updatedAt: request.createdAt,
  reports: 0,
  ...changes,
});

export async function knownRequest(store: Store, { id }: Pick<NewRequest, 'id'>): Promise<StoredRequest> {
  const request = await store.findRequest(id);
  assert.ok(request !== null, 'a request was not found');
  return request;
}

/** What answering a request leads to. */
export const outcomeOf = async (store: Store, request: NewRequest): Promise<string> => {
  const outcome = await store.putAnswer(newAnswer(store, request));
  return typeof outcome === 'string' ? outcome : 'repeated';
};

export const many = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make);

/** The answers whose secrets wait. */
export async function waiting(store: Store, answers: readonly NewAnswer[]): Promise<NewAnswer[]> {
  const secrets = await Promise.all(answers.map(({ record }) => store.findSecret(record.secretId)));
  return answers.filter((_, n) => secrets[n] !== null);
}

/** Sends answers at once; as many as were stored have their secret and their row, and no other. */
export async function assertStored(
  store: Store,
  request: NewRequest,
  answers: readonly NewAnswer[],
): Promise<number> {
  const outcomes = await Promise.all(answers.map((each) => store.putAnswer(each)));
  const won = answers.filter((_, n) => outcomes[n] === 'stored');
  assert.deepEqual(await waiting(store, answers), won);
  const rows = (await store.listAnswers(request.id)).map(({ id }) => id.toHex());
  const ours = answers.filter(({ id }) => rows.includes(id.toHex()));
  assert.deepEqual(ours, won, 'the mailbox and the secrets differ');
  return won.length;
}

export const sweepAll = async (store: Store): Promise<void> => {
  while ((await store.sweep(3)) > 0);
};
