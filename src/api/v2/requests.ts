/** API v2: asking for secrets. The server keeps a mailbox of answers, which are ordinary end-to-end secrets, and opens none of it. */
import type { output, ZodObject } from 'zod';
import type { Caller } from '../../core/account.ts';
import type { FoundRequest } from '../../core/requests/find.ts';
import type { Mailbox } from '../../core/requests/mailbox.ts';
import type { RequestService } from '../../core/requests/service.ts';
import { creationCapBytesFor } from '../../http/body.ts';
import type { Exchange, Reply } from '../../http/operation.ts';
import { answerFrom, type Table } from '../version.ts';
import { refuseSize, sharingRefusals } from './creation.ts';
import type { Dialect } from './dialect.ts';
import { type Api, define, jsonBody, ok, type V2Operation } from './operation.ts';
import { custidOf } from './records.ts';
import { encodeProblem, refuse, refuseField, refuseRate } from './refusals.ts';
import {
  answerAnswer,
  answerBody,
  answersAnswer,
  askAnswer,
  askBody,
  changeRequestBody,
  closedAnswer,
  discardBody,
  encodeAnswer,
  encodeLook,
  encodeRequest,
  lookAnswer,
  lookBody,
  ownerBody,
  reportAnswer,
} from './request-records.ts';
import { flawMessage, sealedInputOf } from './sealed.ts';
import {
  adjustedTtl,
  encodeIgnored,
  encodeRemarks,
  type FromBody,
  invalidFields,
  keyOf,
  readFields,
} from './wire.ts';

interface Asked<Body extends ZodObject> extends FromBody {
  readonly fields: output<Body>;
  readonly requestKey: string;
}

type Definition<Body extends ZodObject> = Pick<V2Operation, 'name' | 'path' | 'scope' | 'bodyCapBytes'> &
  Partial<Pick<V2Operation, 'access' | 'limit'>> &
  Pick<Parameters<typeof define>[0], 'answers'> & {
    readonly body: Body;
    readonly summary: string;
    readonly description?: string;
    handle(asked: Asked<Body>, caller: Caller, api: Api, exchange: Exchange): Promise<Reply>;
  };

function onRequest<Body extends ZodObject>({ body, summary, description, ...rest }: Definition<Body>) {
  const params = rest.path.includes(':key') ? { params: { key: 'The request key.' } } : {};
  const words = { summary, ...(description !== undefined && { description }), ...params };
  return define({
    ...{ method: 'POST', access: 'anyone', limit: 'manage', ...rest },
    document: { tag: 'Requests', ...words, body: jsonBody(body, true) },
    async decode(exchange: Exchange, dialect: Dialect): Promise<Asked<Body>> {
      return { ...(await readFields(exchange, body, dialect)), requestKey: keyOf(exchange) };
    },
  });
}

type Outcome = Awaited<ReturnType<RequestService[Exclude<keyof RequestService, 'planFor' | 'settled'>]>>;
type Refused = Exclude<Outcome, { outcome: 'found' | 'answered' }>;

const refusalTable: Table<Refused, 'outcome', [requestKey: string, secretKey?: string]> = {
  ...sharingRefusals,
  requests_disabled: () => refuse('requests_disabled'),
  account_required: () =>
    refuse('account_required', { message: 'An account is required to ask for secrets.' }),
  notify_needs_account: () =>
    refuse('account_required', { message: 'An account is required to be notified.' }),
  too_many_places: ({ max }) => refuse('too_many_places', { extra: { max } }),
  too_many_answers: ({ max }) => refuseField('answers', `Must be at most ${max} without an account`),
  places_taken: () => refuseField('answers', 'Must be at least as many as have come'),
  rate_limited: refuseRate,
  unknown: (_, requestKey) => refuse('unknown_request', { extra: { request_key: requestKey } }),
  incomplete_link: () =>
    refuse('incomplete_link', { message: 'The ask link is incomplete: its end, after #, is needed' }),
  sealed_wrongly: ({ flaw }) => refuseField('sealed', flawMessage(flaw)),
  sealed_too_large: ({ maxBytes }) => refuseSize(maxBytes),
  full: () => refuse('request_full'),
  ended: () => refuse('request_ended'),
  unknown_answer: (_, _requestKey, secretKey) =>
    refuse('unknown_secret', { extra: { secret_key: secretKey } }),
};

