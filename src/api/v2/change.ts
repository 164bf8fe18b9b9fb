/** API v2: changes to a record. Absent fields keep their values. */
import { z } from 'zod';
import type { ChangeOutcome } from '../../core/secrets/outcomes.ts';
import { Sensitive } from '../../core/sensitive.ts';
import type { Exchange } from '../../http/operation.ts';
import { text as givenText, illFormed, memoWords, ttl } from '../fields.ts';
import { answerFrom, type Table } from '../version.ts';
import type { Dialect } from './dialect.ts';
import { type Api, define, jsonBody } from './operation.ts';
import { alreadyGone, okWith, onReceipt, params, tag, unknownMetadata } from './receipts.ts';
import { custid, metadataRecord, recordDetails, success } from './records.ts';
import { refuseFields } from './refusals.ts';
import { adjustedTtl, encodeRemarks, ignored, keyOf, readFields, ttlAdjusted } from './wire.ts';

export const changeBody = z
  .object({
    memo: givenText.nullish().meta(memoWords),
    ttl: ttl({
      refusal: 'Must be a whole number of seconds, or a string of its digits',
      description:
        "A waiting secret's new lifetime in seconds, from now on; it ends at the plan's longest since the creation at the latest. " +
        'The nearest possible is granted, and `details.adjusted` says so. Absent, empty, null or 0: unchanged.',
      examples: [86_400],
    }),
    attempts: z
      .literal('more', 'Must be "more"')
      .nullish()
      .meta({
        description:
          '`more`: forgets the wrong passphrases at a waiting secret, so that as many may be tried as at a new one. It lifts a lock ' +
          '(`record.locked`). Absent or null: unchanged.',
      }),
  })
  .meta({ id: 'V2ChangeRequest' });

export const changeAnswer = z
  .object({
    success,
    custid,
    record: metadataRecord,
    details: z.object({ ...recordDetails, adjusted: ttlAdjusted, ignored }),
  })
  .meta({ id: 'V2ChangeAnswer' });

type ChangeRefusal = Exclude<ChangeOutcome, { outcome: 'found' }>;

const changeTable: Table<ChangeRefusal, 'outcome', [metadataKey: string, api: Api]> = {
  unknown: (_, metadataKey, { dialect }) => unknownMetadata(metadataKey, dialect),
  already_gone: ({ receipt }, _metadataKey, { links }) => alreadyGone(receipt, links),
  lifetime_fixed: () =>
    refuseFields([
      {
        field: 'ttl',
        message: 'The lifetime of this secret cannot be changed: an earlier version stored it',
      },
    ]),
  ill_formed: ({ field }) => refuseFields([{ field, message: illFormed }]),
  memo_too_long: ({ maxCharacters }) =>
    refuseFields([{ field: 'memo', message: `Must be at most ${maxCharacters} characters` }]),
};

export const change = define({
  ...onReceipt,
  name: 'v2.change',
  method: 'PATCH',
  path: '/private/:key',
  aliases: [{ method: 'PATCH', path: '/receipt/:key' }],
  document: {
    summary: "Change the creator's own label or the lifetime, or lift a lock",
    description:
      'Sets `memo`, or removes it with an empty text or null, also once the secret is gone. `ttl` gives a waiting secret ' +
      'another lifetime, from now on; the receipt then lives twice as long as the whole. `"attempts": "more"` allows 100 more passphrases to be tried. ' +
      'What is not given stays.',
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
    const { memo, ttl: ttlSeconds, attempts } = fields;
    return { metadataKey: keyOf(exchange), memo, ttlSeconds, attempts, ignored: paths };
  },
  async handle({ metadataKey, memo, ttlSeconds, attempts, ignored: paths }, caller, api) {
    const { service, links, dialect } = api;
    const outcome = await service.change(
      {
        metadataKey,
        authority: dialect.managementAuthority,
        memo: typeof memo === 'string' ? new Sensitive(memo) : memo,
        ttlSeconds,
        allowsMore: attempts === 'more',
      },
      caller,
    );
    if (outcome.outcome !== 'found') return answerFrom(changeTable, 'outcome', outcome, metadataKey, api);
    const { receipt, grantedTtlSeconds } = outcome;
    const granted = grantedTtlSeconds === null ? {} : adjustedTtl(ttlSeconds, grantedTtlSeconds);
    return okWith(receipt, encodeRemarks({ adjusted: granted, ignored: paths }), caller, links);
  },
});
