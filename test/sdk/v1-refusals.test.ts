/** The refusals of v1 as errors: the code is the one that v2 answers to the same problem, in both dialects. */
import { describe, expect, it } from 'bun:test';
import { v1 } from '../../sdk/v1-refusals.ts';
import { dialectOf, differences } from '../../src/api/v1/dialect.ts';
import {
  encodeCreationRefusal,
  encodeKeyRefusal,
  encodeProblem,
  encodeUnprovenBurn,
} from '../../src/api/v1/refusals.ts';
import { codeOfProblem } from '../../src/api/v2/refusals.ts';
import type { CreationOutcome } from '../../src/core/secrets/outcomes.ts';
import type { Reply } from '../../src/http/operation.ts';
import type { Problem } from '../../src/http/problem.ts';

const dialects = ['documented', 'upstream'] as const;

function errorOf({ status, body, headers }: Reply) {
  const init = headers === undefined ? { status } : { status, headers };
  return v1.errorOf(Response.json(body, init), body);
}

const problems: { readonly [Name in Problem['problem']]: Extract<Problem, { problem: Name }> } = {
  malformed: { problem: 'malformed', message: 'The body is not valid JSON.' },
  invalid_fields: {
    problem: 'invalid_fields',
    errors: [{ field: 'ttl', message: 'The ttl must be a whole number.' }],
  },
  unsupported_media_type: { problem: 'unsupported_media_type' },
  body_too_large: { problem: 'body_too_large', capBytes: 70_000 },
  not_found: { problem: 'not_found' },
  method_not_allowed: { problem: 'method_not_allowed', allow: 'GET' },
  not_authorized: { problem: 'not_authorized' },
  scope_missing: { problem: 'scope_missing', scope: 'create' },
  cross_site: { problem: 'cross_site' },
  rate_limited: { problem: 'rate_limited', retryAfterSeconds: 7 },
  unavailable: { problem: 'unavailable', retryAfterSeconds: 7 },
  storage_full: { problem: 'storage_full', retryAfterSeconds: 7 },
  internal: { problem: 'internal', requestId: 'x' },
};

type CreationRefusal = Exclude<CreationOutcome, { outcome: 'created' }>;

/** Each with the code and the field of its error. */
const creations: {
  readonly [Name in CreationRefusal['outcome']]: readonly [
    Extract<CreationRefusal, { outcome: Name }>,
    code: string,
    field: string | null,
  ];
} = {
  nothing_to_share: [{ outcome: 'nothing_to_share' }, 'invalid_field', 'secret'],
  sealed_beside: [{ outcome: 'sealed_beside', field: 'secret' }, 'invalid_field', 'sealed'],
  sealed_wrongly: [{ outcome: 'sealed_wrongly', flaw: 'hash' }, 'invalid_field', 'sealed'],
  sealed_too_large: [{ outcome: 'sealed_too_large', maxBytes: 100_000 }, 'too_large', null],
  ill_formed: [{ outcome: 'ill_formed', field: 'passphrase' }, 'invalid_field', 'passphrase'],
  value_too_large: [{ outcome: 'value_too_large', maxBytes: 10_000 }, 'too_large', null],
  passphrase_too_long: [{ outcome: 'passphrase_too_long', maxBytes: 1_024 }, 'invalid_field', 'passphrase'],
  memo_too_long: [{ outcome: 'memo_too_long', maxCharacters: 500 }, 'invalid_field', 'memo'],
  recipient_needs_account: [{ outcome: 'recipient_needs_account' }, 'account_required', null],
  account_required: [{ outcome: 'account_required' }, 'account_required', null],
  undeliverable_recipient: [
    { outcome: 'undeliverable_recipient', recipient: 'x' },
    'invalid_field',
    'recipient',
  ],
  notify_needs_account: [{ outcome: 'notify_needs_account' }, 'account_required', null],
  too_many_mails: [{ outcome: 'too_many_mails', retryAfterSeconds: 7 }, 'rate_limited', null],
  public_sharing_disabled: [
    { outcome: 'public_sharing_disabled', shareDomain: 'x.example' },
    'public_sharing_disabled',
    null,
  ],
  unknown_share_domain: [
    { outcome: 'unknown_share_domain', shareDomain: 'x.example' },
    'invalid_field',
    'share_domain',
  ],
};

describe('a refusal of v1', () => {
  for (const name of dialects) {
    const dialect = dialectOf(name);

    for (const problem of Object.values(problems))
      it(`has the code of v2 in the dialect ${name}: ${problem.problem}`, () => {
        const { code } = errorOf(encodeProblem(problem, dialect));
        const isUnknownPath = name === 'upstream' && problem.problem === 'method_not_allowed';
        expect(code).toBe(isUnknownPath ? 'not_found' : codeOfProblem[problem.problem]);
      });

    for (const [refused, code, field] of Object.values(creations))
      it(`has a code and names the field in the dialect ${name}: ${refused.outcome}`, () => {
        expect(errorOf(encodeCreationRefusal(refused, dialect))).toMatchObject({ code, field });
      });

    it(`tells limits, times and what a key opens in the dialect ${name}`, () => {
      const large = encodeCreationRefusal({ outcome: 'value_too_large', maxBytes: 10_000 }, dialect);
      expect(errorOf(large).limitBytes).toBe(10_000);
      const key = '0'.repeat(31);
      const tried = { outcome: 'attempts_exhausted', retryAfterSeconds: 9, needsCreator: false } as const;
      expect(errorOf(encodeKeyRefusal(tried, key, dialect))).toMatchObject({
        code: 'too_many_attempts',
        retryAfterSeconds: 9,
      });
      const unknown = errorOf(encodeKeyRefusal({ outcome: 'unknown' }, key, dialect));
      expect([unknown.code, unknown.message.includes(key)]).toEqual(['unknown_secret', false]);
      expect(errorOf(encodeUnprovenBurn(dialect)).code).toBe('incorrect_passphrase');
    });
  }

  it('of another server is told from one of ours', () => {
    for (const [body, status] of [
      [{ error: 'x' }, 404],
      [null, 500],
      [{ message: 'I am a teapot' }, 418],
    ] as const)
      expect(errorOf({ status, body }).code).toBe('unexpected_answer');
  });

  it('has a dialect for each of these tests', () => {
    expect(Object.keys(differences.refusalStatus).filter((key) => key !== 'evidence')).toEqual([...dialects]);
  });
});
