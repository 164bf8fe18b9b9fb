/** API v2: asking for secrets. The server keeps a mailbox of answers, which are ordinary end-to-end secrets, and opens none of it. */
import type { z } from 'zod';
import type { Caller } from '../../core/account.ts';
import type {
  AnswerOutcome,
  AnswersOutcome,
  AskOutcome,
  ChangeRequestInput,
  ChangeRequestOutcome,
  DiscardOutcome,
  RequestView,
  SenderRefusal,
} from '../../core/requests/outcomes.ts';
import { creationCapBytesFor } from '../../http/body.ts';
import type { Exchange, Reply } from '../../http/operation.ts';
import { answerFrom, type Table } from '../version.ts';
import { refuseSize, sharingRefusals } from './creation.ts';
import type { Dialect } from './dialect.ts';
import { type Api, define, jsonBody, ok } from './operation.ts';
import { custidOf } from './records.ts';
import { encodeProblem, type RefusalCode, refuse, refuseField, refuseRate } from './refusals.ts';
import {
  answerBody,
  answeredAnswer,
  answersAnswer,
  askAnswer,
  askBody,
  changeRequestBody,
  closedAnswer,
  discardBody,
  encodeAnswers,
  encodeLook,
  encodeRequest,
  lookAnswer,
  lookBody,
  ownerBody,
  reportAnswer,
} from './request-records.ts';
import { flawMessage, sealedInputOf } from './sealed.ts';
import { adjustedTtl, encodeIgnored, encodeRemarks, invalidFields, keyOf, readFields } from './wire.ts';

const tag = 'Requests';
const params = { key: 'The request key.' };
const path = '/request/:key';
const manage = { method: 'POST', access: 'anyone', limit: 'manage' } as const;

const unknownRequest = (requestKey: string) =>
  refuse('unknown_request', { extra: { request_key: requestKey } });

interface Most {
  readonly max: number;
}

const placesRefusals = {
  too_many_places: ({ max }: Most) => refuse('too_many_places', { extra: { max } }),
  too_many_answers: ({ max }: Most) => refuseField('answers', `Must be at most ${max} without an account`),
};

const askTable: Table<Exclude<AskOutcome, { outcome: 'asked' }>, 'outcome'> = {
  ...placesRefusals,
  ...sharingRefusals,
  requests_disabled: () => refuse('requests_disabled'),
  account_required: () =>
    refuse('account_required', { message: 'An account is required to ask for secrets.' }),
  notify_needs_account: () =>
    refuse('account_required', { message: 'An account is required to be notified.' }),
  rate_limited: refuseRate,
};

export const request = define({
  ...manage,
  name: 'v2.request',
  path: '/request',
  scope: 'create',
  document: {
    summary: 'Ask for a secret',
    description:
      'Makes a request, which whoever has its ask link may answer. The server gets neither the prompt nor the end of a link. By ' +
      '`MAYFLY_REQUESTS` accounts may ask, anyone, or nobody.',
    tag,
    body: jsonBody(askBody, true),
  },
  answers: {
    description: 'The request is open. `details.adjusted` says what was granted instead.',
    schema: askAnswer,
    refuses: ['account_required', 'requests_disabled', 'public_sharing_disabled', 'too_many_places'],
  },
  async decode(exchange: Exchange, dialect: Dialect) {
    const { fields, ignored } = await readFields(exchange, askBody, dialect);
    const input = {
      terms: fields.terms,
      ownerHash: fields.owner_hash,
      askHash: fields.ask_hash,
      places: fields.answers ?? 1,
      ttlSeconds: fields.ttl,
      answerTtlSeconds: fields.answer_ttl,
      notify: fields.notify ?? false,
      shareDomain: fields.share_domain,
      arrivedOn: exchange.request.headers.get('host'),
    };
    return { input, ignored };
  },
  async handle({ input, ignored }, caller, { requests }) {
    const outcome = await requests.ask(input, caller);
    if (outcome.outcome !== 'asked') return answerFrom(askTable, 'outcome', outcome);
    const record = encodeRequest(outcome.request);
    const answerTtl = adjustedTtl(input.answerTtlSeconds, record.answer_ttl).ttl;
    const adjusted = {
      ...adjustedTtl(input.ttlSeconds, record.lifespan),
      ...(answerTtl !== undefined && { answer_ttl: answerTtl }),
    };
    return ok({
      success: true,
      custid: custidOf(caller),
      record,
      details: encodeRemarks({ adjusted, ignored }),
    } satisfies z.output<typeof askAnswer>);
  },
});

const senderTable: Table<SenderRefusal, 'outcome', [requestKey: string]> = {
  unknown: (_, requestKey) => unknownRequest(requestKey),
  incomplete_link: () =>
    refuse('incomplete_link', { message: 'The ask link is incomplete: its end, after #, is needed' }),
};
const senderRefuses = ['unknown_request', 'incomplete_link'] as const;

