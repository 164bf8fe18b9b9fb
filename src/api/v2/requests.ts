/** API v2: asking for secrets. The server keeps a mailbox of answers, which are ordinary end-to-end secrets, and opens none of it. */
import type { output, ZodObject } from 'zod';
import type { Caller } from '../../core/account.ts';
import type { Mailbox } from '../../core/requests/mailbox.ts';
import type { RequestService } from '../../core/requests/service.ts';
import { creationCapBytesFor } from '../../http/body.ts';
import type { Exchange, OperationDocument } from '../../http/operation.ts';
import { RequestProblem } from '../../http/problem.ts';
import { answerFrom, type Table } from '../version.ts';
import { refuseSize, sharingRefusals } from './creation.ts';
import type { Dialect } from './dialect.ts';
import { type Api, define, jsonBody, ok, type V2Operation } from './operation.ts';
import { custidOf } from './records.ts';
import { refuse, refuseField, refuseRate } from './refusals.ts';
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
  encodeAdjusted,
  encodeIgnored,
  type FromBody,
  invalidFields,
  keyOf,
  readFields,
} from './wire.ts';

type Outcome = Awaited<ReturnType<RequestService[Exclude<keyof RequestService, 'planFor' | 'settled'>]>>;
type Done = Extract<Outcome, { outcome: 'found' | 'answered' }>;

const refusalTable: Table<Exclude<Outcome, Done>, 'outcome', [requestKey: string]> = {
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
  unknown_answer: ({ secretKey }) => refuse('unknown_secret', { extra: { secret_key: secretKey } }),
};

interface Asked<Body extends ZodObject> extends FromBody {
  readonly fields: output<Body>;
  readonly requestKey: string;
}

type Definition<Body extends ZodObject, Result extends Outcome> = Pick<
  Parameters<typeof define>[0],
  'name' | 'path' | 'scope' | 'bodyCapBytes' | 'answers'
> &
  Partial<Pick<V2Operation, 'access' | 'limit'>> &
  Pick<OperationDocument, 'summary' | 'description'> & {
    readonly body: Body;
    run(asked: Asked<Body>, caller: Caller, api: Api, exchange: Exchange): Promise<Result>;
    /** Returns what this answer has beyond the others; `null` if it says only that the call was successful. */
    encode(
      done: Extract<Result, Done>,
      asked: Asked<Body>,
    ): { readonly record: object; readonly details?: object } | null;
  };

function onRequest<Body extends ZodObject, Result extends Outcome>(given: Definition<Body, Result>) {
  const { body, summary, description, run, encode, ...rest } = given;
  const params = rest.path.includes(':key') ? { params: { key: 'The request key.' } } : {};
  const words = { summary, ...(description !== undefined && { description }), ...params };
  return define({
    ...{ method: 'POST', access: 'anyone', limit: 'manage', ...rest },
    document: { tag: 'Requests', ...words, body: jsonBody(body, true) },
    async decode(exchange: Exchange, dialect: Dialect): Promise<Asked<Body>> {
      return { ...(await readFields(exchange, body, dialect)), requestKey: keyOf(exchange) };
    },
    async handle(asked, caller, api, exchange) {
      const outcome: Outcome = await run(asked, caller, api, exchange);
      if (outcome.outcome !== 'found' && outcome.outcome !== 'answered')
        return answerFrom(refusalTable, 'outcome', outcome, asked.requestKey);
      const encoded = encode(outcome as Extract<Result, Done>, asked);
      if (encoded === null) return ok({ success: true });
      const { record, details: own, ...more } = encoded;
      const details = { ...own, ...encodeIgnored(asked.ignored) };
      return ok({ success: true, custid: custidOf(caller), record, details, ...more });
    },
  });
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
  run: ({ fields }, caller, { requests }, { request }) =>
    requests.ask(
      {
        ...{ terms: fields.terms, ownerHash: fields.owner_hash, askHash: fields.ask_hash },
        ...{ ttlSeconds: fields.ttl, answerTtlSeconds: fields.answer_ttl },
        ...{ places: fields.answers ?? 1, notify: fields.notify ?? false },
        ...{ shareDomain: fields.share_domain, arrivedOn: request.headers.get('host') },
      },
      caller,
    ),
  encode(found, { fields }) {
    const record = encodeRequest(found);
    const { ttl } = adjustedTtl(fields.answer_ttl, record.answer_ttl);
    const adjusted = { ...adjustedTtl(fields.ttl, record.lifespan), ...(ttl && { answer_ttl: ttl }) };
    return { record, details: encodeAdjusted(adjusted) };
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
  run: ({ fields, requestKey }, _, { requests }) => requests.look({ requestKey, askProof: fields.ask }),
  encode: (found) => ({ record: encodeLook(found) }),
});

const report = onRequest({
  name: 'v2.requestReport',
  path: '/request/:key/report',
  body: lookBody,
  summary: 'Report a request',
  description: 'For the operator, who sees how often. Counted once a day for a network.',
  answers: { description: 'Received.', schema: reportAnswer, refuses: senderRefuses },
  run: ({ fields, requestKey }, _, { requests }, { clientPrefix }) =>
    requests.report({ requestKey, askProof: fields.ask }, clientPrefix),
  encode: () => null,
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
  run: ({ fields: { ask: askProof, sealed, wrapped }, requestKey }, _, { requests }) =>
    requests.answer({ requestKey, askProof, sealed: sealedInputOf(sealed), wrapped }),
  encode: ({ secretKey, isRepeated }) => ({
    record: { secret_key: secretKey },
    details: isRepeated ? { repeated: true } : {},
  }),
});

function encodeMailbox(found: Mailbox): Omit<output<typeof answersAnswer>, 'success' | 'custid' | 'details'> {
  const records = found.answers.map(encodeAnswer);
  return { record: encodeRequest(found), records, count: records.length };
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
  run: ({ fields, requestKey }, _, { requests }) =>
    requests.answers({ requestKey, ownerProof: fields.owner }),
  encode: (found) => encodeMailbox(found),
});

/** Reads exactly one change. */
function changeIn({ close, ttl: ttlSeconds, answers: places }: output<typeof changeRequestBody>) {
  const changes = [
    ...(close ? [{ close: true } as const] : []),
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
  async run({ fields, requestKey }, caller, { requests }) {
    const change = changeIn(fields);
    const ownerProof = fields.owner ?? null;
    if (ownerProof === null && !('close' in change))
      throw invalidFields({ field: 'owner', message: 'Must be given, except to close' });
    if (ownerProof === null && caller.kind === 'account' && !caller.scopes.includes('manage'))
      throw new RequestProblem({ problem: 'scope_missing', scope: 'manage' });
    return requests.change({ requestKey, ownerProof, change }, caller);
  },
  encode(found, { fields: { ttl } }) {
    const { until, updatedAt } = found.request;
    const record = 'answers' in found ? encodeMailbox(found) : { record: encodeRequest(found) };
    return { ...record, details: encodeAdjusted(adjustedTtl(ttl, until - updatedAt)) };
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
  run: ({ fields, requestKey }, _, { requests }) =>
    requests.discard({ requestKey, ownerProof: fields.owner }, fields.secret_key),
  encode: (found) => encodeMailbox(found),
});

export const requestOperations = [ask, look, report, answer, answers, changeRequest, discard];
