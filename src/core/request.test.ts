/** Proves what a mailbox row says, and when a request takes an answer. */
import { describe, expect, it } from 'bun:test';
import boxes from '../../test/vectors/boxes.json';
import type { AccountId } from './account.ts';
import type { ReceiptId, RequestId, SecretKey } from './keys.ts';
import {
  answerContent,
  freePlaces,
  maxAnswers,
  parseAnswerContent,
  requestStateOf,
  type StoredRequest,
} from './request.ts';

const bytesOf = (hex: string) => Uint8Array.fromHex(hex);
const { input, derived } = boxes;
const facts = {
  secretKey: input.secret_key as SecretKey,
  receiptId: bytesOf(derived.mid) as ReceiptId,
  wrapped: bytesOf(input.answer_wrapped),
  linkHash: bytesOf(input.answer_link_hash),
  createdAt: input.answer_time,
  sizeBytes: input.answer_size,
};

describe('the content of an answer’s box', () => {
  it('is the frozen one, and is read back', () => {
    expect(answerContent(facts).toHex()).toBe(derived.answer_content);
    expect(parseAnswerContent(bytesOf(derived.answer_content))).toEqual(facts);
  });

  it('has one length, and nothing else is read', () => {
    const content = bytesOf(derived.answer_content);
    expect(parseAnswerContent(content.slice(1))).toBeNull();
    expect(parseAnswerContent(Uint8Array.of(...content, 0))).toBeNull();
    expect(parseAnswerContent(content.fill(0))).toBeNull();
  });
});

const request: StoredRequest = {
  id: new Uint8Array(16) as RequestId,
  owner: 1 as AccountId,
  ownerHash: new Uint8Array(32),
  askHash: new Uint8Array(32),
  terms: new Uint8Array(272),
  places: 2,
  createdAt: 1,
  until: 2,
  answerTtlSeconds: 60,
  notify: false,
  shareDomain: '',
  isEnded: false,
  taken: 1,
  answered: 1,
  updatedAt: 1,
  reports: 0,
};

it('a request has its free places, until it is ended or has had all answers of its life', () => {
  const cases = [
    [{}, 1, 'open'],
    [{ taken: 2, answered: 2 }, 0, 'full'],
    [{ taken: 1, answered: maxAnswers }, 0, 'full'],
    [{ taken: 0, answered: maxAnswers - 1 }, 1, 'open'],
    [{ isEnded: true }, 0, 'ended'],
  ] as const;
  for (const [changes, free, state] of cases) {
    const changed = { ...request, ...changes };
    expect([freePlaces(changed), requestStateOf(changed)]).toEqual([free, state]);
  }
});
