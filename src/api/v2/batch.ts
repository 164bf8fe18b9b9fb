/** API v2: creates many secrets in one request. Each is created or refused as it would be alone. */
import { z } from 'zod';
import { type Caller, planOf } from '../../core/account.ts';
import { ServiceError } from '../../core/errors.ts';
import { creationCapBytesFor } from '../../http/body.ts';
import type { Exchange, Reply } from '../../http/operation.ts';
import { problemOf } from '../../http/pipeline.ts';
import { clientLeft, RequestProblem } from '../../http/problem.ts';
import { seconds } from '../fields.ts';
import {
  answerConceal,
  answerGenerate,
  concealAnswer,
  type FormPlace,
  generateAnswer,
  readConcealForm,
  readGenerateForm,
} from './creation.ts';
import { concealFields, concealSealedFields, generateFields, isGiven } from './creation-fields.ts';
import { creationHeaders, type Once, readKey } from './idempotency-key.ts';
import { type Api, define, jsonBody, ok, onCreation } from './operation.ts';
import { custid, custidOf, success } from './records.ts';
import { encodeProblem, refusalCodes, refusals, refuseRate } from './refusals.ts';
import {
  boundIgnored,
  encodeIgnored,
  ignored,
  ignoredIn,
  invalidFields,
  isObject,
  type JsonObject,
  readGivenObject,
} from './wire.ts';

const mostSecrets = 100;
/** How many creations run concurrently. Their writes share a transaction, and their passphrases leave room in the hashing queue. */
const atOnce = 4;

const generateItem = z.object({ generate: generateFields }).meta({ title: 'generated' });

const batchBody = z
  .object({
    secrets: z
      .array(z.union([concealFields, concealSealedFields, generateItem]))
      .min(1)
      .max(mostSecrets)
      .meta({
        description: `1 to ${mostSecrets}, each as \`secret\` of a creation, or with \`generate\`.`,
        examples: [[{ secret: 'battery staple', verify: 'al@example.org' }, { generate: { length: 20 } }]],
      }),
  })
  .meta({ id: 'V2BatchFields' });

const { field, errors } = refusals.invalid_field.extra;
const { secret_key, metadata_key } = refusals.unknown_secret.extra;

const batchProblem = z
  .object({
    success: z.literal(false),
    error: z.enum(refusalCodes),
    message: z.string(),
    status: z.int().meta({ description: 'The status of the same request alone.', examples: [422] }),
    retry_after: seconds.optional().meta({ description: 'When it may be sent again, in seconds.' }),
    field,
    errors,
    limit: refusals.too_large.extra.limit.optional(),
    secret_key,
    metadata_key,
    request_id: refusals.internal.extra.request_id.optional(),
  })
  .meta({
    id: 'V2BatchProblem',
    description: 'Why one of them was not created. Field names are paths in the whole body.',
  });

export const batchAnswer = z
  .object({
    success,
    custid,
    results: z.array(z.union([concealAnswer, generateAnswer, batchProblem])).meta({
      description: 'In the order of `secrets`: the answer that each would get alone, or why it was refused.',
    }),
    details: z.object({ ignored }),
  })
  .meta({ id: 'V2BatchAnswer' });

interface Batch {
  readonly items: readonly unknown[];
  readonly ignored: readonly string[];
}

const besideSecrets = z.object({ secrets: z.unknown() });

