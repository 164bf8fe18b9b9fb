import { describe, expect, it } from 'bun:test';
import type { MetadataKey, SecretKey } from '../../core/keys.ts';
import type {
  BurnOutcome,
  CreationOutcome,
  ReceiptView,
  RevealOutcome,
} from '../../core/secrets/outcomes.ts';
import { Sensitive } from '../../core/sensitive.ts';
import type { Problem } from '../../http/problem.ts';
import { dialectOf } from './dialect.ts';
import {
  burnedRecord,
  encodeBurn,
  encodeCreation,
  encodeReceipt,
  encodeRecent,
  encodeRecord,
  encodeReveal,
  generatedRecord,
  metadataRecord,
  recentRecords,
  revealedSecret,
} from './record.ts';
import { encodeCreationRefusal, encodeKeyRefusal, encodeProblem } from './refusals.ts';

const documented = dialectOf('documented');
const upstream = dialectOf('upstream');
const links = {
  receiptUrl: (key: MetadataKey) => `https://site.example/receipt/${key}`,
  linkOrigin: (shareDomain: string) => `https://${shareDomain || 'site.example'}`,
};
const asDocumented = { dialect: documented, links };
const asUpstream = { dialect: upstream, links };
const secretKey = 's'.repeat(31) as SecretKey;
const metadataKey = 'm'.repeat(31) as MetadataKey;

const waiting: ReceiptView = {
  custid: 'anon',
  metadataKey,
  secretKey,
  secretShortkey: 'ssssss',
  state: 'new',
  ttlSeconds: 3_600,
  secretTtlSeconds: 3_000,
  longestTtlSeconds: 604_200,
  metadataTtlSeconds: 6_600,
  recipient: null,
  shareDomain: '',
  hasPassphrase: false,
  sealed: false,
  createdAt: 1_746_700_000,
  updatedAt: 1_746_700_000,
  viewedAt: null,
  receivedAt: null,
  burnedAt: null,
  burnedBy: null,
  delivery: null,
  notify: [],
  memo: '',
  codes: [],
  verify: false,
  locked: null,
};
const gone = { secretKey: null, secretTtlSeconds: null, updatedAt: 1_746_700_010 };
const received: ReceiptView = { ...waiting, ...gone, state: 'received', receivedAt: 1_746_700_010 };
const burned: ReceiptView = {
  ...waiting,
  ...gone,
  state: 'burned',
  burnedAt: 1_746_700_010,
  burnedBy: 'creator',
};
/** Shown on pages, never on the wire. */
const guessesLeft = { attemptsLeft: 4, moreAfterSeconds: 600, needsCreator: false };
const withRecipient: ReceiptView = { ...waiting, recipient: 'jo*****@e*****.org' };

const recordFields =
  'custid metadata_key secret_key ttl metadata_ttl secret_ttl state share_domain passphrase_required created updated';

function fieldsOf(value: object): string {
  return Object.keys(value).join(' ');
}

describe('the metadata record', () => {
  it('has its fields in the order of the contract', () => {
    expect(fieldsOf(encodeRecord(waiting, asDocumented))).toBe(recordFields);
    expect(fieldsOf(encodeRecord({ ...withRecipient, state: 'received', receivedAt: 1 }, asDocumented))).toBe(
      'custid metadata_key secret_key ttl metadata_ttl secret_ttl state recipient share_domain passphrase_required created updated received',
    );
  });
  it('without a secret leaves out its key and its ttl, and keeps whether a passphrase was required', () => {
    for (const view of [received, burned, { ...waiting, ...gone, state: 'expired' as const }]) {
      const record = encodeRecord({ ...view, hasPassphrase: true }, asDocumented);
      expect(fieldsOf(record)).toBe(
        `custid metadata_key ttl metadata_ttl state share_domain passphrase_required created updated${
          view.state === 'received' ? ' received' : ''
        }`,
      );
      expect(record.passphrase_required).toBe(true);
    }
  });
  it('names the recipient as a text, and in the upstream dialect as a list', () => {
    expect(encodeRecord(withRecipient, asDocumented).recipient).toBe('jo*****@e*****.org');
    expect(encodeRecord(withRecipient, asUpstream).recipient).toEqual(['jo*****@e*****.org']);
    expect(encodeRecord(waiting, asUpstream).recipient).toEqual([]);
  });
  it('fits its schema in every state', () => {
    for (const view of [waiting, withRecipient, received, burned]) {
      expect(metadataRecord.parse(encodeRecord(view, asDocumented))).toBeDefined();
    }
  });
});

