/** API v2: the creator's record, found by its metadata key. Only `POST /private/:key/burn` destroys a secret (P4). */
import { z } from 'zod';
import type { Caller } from '../../core/account.ts';
import type { Links } from '../../core/links.ts';
import type {
  BurnInput,
  BurnOutcome,
  ChangeInput,
  ChangeOutcome,
  DeliverOutcome,
  ReceiptInput,
  ReceiptView,
  RecentInput,
} from '../../core/secrets/outcomes.ts';
import type { SecretService } from '../../core/secrets/service.ts';
import { Sensitive } from '../../core/sensitive.ts';
import type { Exchange, Reply } from '../../http/operation.ts';
import { clientLeft } from '../../http/problem.ts';
import {
  digitsWithin,
  illFormed,
  locale,
  memoWords,
  newRecipient,
  sensitiveText,
  text,
  time,
  ttl,
} from '../fields.ts';
import { answerFrom, type Table } from '../version.ts';
import { recipientNeedsAccount, undeliverable } from './creation.ts';
import type { Dialect } from './dialect.ts';
import { type Api, define, jsonBody, ok } from './operation.ts';
import {
  custid,
  custidOf,
  encodeDetails,
  encodeMetadata,
  metadataRecord,
  recordDetails,
  success,
} from './records.ts';
import { encodeProblem, refuse, refuseAttempts, refuseField, refuseMails } from './refusals.ts';
import {
  adjustedLocaleOf,
  adjustedTtl,
  encodeIgnored,
  encodeRemarks,
  ignored,
  invalidFields,
  keyOf,
  localeAdjusted,
  parseFields,
  proceed,
  queryText,
  readFields,
  ttlAdjusted,
} from './wire.ts';

const flag = z.boolean();

function recordAnswer<Details extends z.ZodRawShape>(id: string, details: Details) {
  return z
    .object({ success, custid, record: metadataRecord, details: z.object({ ...recordDetails, ...details }) })
    .meta({ id });
}

export const metadataAnswer = recordAnswer('V2MetadataAnswer', {});

/** @param more additional `details` */
function okWith(receipt: ReceiptView, caller: Caller, links: Links, more: object = {}): Reply {
  const username = custidOf(caller);
  return ok({
    success: true,
    custid: username,
    record: encodeMetadata(receipt, links),
    details: { ...encodeDetails(receipt, receipt.custid === username), ...more },
  } satisfies z.output<typeof metadataAnswer>);
}

const onReceipt = { access: 'manager', scope: 'manage', limit: 'manage' } as const;
const tag = 'Metadata';
const params = { key: 'The metadata key.' };

type ReceiptTable<Refusal extends { readonly outcome: string }> = Table<
  Refusal,
  'outcome',
  [metadataKey: string, api: Api]
>;

const goneTable = {
  unknown: (_: unknown, metadataKey: string, { dialect }: Api) =>
    refuse('unknown_secret', { extra: dialect.unknownRecordKeys(metadataKey) }),
  already_gone: ({ receipt }: { readonly receipt: ReceiptView }, _metadataKey: string, { links }: Api) =>
    refuse('already_gone', { extra: { record: encodeMetadata(receipt, links) } }),
};

const page = { min: 1, default: 50, max: 200 };

const recentQuery = z.object({
  limit: digitsWithin(page, `Must be a whole number from ${page.min} to ${page.max}`)
    .optional()
    .meta({
      description: `Records a page, ${page.min} to ${page.max}; ${page.default} when absent.`,
      examples: ['20'],
    }),
  cursor: z.string().optional().meta({ description: "An earlier page's `details.next_cursor`." }),
});

export const recentAnswer = z
  .object({
    success,
    custid,
    count: z.int().min(0).meta({ description: 'Records on this page.' }),
    records: z.array(metadataRecord).meta({ description: 'Newest created first.' }),
    details: z.object({
      type: z.literal('list'),
      since: time.meta({
        description: 'When the oldest record on this page was created; now, when there is none.',
      }),
      now: time,
      has_items: flag,
      received: z.array(metadataRecord).meta({ description: 'Those of this page whose secret is gone.' }),
      notreceived: z.array(metadataRecord).meta({ description: 'Those of this page whose secret waits.' }),
      next_cursor: z.string().nullable().meta({ description: 'Opaque; null at the end.' }),
    }),
  })
  .meta({ id: 'V2RecentAnswer' });