function refused(outcome: Refused, requestKey: string, secretKey?: string): Reply {
  return answerFrom(refusalTable, 'outcome', outcome, requestKey, secretKey);
}

const ask = onRequest({
  name: 'v2.request',
  path: '/request',
  scope: 'create',
  body: askBody,
  summary: 'Ask for a secret',
  description:
    'Makes a request, which anyone with its ask link may answer. The server gets neither the prompt nor the end of a link. ' +
    '`MAYFLY_REQUESTS` says who may ask.',
  answers: {
    description: 'The request is open. `details.adjusted` says what was granted instead.',
    schema: askAnswer,
    refuses: ['account_required', 'requests_disabled', 'public_sharing_disabled', 'too_many_places'],
  },
  async handle({ fields, ignored }, caller, { requests }, exchange) {
    const { terms, owner_hash: ownerHash, ask_hash: askHash } = fields;
    const [ttlSeconds, answerTtlSeconds] = [fields.ttl, fields.answer_ttl];
    const input = {
      ...{ terms, ownerHash, askHash, ttlSeconds, answerTtlSeconds },
      ...{ places: fields.answers ?? 1, notify: fields.notify ?? false },
      ...{ shareDomain: fields.share_domain, arrivedOn: exchange.request.headers.get('host') },
    };
    const outcome = await requests.ask(input, caller);
    if (outcome.outcome !== 'found') return refused(outcome, '');
    const record = encodeRequest(outcome);
    const { ttl } = adjustedTtl(answerTtlSeconds, record.answer_ttl);
    const adjusted = { ...adjustedTtl(ttlSeconds, record.lifespan), ...(ttl && { answer_ttl: ttl }) };
    const details = encodeRemarks({ adjusted, ignored });
    return ok({ success: true, custid: custidOf(caller), record, details } satisfies output<
      typeof askAnswer
    >);
  },
});

const senderRefuses = ['unknown_request', 'incomplete_link'] as const;

const look = onRequest({
  name: 'v2.requestLook',
  path: '/request/:key/look',
  body: lookBody,
  summary: 'See what is asked for',
  description: 'For the holder of the ask link. Changes nothing.',
  answers: { description: 'The request, open or not.', schema: lookAnswer, refuses: senderRefuses },
  async handle({ fields, ignored, requestKey }, caller, { requests }) {
    const outcome = await requests.look({ requestKey, askProof: fields.ask });
    if (outcome.outcome !== 'found') return refused(outcome, requestKey);
    const [record, details] = [encodeLook(outcome), encodeIgnored(ignored)];
    return ok({ success: true, custid: custidOf(caller), record, details } satisfies output<
      typeof lookAnswer
    >);
  },
});

const report = onRequest({
  name: 'v2.requestReport',
  path: '/request/:key/report',
  body: lookBody,
  summary: 'Report a request',
  description: 'For the operator, who sees how often. Counted once a day for a network.',
  answers: { description: 'Received.', schema: reportAnswer, refuses: senderRefuses },
  async handle({ fields, requestKey }, _caller, { requests }, { clientPrefix }) {
    const outcome = await requests.report({ requestKey, askProof: fields.ask }, clientPrefix);
    if (outcome.outcome !== 'found') return refused(outcome, requestKey);
    return ok({ success: true } satisfies output<typeof reportAnswer>);
  },
});

const answer = onRequest({
  name: 'v2.requestAnswer',
  path: '/request/:key/answer',
  // Counts against the sender's network, even if a client sends credentials with every call.
  access: 'open',
  limit: 'create',
  async bodyCapBytes(_caller, { plans, requests }: Api, { key = '' }) {
    return creationCapBytesFor(plans, await requests.planFor(key));
  },
  body: answerBody,
  summary: 'Answer a request',
  description:
    'Stores an end-to-end secret for the asker. The body may be as large as the `max_sealed_bytes` of the request needs. To send ' +
    'again after a lost answer, send the same bytes: the answer is the same.',
  answers: {
    description: 'It is stored, or was already: then `details.repeated` is true, whatever became of it.',
    schema: answerAnswer,
    refuses: [...senderRefuses, 'request_full', 'request_ended'],
  },
  async handle({ fields, ignored, requestKey }, caller, { requests }) {
    const { ask: askProof, wrapped } = fields;
    const sealed = sealedInputOf(fields.sealed);
    const outcome = await requests.answer({ requestKey, askProof, sealed, wrapped });
    if (outcome.outcome !== 'answered') return refused(outcome, requestKey);
    const record = { secret_key: outcome.secretKey };
    const details = { ...(outcome.isRepeated && { repeated: true as const }), ...encodeIgnored(ignored) };
    return ok({ success: true, custid: custidOf(caller), record, details } satisfies output<
      typeof answerAnswer
    >);
  },
});