export const batch = define<Batch>({
  ...onCreation,
  name: 'v2.batch',
  method: 'POST',
  path: '/secret/batch',
  bodyCapBytes: (caller: Caller, { plans }: Api) => creationCapBytesFor(plans, planOf(plans, caller)),
  document: {
    summary: 'Create several secrets',
    description:
      `Up to ${mostSecrets} at once, each created or refused on its own; each counts as a request. The body may be as large as ` +
      'that of one secret. With `Idempotency-Key` the same body may be sent again until each is created: those that are get the ' +
      'same answer again.',
    tag: 'Secrets',
    headers: creationHeaders,
    body: jsonBody(batchBody, true),
  },
  answers: {
    description: 'Every secret was tried; `results` has the answer for each.',
    schema: batchAnswer,
    refuses: ['account_required'],
  },
  async decode(exchange, dialect) {
    const body = await readGivenObject(exchange, dialect);
    const { secrets } = body;
    if (!Array.isArray(secrets) || secrets.length < 1 || secrets.length > mostSecrets)
      throw invalidFields({ field: 'secrets', message: `Must be a list of 1 to ${mostSecrets} secrets` });
    return { items: secrets, ignored: ignoredIn(body, besideSecrets) };
  },
  async handle({ items, ignored: unknown }, caller, api, exchange) {
    const { once, ignored: header } = await readKey(exchange, caller);
    const place = { caller, api, exchange, once };
    const results = await inOrder(items, (item, index) => resultOf(item, index, place));
    const paths = boundIgnored(header, unknown);
    return ok({ success: true, custid: custidOf(caller), results, details: encodeIgnored(paths) });
  },
});

async function inOrder<Item, Result>(
  items: readonly Item[],
  work: (item: Item, index: number) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  const left = items.entries();
  const worker = async () => {
    for (const [index, item] of left) results[index] = await work(item, index);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}

interface Place {
  readonly caller: Caller;
  readonly api: Api;
  readonly exchange: Exchange;
  readonly once: Once | null;
}

async function resultOf(item: unknown, index: number, place: Place): Promise<unknown> {
  const { exchange } = place;
  const reply = await create(item, index, place).catch((error: unknown) => {
    if (!(error instanceof RequestProblem || error instanceof ServiceError)) exchange.reportFault(error);
    return replyTo(error, exchange);
  });
  if (reply.status === 200) return reply.body;
  const { status, body, headers } = reply;
  const wait = headers?.['Retry-After'];
  return { ...(body as JsonObject), status, ...(wait !== undefined && { retry_after: Number(wait) }) };
}

/** Encodes the problem and adds the waiting time, as the pipeline does outside a batch. */
function replyTo(error: unknown, { requestId }: Exchange): Reply {
  const problem = problemOf(error, requestId);
  const reply = encodeProblem(problem);
  if (!('retryAfterSeconds' in problem)) return reply;
  return { ...reply, headers: { 'Retry-After': String(problem.retryAfterSeconds) } };
}

async function create(item: unknown, index: number, place: Place): Promise<Reply> {
  const { caller, api, exchange, once } = place;
  if (exchange.isAbandoned()) return encodeProblem(clientLeft);
  const at = `secrets.${index}`;
  if (!isObject(item)) throw invalidFields({ field: at, message: 'Must be an object' });
  // The first item is free, because the request itself was counted.
  const wait = () => (index === 0 ? null : (exchange.countAnother()?.retryAfterSeconds ?? null));
  const own = once && { ...once, idempotency: { ...once.idempotency, index, mayCreate: wait } };
  const key = { once: own, ignored: [] };
  const given = { exchange, dialect: api.dialect };
  const answer = isGiven(item.generate)
    ? () => answerGenerate(readGenerateItem(item, at, given), caller, api, key)
    : () =>
        answerConceal(readConcealForm(item, { ...given, prefix: `${at}.`, beside: [] }), caller, api, key);
  const waitSeconds = own === null ? wait() : null;
  return waitSeconds === null ? answer() : refuseRate({ retryAfterSeconds: waitSeconds });
}

const besideGenerate = z.object({ generate: z.unknown() });

function readGenerateItem(item: JsonObject, at: string, given: Pick<FormPlace, 'exchange' | 'dialect'>) {
  const { generate } = item;
  if (isGiven(item.secret) || isGiven(item.sealed))
    throw invalidFields({ field: `${at}.generate`, message: 'Must not be given beside a secret' });
  const prefix = `${at}.generate.`;
  if (!isObject(generate)) throw invalidFields({ field: `${at}.generate`, message: 'Must be an object' });
  if (isGiven(generate.sealed))
    throw invalidFields({ field: `${prefix}sealed`, message: 'Must be absent: the value is generated here' });
  return readGenerateForm(generate, { ...given, prefix, beside: ignoredIn(item, besideGenerate, `${at}.`) });
}