const recent = define({
  name: 'v2.recent',
  method: 'GET',
  path: '/private/recent',
  aliases: [{ method: 'GET', path: '/receipt/recent' }],
  access: 'account',
  scope: 'read-recent',
  limit: 'manage',
  document: {
    summary: "List the account's records",
    description: 'Newest created first, a page at a time. `secret_key` is always null here.',
    tag,
    query: recentQuery,
  },
  answers: { description: 'One page.', schema: recentAnswer, refuses: ['invalid_field'] },
  decode({ rawQuery }: Exchange): RecentInput {
    const query = { limit: queryText(rawQuery, 'limit'), cursor: queryText(rawQuery, 'cursor') };
    const { limit, cursor } = parseFields(recentQuery, query, '');
    return { limit: Number(limit || page.default), cursor: cursor || null, states: null };
  },
  async handle(input: RecentInput, caller, { service, links, clock }) {
    if (caller.kind !== 'account') return encodeProblem({ problem: 'not_authorized' });
    const outcome = await service.recent(input, caller);
    if (outcome.outcome === 'invalid_cursor') {
      return refuseField('cursor', 'Must be the next_cursor of an earlier page');
    }
    const records = outcome.receipts.map((each) => encodeMetadata(each, links));
    const now = clock();
    const details = {
      type: 'list' as const,
      since: Math.min(now, ...records.map((record) => record.created)),
      now,
      has_items: records.length > 0,
      received: records.filter((record) => record.is_destroyed),
      notreceived: records.filter((record) => !record.is_destroyed),
      next_cursor: outcome.nextCursor,
    };
    const start = { success: true as const, custid: custidOf(caller), count: records.length };
    return ok({ ...start, records, details } satisfies z.output<typeof recentAnswer>);
  },
});

/** Newer clients call the `/guest` path anonymously; the dialect's management rule decides whether to serve them. */
const onNewerPaths = (method: 'GET' | 'POST', rest = '') => [
  { method, path: `/receipt/:key${rest}` },
  { method, path: `/guest/receipt/:key${rest}` },
];

const receipt = define({
  ...onReceipt,
  name: 'v2.receipt',
  method: 'GET',
  path: '/private/:key',
  aliases: onNewerPaths('GET'),
  document: {
    summary: "Fetch a secret's metadata",
    description:
      'Shows whether and when the secret was read. An account sees its own records, and any account that holds the ' +
      'metadata key those made anonymously.',
    tag,
    params,
  },
  answers: { description: 'The record.', schema: metadataAnswer, refuses: ['unknown_secret'] },
  decode: keyOf,
  async handle(metadataKey: string, caller, api) {
    const input = { metadataKey, authority: api.dialect.managementAuthority };
    const outcome = await api.service.findReceipt(input, caller);
    if (outcome.outcome === 'unknown') return goneTable.unknown(outcome, metadataKey, api);
    return okWith(outcome.receipt, caller, api.links);
  },
});

export const burnBody = z
  .object({ continue: proceed('false only checks: nothing is destroyed.') })
  .meta({ id: 'V2BurnRequest' });

const provenBurnBody = burnBody.extend({ passphrase: sensitiveText({ description: "The secret's." }) });

async function readBurn(exchange: Exchange, dialect: Dialect) {
  if (!dialect.burnNeedsPassphrase)
    return { ...(await readFields(exchange, burnBody, dialect)), proof: null };
  const read = await readFields(exchange, provenBurnBody, dialect);
  const { passphrase } = read.fields;
  return { ...read, proof: { passphrase, clientPrefix: exchange.clientPrefix, sparesOwner: true } as const };
}

export const burnAnswer = recordAnswer('V2BurnAnswer', {
  title: z.string(),
  display_feedback: flag,
  ignored,
});

const refuseUnproven = () => refuse('incorrect_passphrase', { message: 'Double check that passphrase' });

const burnTable: ReceiptTable<Exclude<BurnOutcome, { outcome: 'burned' }>> = {
  ...goneTable,
  abandoned: () => encodeProblem(clientLeft),
  passphrase_missing: refuseUnproven,
  passphrase_wrong: refuseUnproven,
  attempts_exhausted: refuseAttempts,
};