/** @param found without its answers for the account that closed it */
function listed(found: Mailbox | FoundRequest, caller: Caller, details: object): Reply {
  const answered = {
    success: true,
    custid: custidOf(caller),
    record: encodeRequest(found),
    details,
  } as const;
  if (!('answers' in found)) return ok(answered satisfies output<typeof closedAnswer>);
  const records = found.answers.map(encodeAnswer);
  return ok({ ...answered, records, count: records.length } satisfies output<typeof answersAnswer>);
}

const answers = onRequest({
  name: 'v2.requestAnswers',
  path: '/request/:key/answers',
  body: ownerBody,
  summary: 'List the answers to a request',
  description: 'For the holder of the answers link. Changes nothing. To wait for answers, ask again.',
  answers: {
    description: 'The request, and all its answers.',
    schema: answersAnswer,
    refuses: ['unknown_request'],
  },
  async handle({ fields, ignored, requestKey }, caller, { requests }) {
    const outcome = await requests.answers({ requestKey, ownerProof: fields.owner });
    if (outcome.outcome !== 'found') return refused(outcome, requestKey);
    return listed(outcome, caller, encodeIgnored(ignored));
  },
});

/** Reads exactly one change. */
function changeIn({ close, ttl: ttlSeconds, answers: places }: output<typeof changeRequestBody>) {
  const isClosed = close !== undefined && close !== null;
  const changes = [
    ...(isClosed ? [{ close: true } as const] : []),
    ...(ttlSeconds === null ? [] : [{ ttlSeconds }]),
    ...(places === null ? [] : [{ places }]),
  ];
  const [change] = changes;
  if (change !== undefined && changes.length === 1) return change;
  throw invalidFields({ field: '', message: 'Must have one of close, ttl and answers' });
}

const changeRequest = onRequest({
  name: 'v2.requestChange',
  path: '/request/:key/change',
  body: changeRequestBody,
  summary: 'Close a request, or change its end or its places',
  description:
    'For the holder of the answers link. An end is for ever. The account that asked may close its request without `owner`, with ' +
    'a token of the scope `manage`: the answer is then the request alone.',
  answers: {
    description: 'The request as it now is, and all its answers.',
    schema: answersAnswer.or(closedAnswer),
    refuses: ['unknown_request', 'insufficient_scope', 'request_ended', 'too_many_places'],
  },
  async handle({ fields, ignored, requestKey }, caller, { requests }) {
    const change = changeIn(fields);
    const ownerProof = fields.owner ?? null;
    if (ownerProof === null) {
      if (!('close' in change))
        throw invalidFields({ field: 'owner', message: 'Must be given, except to close' });
      if (caller.kind === 'account' && !caller.scopes.includes('manage'))
        return encodeProblem({ problem: 'scope_missing', scope: 'manage' });
    }
    const outcome = await requests.change({ requestKey, ownerProof, change }, caller);
    if (outcome.outcome !== 'found') return refused(outcome, requestKey);
    const { until, updatedAt } = outcome.request;
    const adjusted = 'ttlSeconds' in change ? adjustedTtl(change.ttlSeconds, until - updatedAt) : {};
    return listed(outcome, caller, encodeRemarks({ adjusted, ignored }));
  },
});

const discard = onRequest({
  name: 'v2.requestDiscard',
  path: '/request/:key/discard',
  body: discardBody,
  summary: 'Discard an answer',
  description:
    'For the holder of the answers link. Burns the answer if it waits, and frees its place, once. A request takes 100 answers in its life.',
  answers: {
    description: 'The request as it now is, and all its answers.',
    schema: answersAnswer,
    refuses: ['unknown_request', 'unknown_secret'],
  },
  async handle({ fields, ignored, requestKey }, caller, { requests }) {
    const { owner: ownerProof, secret_key: secretKey } = fields;
    const outcome = await requests.discard({ requestKey, ownerProof }, secretKey);
    if (outcome.outcome !== 'found') return refused(outcome, requestKey, secretKey);
    return listed(outcome, caller, encodeIgnored(ignored));
  },
});

export const requestOperations = [ask, look, report, answer, answers, changeRequest, discard];