describe('the answers of v1', () => {
  it('put the generated value last', () => {
    const outcome: CreationOutcome = { outcome: 'created', receipt: waiting, value: new Sensitive('v4lue') };
    const reply = encodeCreation(outcome, asDocumented);
    expect([reply.status, fieldsOf(reply.body as object)]).toEqual([200, `${recordFields} value`]);
    expect(generatedRecord.parse(reply.body).value).toBe('v4lue');
  });
  it('put status, state and secret_shortkey of a burn last', () => {
    const reply = encodeBurn({ outcome: 'burned', receipt: burned }, metadataKey, asDocumented);
    expect(fieldsOf(reply.body as object)).toBe(
      'custid metadata_key ttl metadata_ttl share_domain passphrase_required created updated status state secret_shortkey',
    );
    const body = burnedRecord.parse(reply.body);
    expect([body.status, body.state.state, body.secret_shortkey]).toEqual(['burned', 'burned', 'ssssss']);
  });
  it('show no secret key in the recent list, whatever the service says (P16)', () => {
    const reply = encodeRecent([waiting, received], asDocumented);
    expect(JSON.stringify(reply.body)).not.toContain(secretKey);
    expect(recentRecords.parse(reply.body)[0]).toMatchObject({
      secret_ttl: 3_000,
      passphrase_required: false,
    });
  });
  it('give the value of a reveal with the domain, or in the upstream dialect the origin of the link', () => {
    const secret = { ...waiting, secretKey, state: 'received' as const, secretTtlSeconds: 1, isOwner: false };
    const outcome: RevealOutcome = {
      outcome: 'revealed',
      secret,
      content: { kind: 'value', value: new Sensitive('v') },
    };
    const reply = encodeReveal(outcome, secretKey, asDocumented);
    expect(revealedSecret.parse(reply.body)).toEqual({ secret_key: secretKey, value: 'v', share_domain: '' });
    expect(encodeReveal(outcome, secretKey, asUpstream).body).toMatchObject({
      share_domain: 'https://site.example',
    });
  });
});

const creationRefusals: [Parameters<typeof encodeCreationRefusal>[0], number, string][] = [
  [{ outcome: 'nothing_to_share' }, 400, 'You did not provide anything to share'],
  [
    { outcome: 'ill_formed', field: 'passphrase' },
    400,
    'The parameter "passphrase" is not well-formed text.',
  ],
  [
    { outcome: 'value_too_large', maxBytes: 5_000 },
    413,
    'The secret is too large: at most 5000 bytes (UTF-8) are allowed.',
  ],
  [
    { outcome: 'passphrase_too_long', maxBytes: 1_024 },
    400,
    'The passphrase is too long: at most 1024 bytes (UTF-8) are allowed.',
  ],
  [{ outcome: 'recipient_needs_account' }, 401, 'An account is required to send emails.'],
  [{ outcome: 'account_required' }, 401, 'An account is required to create secrets.'],
  [{ outcome: 'undeliverable_recipient', recipient: 'x' }, 400, 'Undeliverable email address: x'],
  [{ outcome: 'unknown_share_domain', shareDomain: 'd.example' }, 400, 'Unknown domain: d.example'],
];

const problems: [Problem, number, number, string, upstreamMessage?: string][] = [
  [{ problem: 'malformed', message: 'Bad.' }, 400, 404, 'Bad.'],
  [{ problem: 'invalid_fields', errors: [{ field: 'ttl', message: 'Bad.' }] }, 400, 404, 'Bad.'],
  [{ problem: 'not_authorized' }, 401, 404, 'Not authorized'],
  [{ problem: 'not_found' }, 404, 404, 'Not Found'],
  [{ problem: 'method_not_allowed', allow: 'GET' }, 405, 404, 'Method Not Allowed', 'Not Found'],
  [{ problem: 'unsupported_media_type' }, 415, 415, 'Send the body as it is, without a Content-Encoding.'],
  [
    { problem: 'body_too_large', capBytes: 65_536 },
    413,
    404,
    'The request body is too large: at most 65536 bytes are accepted.',
  ],
  [
    { problem: 'scope_missing', scope: 'create' },
    403,
    404,
    'This API token may not do that: it lacks the scope "create".',
  ],
];