/** Checks what a burn would do, without burning. */
async function checkBurn(service: SecretService, input: ReceiptInput, caller: Caller) {
  const looked = await service.findReceipt(input, caller);
  if (looked.outcome === 'unknown' || looked.receipt.secretTtlSeconds !== null) return looked;
  return { outcome: 'already_gone' as const, receipt: looked.receipt };
}

const burn = define({
  ...onReceipt,
  name: 'v2.burn',
  method: 'POST',
  path: '/private/:key/burn',
  aliases: onNewerPaths('POST', '/burn'),
  document: {
    summary: 'Burn a secret',
    description:
      'Destroys an unread secret. With `"continue": false` it only checks that it could. (An installation in the dialect ' +
      '`upstream` also needs the `passphrase` of a protected secret, except from the owner; a wrong one is counted.)',
    tag,
    params,
    body: jsonBody(burnBody, false),
  },
  answers: {
    description: 'The record as it now is: `state` is `burned`, unless this was a check.',
    schema: burnAnswer,
    refuses: ['unknown_secret', 'already_gone', 'incorrect_passphrase', 'too_many_attempts'],
  },
  async decode(exchange: Exchange, dialect: Dialect) {
    const { fields, ignored: paths, proof } = await readBurn(exchange, dialect);
    if (dialect.burnNeedsContinue && fields.continue === null)
      throw invalidFields({ field: 'continue', message: 'Must be true for the secret to be burned' });
    const { isAbandoned } = exchange;
    const authority = dialect.managementAuthority;
    const input: BurnInput = { metadataKey: keyOf(exchange), authority, isAbandoned, proof };
    return { input, checkOnly: fields.continue === false, ignored: paths };
  },
  async handle({ input, checkOnly, ignored: paths }, caller, api) {
    const { service, links } = api;
    const outcome = checkOnly ? await checkBurn(service, input, caller) : await service.burn(input, caller);
    if (outcome.outcome !== 'burned' && outcome.outcome !== 'found')
      return answerFrom(burnTable, 'outcome', outcome, input.metadataKey, api);
    const title = outcome.receipt.state === 'burned' ? 'Secret burned' : 'Secret not burned';
    const details = { title, display_feedback: false, ...encodeIgnored(paths) };
    return okWith(outcome.receipt, caller, links, details);
  },
});

export const deliverBody = z.object({ recipient: newRecipient, locale }).meta({ id: 'V2DeliverRequest' });

export const deliverAnswer = recordAnswer('V2DeliverAnswer', { adjusted: localeAdjusted, ignored });

const deliverTable: ReceiptTable<Exclude<DeliverOutcome, { outcome: 'queued' }>> = {
  unknown: goneTable.unknown,
  in_flight: () => refuse('delivery_in_flight'),
  nothing_to_send: (kept, ...asked) =>
    kept.receipt.secretTtlSeconds === null
      ? goneTable.already_gone(kept, ...asked)
      : refuseField('recipient', 'The secret was never sent to an address: name one'),
  link_unknown: () => refuseField('recipient', 'The link of an end-to-end secret cannot be mailed from here'),
  undeliverable_recipient: (refused) => refuseField('recipient', undeliverable(refused)),
  recipient_needs_account: () => refuse('account_required', { message: recipientNeedsAccount }),
  too_many_mails: refuseMails,
};

const deliver = define({
  ...onReceipt,
  name: 'v2.deliver',
  method: 'POST',
  path: '/private/:key/deliver',
  aliases: [{ method: 'POST', path: '/receipt/:key/deliver' }],
  // Email is sent in the owner's name, so the metadata key alone is not enough.
  access: 'account',
  document: {
    summary: "Send the recipient's mail again, or to another address",
    description:
      'The mail carries the same link. The answer does not wait for the mail server: ' +
      '`record.delivery` then shows its result, and `record.recipients` the last address.',
    tag,
    params,
    body: jsonBody(deliverBody, false),
  },
  answers: {
    description: 'The mail is being sent. The record as it now is.',
    schema: deliverAnswer,
    refuses: ['unknown_secret', 'account_required', 'already_gone', 'delivery_in_flight'],
  },
  async decode(exchange: Exchange, dialect: Dialect) {
    const { fields, ignored: paths } = await readFields(exchange, deliverBody, dialect);
    return { metadataKey: keyOf(exchange), ...fields, ignored: paths };
  },
  async handle({ metadataKey, recipient, locale: asked, ignored: paths }, caller, api) {
    const granted = api.mailLocaleOf(asked);
    const input = { metadataKey, recipient, authority: 'owner', locale: granted } as const;
    const outcome = await api.service.deliver(input, caller);
    if (outcome.outcome !== 'queued') return answerFrom(deliverTable, 'outcome', outcome, metadataKey, api);
    const remarks = { adjusted: adjustedLocaleOf(asked, granted), ignored: paths };
    return okWith(outcome.receipt, caller, api.links, encodeRemarks(remarks));
  },
});