async function decodeSender(exchange: Exchange, dialect: Dialect) {
  const { fields, ignored } = await readFields(exchange, lookBody, dialect);
  const { clientPrefix } = exchange;
  return { input: { requestKey: keyOf(exchange), askProof: fields.ask, clientPrefix }, ignored };
}

export const look = define({
  ...manage,
  name: 'v2.requestLook',
  path: `${path}/look`,
  document: {
    summary: 'See what is asked for',
    description: 'For the holder of the ask link. Changes nothing.',
    tag,
    params,
    body: jsonBody(lookBody, true),
  },
  answers: { description: 'The request, open or not.', schema: lookAnswer, refuses: senderRefuses },
  decode: decodeSender,
  async handle({ input, ignored }, caller, { requests }) {
    const outcome = await requests.look(input);
    if (outcome.outcome !== 'found') return answerFrom(senderTable, 'outcome', outcome, input.requestKey);
    const answer = { custid: custidOf(caller), record: encodeLook(outcome.request) };
    return ok({ success: true, ...answer, details: encodeIgnored(ignored) } satisfies z.output<
      typeof lookAnswer
    >);
  },
});

export const report = define({
  ...manage,
  name: 'v2.requestReport',
  path: `${path}/report`,
  document: {
    summary: 'Report a request',
    description: 'For the operator, who sees how often. Counted once a day for a network.',
    tag,
    params,
    body: jsonBody(lookBody, true),
  },
  answers: { description: 'Received.', schema: reportAnswer, refuses: senderRefuses },
  decode: decodeSender,
  async handle({ input }, _caller, { requests }) {
    const outcome = await requests.report(input);
    if (outcome.outcome !== 'reported') return answerFrom(senderTable, 'outcome', outcome, input.requestKey);
    return ok({ success: true } satisfies z.output<typeof reportAnswer>);
  },
});

type NotAnswered = Exclude<AnswerOutcome, { outcome: 'answered' | 'repeated' }>;

const answerTable: Table<NotAnswered, 'outcome', [requestKey: string]> = {
  ...senderTable,
  sealed_wrongly: ({ flaw }) => refuseField('sealed', flawMessage(flaw)),
  sealed_too_large: ({ maxBytes }) => refuseSize(maxBytes),
  full: () => refuse('request_full'),
  ended: () => refuse('request_ended'),
};

export const answer = define({
  name: 'v2.requestAnswer',
  method: 'POST',
  path: `${path}/answer`,
  // It counts against the sender's network, also where a client sends credentials with every call.
  access: 'open',
  limit: 'create',
  async bodyCapBytes(_caller, { plans, requests }: Api, { key = '' }) {
    return creationCapBytesFor(plans, await requests.planFor(key));
  },
  document: {
    summary: 'Answer a request',
    description:
      'Stores an end-to-end secret for the asker. Its body may be as large as the `max_sealed_bytes` of the request needs. To send ' +
      'again after a lost answer, send the same bytes: the answer is the same.',
    tag,
    params,
    body: jsonBody(answerBody, true),
  },
  answers: {
    description: 'It is stored, or was already: then `details.repeated` is true, whatever became of it.',
    schema: answeredAnswer,
    refuses: [...senderRefuses, 'request_full', 'request_ended'],
  },
  async decode(exchange: Exchange, dialect: Dialect) {
    const { fields, ignored } = await readFields(exchange, answerBody, dialect);
    const { ask: askProof, sealed, wrapped } = fields;
    const input = { requestKey: keyOf(exchange), askProof, sealed: sealedInputOf(sealed), wrapped };
    return { input, ignored };
  },
  async handle({ input, ignored }, caller, { requests }) {
    const outcome = await requests.answer(input);
    if (outcome.outcome !== 'answered' && outcome.outcome !== 'repeated')
      return answerFrom(answerTable, 'outcome', outcome, input.requestKey);
    return ok({
      success: true,
      custid: custidOf(caller),
      record: { secret_key: outcome.secretKey },
      details: { ...(outcome.outcome === 'repeated' && { repeated: true }), ...encodeIgnored(ignored) },
    } satisfies z.output<typeof answeredAnswer>);
  },
});

type NotListed = Exclude<ChangeRequestOutcome | DiscardOutcome, { outcome: 'found' }>;

const ownerTable: Table<NotListed, 'outcome', [requestKey: string, secretKey?: string]> = {
  ...placesRefusals,
  unknown: (_, requestKey) => unknownRequest(requestKey),
  ended: () => refuse('request_ended'),
  places_taken: () => refuseField('answers', 'Must be at least as many as have come'),
  unknown_answer: (_, _requestKey, secretKey) =>
    refuse('unknown_secret', { extra: { secret_key: secretKey } }),
};

function listed(
  { request: asked, answers: found }: Extract<AnswersOutcome, { outcome: 'found' }>,
  caller: Caller,
  details: object,
): Reply {
  const answer = { custid: custidOf(caller), record: encodeRequest(asked), ...encodeAnswers(found) };
  return ok({ success: true, ...answer, details } satisfies z.output<typeof answersAnswer>);
}

