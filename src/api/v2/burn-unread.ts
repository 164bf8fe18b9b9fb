/** API v2: burning a secret by its link, in place of reading it. Only those who could read it can, and they learn nothing of it here. */
import { z } from 'zod';
import type { Caller } from '../../core/account.ts';
import type { Exchange } from '../../http/operation.ts';
import { key } from '../fields.ts';
import type { Dialect } from './dialect.ts';
import { define, definition, forGuests, jsonBody, ok } from './operation.ts';
import { custid, custidOf, success } from './records.ts';
import { accessFields, accessIn, answerInspected, inspectAnswer, params, refuseSecret } from './secrets.ts';
import { encodeIgnored, ignored, keyOf, proceed, readFields } from './wire.ts';

export const burnUnreadBody = z
  .object({
    ...accessFields,
    continue: proceed('false only checks: nothing is burned.'),
  })
  .meta({ id: 'V2BurnUnreadRequest' });

export const burnUnreadAnswer = z
  .object({
    success,
    custid,
    record: z
      .object({
        identifier: key,
        key: key.meta({ description: 'The secret key, as given.' }),
        state: z.literal('burned'),
      })
      .meta({ id: 'V2BurnedSecretRecord' }),
    details: z.object({ ignored }),
  })
  .meta({ id: 'V2BurnUnreadAnswer' });

const burning = definition({
  name: 'v2.burnUnread',
  method: 'POST',
  path: '/secret/:key/burn',
  access: 'anyone',
  limit: 'manage',
  document: {
    summary: 'Burn a secret by its link',
    description:
      'Destroys a secret that nobody has read, and answers nothing of it. Takes what reading it takes: the passphrase, or for an ' +
      'end-to-end secret `link_proof` and `proof`; wrong passphrases are counted together with those of reveals. Its creator ' +
      'sees that the recipient burned it: `burned_by` in the record. A secret that is gone already is unknown. ' +
      'With `"continue": false` it only checks, and answers as `GET /secret/:key` does.',
    tag: 'Secrets',
    params,
    body: jsonBody(burnUnreadBody, false),
  },
  answers: {
    description: 'It is burned; or, with `"continue": false`, the record of the secret, which waits.',
    schema: z.union([burnUnreadAnswer, inspectAnswer]),
    refuses: ['unknown_secret', 'incorrect_passphrase', 'incomplete_link', 'not_sealed', 'too_many_attempts'],
  },
  async decode(exchange: Exchange, dialect: Dialect) {
    const { fields, ignored: paths } = await readFields(exchange, burnUnreadBody, dialect);
    const { clientPrefix, isAbandoned } = exchange;
    const input = { secretKey: keyOf(exchange), clientPrefix, isAbandoned, ...accessIn(fields) };
    return { input, checkOnly: fields.continue === false, ignored: paths };
  },
  async handle({ input, checkOnly, ignored: paths }, caller, { service }) {
    const { secretKey } = input;
    if (checkOnly) return answerInspected(await service.inspect(input, caller), secretKey, caller, paths);
    const outcome = await service.burnByRecipient(input);
    return outcome.outcome === 'burned'
      ? ok(encodeBurned(secretKey, caller, paths))
      : refuseSecret(outcome, secretKey);
  },
});

function encodeBurned(
  secretKey: string,
  caller: Caller,
  paths: readonly string[],
): z.output<typeof burnUnreadAnswer> {
  const record = { identifier: secretKey, key: secretKey, state: 'burned' } as const;
  return { success: true, custid: custidOf(caller), record, details: encodeIgnored(paths) };
}

export const burnUnread = define(burning);
export const guestBurnUnread = forGuests(burning);