const more = (what: string) =>
  z
    .literal('more', 'Must be "more"')
    .nullish()
    .meta({
      description: `\`more\`: forgets the ${what}, and lifts a lock (\`record.locked\`). Absent or null: unchanged.`,
    });

export const changeBody = z
  .object({
    memo: text.nullish().meta(memoWords),
    ttl: ttl({
      refusal: 'Must be a whole number of seconds, or a string of its digits',
      description:
        "A waiting secret's new lifetime in seconds, from now on, at most the plan's longest since the creation. The nearest " +
        'possible is granted, and `details.adjusted` says so. Absent, empty, null or 0: unchanged.',
      examples: [86_400],
    }),
    attempts: more('wrong passphrases, so that as many may be tried as for a new secret'),
    codes: more('wrong codes, and the codes that were mailed'),
  })
  .meta({ id: 'V2ChangeRequest' });

export const changeAnswer = recordAnswer('V2ChangeAnswer', { adjusted: ttlAdjusted, ignored });

const changeTable: ReceiptTable<Exclude<ChangeOutcome, { outcome: 'found' }>> = {
  ...goneTable,
  lifetime_fixed: () =>
    refuseField('ttl', 'The lifetime of this secret cannot be changed: an earlier version stored it'),
  ill_formed: ({ field }) => refuseField(field, illFormed),
  memo_too_long: ({ maxCharacters }) => refuseField('memo', `Must be at most ${maxCharacters} characters`),
};

const change = define({
  ...onReceipt,
  name: 'v2.change',
  method: 'PATCH',
  path: '/private/:key',
  aliases: [{ method: 'PATCH', path: '/receipt/:key' }],
  document: {
    summary: "Change the creator's own label or the lifetime, or lift a lock",
    description:
      'Sets `memo`, or removes it with an empty text or null, even after the secret is gone. `ttl` gives a waiting secret ' +
      'another lifetime, from now on; the receipt lives twice as long as the whole. `"attempts": "more"` allows 100 more ' +
      'passphrases to be tried, and `"codes": "more"` 100 more codes. Absent fields keep their values.',
    tag,
    params,
    body: jsonBody(changeBody, false),
  },
  answers: {
    description: 'The record as it now is.',
    schema: changeAnswer,
    refuses: ['unknown_secret', 'already_gone'],
  },
  async decode(exchange: Exchange, dialect: Dialect) {
    const { fields, ignored: paths } = await readFields(exchange, changeBody, dialect);
    const { memo, ttl: ttlSeconds, attempts, codes } = fields;
    const input: ChangeInput = {
      metadataKey: keyOf(exchange),
      authority: dialect.managementAuthority,
      memo: typeof memo === 'string' ? new Sensitive(memo) : memo,
      ttlSeconds,
      allowsMore: attempts === 'more',
      allowsCodes: codes === 'more',
    };
    return { input, ignored: paths };
  },
  async handle({ input, ignored: paths }, caller, api) {
    const outcome = await api.service.change(input, caller);
    if (outcome.outcome !== 'found')
      return answerFrom(changeTable, 'outcome', outcome, input.metadataKey, api);
    const { receipt: changed, grantedTtlSeconds } = outcome;
    const granted = grantedTtlSeconds === null ? {} : adjustedTtl(input.ttlSeconds, grantedTtlSeconds);
    const remarks = encodeRemarks({ adjusted: granted, ignored: paths });
    return okWith(changed, caller, api.links, remarks);
  },
});

export const receiptOperations = [recent, receipt, change, burn, deliver];