const asListed = (description: string, ...refuses: RefusalCode[]) => ({
  description,
  schema: answersAnswer,
  refuses: ['unknown_request', ...refuses] as const,
});

export const answers = define({
  ...manage,
  name: 'v2.requestAnswers',
  path: `${path}/answers`,
  document: {
    summary: 'List the answers to a request',
    description: 'For the holder of the answers link. Changes nothing. To wait for answers, ask again.',
    tag,
    params,
    body: jsonBody(ownerBody, true),
  },
  answers: asListed('The request, and all its answers.'),
  async decode(exchange: Exchange, dialect: Dialect) {
    const { fields, ignored } = await readFields(exchange, ownerBody, dialect);
    return { input: { requestKey: keyOf(exchange), ownerProof: fields.owner }, ignored };
  },
  async handle({ input, ignored }, caller, { requests }) {
    const outcome = await requests.answers(input);
    if (outcome.outcome !== 'found') return answerFrom(ownerTable, 'outcome', outcome, input.requestKey);
    return listed(outcome, caller, encodeIgnored(ignored));
  },
});

type ChangeFields = z.output<typeof changeRequestBody>;

/** Reads exactly one change. */
function changeIn({ close, ttl: ttlSeconds, answers: places }: ChangeFields) {
  const isClosed = close !== undefined && close !== null;
  if ([isClosed, ttlSeconds !== null, places !== null].filter(Boolean).length !== 1)
    throw invalidFields({ field: '', message: 'Must have one of close, ttl and answers' });
  if (isClosed) return { change: 'close' } as const;
  return places === null
    ? ({ change: 'ttl', ttlSeconds: ttlSeconds ?? 0 } as const)
    : ({ change: 'places', places } as const);
}

export const changeRequest = define({
  ...manage,
  name: 'v2.requestChange',
  path: `${path}/change`,
  document: {
    summary: 'Close a request, or change its end or its places',
    description:
      'For the holder of the answers link. An end is for ever. The account that asked may close its request without `owner`, with ' +
      'a token of the scope `manage`: then only the request itself is answered.',
    tag,
    params,
    body: jsonBody(changeRequestBody, true),
  },
  answers: {
    ...asListed(
      'The request as it now is, and all its answers.',
      'insufficient_scope',
      'request_ended',
      'too_many_places',
    ),
    schema: answersAnswer.or(closedAnswer),
  },
  async decode(exchange: Exchange, dialect: Dialect) {
    const { fields, ignored } = await readFields(exchange, changeRequestBody, dialect);
    const ownerProof = fields.owner ?? null;
    const input: ChangeRequestInput = { requestKey: keyOf(exchange), ownerProof, ...changeIn(fields) };
    if (ownerProof === null && input.change !== 'close')
      throw invalidFields({ field: 'owner', message: 'Must be given, except to close' });
    return { input, ignored };
  },
  async handle({ input, ignored }, caller, { requests }) {
    if (input.ownerProof === null && caller.kind === 'account' && !caller.scopes.includes('manage'))
      return encodeProblem({ problem: 'scope_missing', scope: 'manage' });
    const outcome = await requests.change(input, caller);
    if (outcome.outcome !== 'found') return answerFrom(ownerTable, 'outcome', outcome, input.requestKey);
    const { answers: found, grantedTtlSeconds: granted } = outcome;
    const adjusted = granted === null || input.change !== 'ttl' ? {} : adjustedTtl(input.ttlSeconds, granted);
    const details = encodeRemarks({ adjusted, ignored });
    return found === null
      ? closed(outcome.request, caller, details)
      : listed({ ...outcome, answers: found }, caller, details);
  },
});

function closed(asked: RequestView, caller: Caller, details: object): Reply {
  const answer = { custid: custidOf(caller), record: encodeRequest(asked), details };
  return ok({ success: true, ...answer } satisfies z.output<typeof closedAnswer>);
}

export const discard = define({
  ...manage,
  name: 'v2.requestDiscard',
  path: `${path}/discard`,
  document: {
    summary: 'Discard an answer',
    description:
      'For the holder of the answers link. Burns the answer if it waits, and frees its place, once. A request takes 100 answers in its life.',
    tag,
    params,
    body: jsonBody(discardBody, true),
  },
  answers: asListed('The request as it now is, and all its answers.', 'unknown_secret'),
  async decode(exchange: Exchange, dialect: Dialect) {
    const { fields, ignored } = await readFields(exchange, discardBody, dialect);
    const { owner: ownerProof, secret_key: secretKey } = fields;
    return { input: { requestKey: keyOf(exchange), ownerProof, secretKey }, ignored };
  },
  async handle({ input, ignored }, caller, { requests }) {
    const { requestKey, secretKey } = input;
    const outcome = await requests.discard(input);
    if (outcome.outcome !== 'found') return answerFrom(ownerTable, 'outcome', outcome, requestKey, secretKey);
    return listed(outcome, caller, encodeIgnored(ignored));
  },
});

export const requestOperations = [request, look, report, answer, answers, changeRequest, discard];