describe('the refusals of v1', () => {
  for (const [refused, status, message] of creationRefusals) {
    it(`say ${refused.outcome} as ${status}, and as 404 in the upstream dialect`, () => {
      expect(encodeCreationRefusal(refused, documented)).toMatchObject({ status, body: { message } });
      expect(encodeCreationRefusal(refused, upstream)).toMatchObject({ status: 404, body: { message } });
    });
  }
  for (const [problem, status, upstreamStatus, message, upstreamMessage = message] of problems) {
    it(`say the problem ${problem.problem} as ${status}, upstream ${upstreamStatus}`, () => {
      expect(encodeProblem(problem, documented)).toMatchObject({ status, body: { message } });
      expect(encodeProblem(problem, upstream)).toMatchObject({
        status: upstreamStatus,
        body: { message: upstreamMessage },
      });
    });
  }

  it('keep 403, 429, 500 and 503 in both dialects, each with a sentence', () => {
    const kept: [Problem, number][] = [
      [{ problem: 'cross_site' }, 403],
      [{ problem: 'rate_limited', retryAfterSeconds: 7 }, 429],
      [{ problem: 'internal', requestId: 'r1' }, 500],
      [{ problem: 'unavailable', retryAfterSeconds: 2 }, 503],
      [{ problem: 'storage_full', retryAfterSeconds: 60 }, 503],
    ];
    for (const [problem, status] of kept) {
      for (const dialect of [documented, upstream]) {
        const reply = encodeProblem(problem, dialect);
        expect(reply.status).toBe(status);
        expect((reply.body as { message: string }).message.length).toBeGreaterThan(20);
      }
    }
  });

  it('name the seconds to wait in the header and in the sentence', () => {
    const reply = encodeProblem({ problem: 'rate_limited', retryAfterSeconds: 7 }, documented);
    expect([reply.headers?.['retry-after'], JSON.stringify(reply.body)]).toEqual([
      '7',
      expect.stringContaining('7 seconds'),
    ]);
    expect(
      JSON.stringify(encodeProblem({ problem: 'unavailable', retryAfterSeconds: 1 }, documented).body),
    ).toContain('in 1 second.');
  });

  it('say unknown, wrong and missing passphrase in the same bytes (P17)', () => {
    for (const dialect of [documented, upstream]) {
      const replies = (['unknown', 'passphrase_missing', 'passphrase_wrong'] as const).map((outcome) =>
        JSON.stringify(encodeKeyRefusal({ outcome, ...guessesLeft }, 'as-given', dialect)),
      );
      expect(new Set(replies).size).toBe(1);
      expect(replies[0]).toBe(
        JSON.stringify({
          status: 404,
          body: { message: 'Unknown secret', secret_key: 'as-given' },
        }),
      );
    }
  });

  it('say a burn that came too late as unknown, with the metadata key as given', () => {
    const late: BurnOutcome = { outcome: 'already_gone', receipt: received };
    expect(encodeBurn(late, 'given', asDocumented).body).toEqual({
      message: 'Unknown secret',
      secret_key: 'given',
    });
    expect(encodeReceipt({ outcome: 'unknown' }, 'given', asDocumented).body).toEqual({
      message: 'Unknown secret',
      secret_key: 'given',
    });
  });

  it('ask the upstream dialect for the passphrase of a protected burn', () => {
    expect(encodeBurn({ outcome: 'passphrase_wrong', ...guessesLeft }, 'given', asUpstream)).toMatchObject({
      status: 404,
      body: { message: 'Double check that passphrase' },
    });
  });

  it('bound attempts with 429 and Retry-After in both dialects (P14)', () => {
    for (const dialect of [documented, upstream]) {
      const replyOf = (needsCreator: boolean) =>
        encodeKeyRefusal(
          { outcome: 'attempts_exhausted', retryAfterSeconds: 600, needsCreator },
          'k',
          dialect,
        );
      expect([replyOf(false).status, replyOf(false).headers?.['retry-after']]).toEqual([429, '600']);
      expect(replyOf(true)).toMatchObject({ status: 429, headers: { 'retry-after': '600' } });
      const [later, forGood] = [false, true].map((each) => JSON.stringify(replyOf(each).body));
      expect(later).toContain('Wait, then try again in 600 seconds.');
      expect(forGood).toContain('until its creator allows more');
      expect(forGood).not.toContain('try again in');
    }
  });
});
