/** API v2: reading a secret, which consumes it (P1), ending its second look, and burning it by its link. */

import { z } from 'zod';
import type { Caller } from '../../core/account.ts';
import type { RevealOutcome } from '../../core/secrets/outcomes.ts';
import type { Exchange } from '../../http/operation.ts';
import { key, sensitiveText } from '../fields.ts';
import type { Dialect } from './dialect.ts';
import { jsonBody, ok, onSecret, withGuests } from './operation.ts';
import {
  custid,
  custidOf,
  encodeSecret,
  openedSecretRecord,
  success,
  unsealedSecretRecord,
} from './records.ts';
import { encodeSealed, proofFields, proofsIn } from './sealed.ts';
import { answerInspected, flag, inspectAnswer, look, lookDetails, params, refuseSecret } from './secrets.ts';
import { encodeIgnored, ignored, invalidFields, keyOf, proceed, readFields } from './wire.ts';

const openingRefuses = [
  ...(['unknown_secret', 'incorrect_passphrase', 'incomplete_link', 'not_sealed'] as const),
  ...(['code_required', 'incorrect_code', 'too_many_attempts'] as const),
];

const notCode = 'Must be a text of six digits';

/** Fields for opening a secret, or for burning it by its link. */
const accessFields = {
  passphrase: sensitiveText({
    description: 'Needed when the secret was made with one. Never sent for an end-to-end secret.',
  }),
  ...proofFields,
  look: look(
    'A nonce that the caller draws for this secret: 16 random bytes as base64url, 22 characters. With the same one a lost answer of a ' +
      'reveal may be requested again: three answers in all, within a minute of the first. Absent or null: strictly once.',
  ).nullish(),
  code: z
    .string(notCode)
    .regex(/^[0-9]{6}$/, notCode)
    .nullish()
    .meta({ description: 'Where `verify` is true: the code that was mailed for this `look`. Else ignored.' }),
};

export const revealBody = z
  .object({
    ...accessFields,
    continue: proceed('false only checks: nothing is consumed and no value is returned.'),
  })
  .meta({ id: 'V2RevealRequest' });

export const revealAnswer = z
  .object({
    success,
    custid,
    record: openedSecretRecord,
    details: z.object({ ...lookDetails, display_lines: z.int().min(1).max(30), one_liner: flag, ignored }),
  })
  .meta({ id: 'V2RevealAnswer' });

export const sealedRevealAnswer = z
  .object({
    success,
    custid,
    record: unsealedSecretRecord,
    details: z.object({ ...lookDetails, ignored }),
  })
  .meta({ id: 'V2SealedRevealAnswer' });

const columns = 80;
const spareLines = 3;
const mostLines = 30;

/** Returns the height of a text area that shows the value, computed as in the existing service. */
export function displayLines(value: string): number {
  const breaks = value.split('\n').length - 1;
  return Math.min(mostLines, Math.trunc((columns + value.length) / columns) + breaks + spareLines);
}

/** Accepts both proofs or neither, and no passphrase alongside them, since the server must not see it. A code belongs to a nonce. */
async function readOpening(
  exchange: Exchange,
  body: typeof revealBody | typeof burnUnreadBody,
  dialect: Dialect,
) {
  const { fields, ignored: paths } = await readFields(exchange, body, dialect);
  const { passphrase, look: nonce = null, code = null } = fields;
  const proofs = proofsIn(fields);
  if (proofs === 'half') {
    const field = fields.proof == null ? 'proof' : 'link_proof';
    throw invalidFields({ field, message: 'Must be given with the other proof' });
  }
  if (proofs !== null && passphrase !== null)
    throw invalidFields({ field: 'passphrase', message: 'Must not be sent beside proofs' });
  if (code !== null && nonce === null)
    throw invalidFields({ field: 'look', message: 'Must be given with a code' });
  const { clientPrefix, isAbandoned } = exchange;
  const given = { passphrase, proofs, look: nonce, code };
  return {
    input: { secretKey: keyOf(exchange), clientPrefix, isAbandoned, ...given },
    proceeds: fields.continue,
    ignored: paths,
  };
}

const reveal = withGuests({
  ...onSecret,
  name: 'v2.reveal',
  method: 'POST',
  path: '/secret/:key/reveal',
  document: {
    summary: 'Read a secret, once',
    description:
      'Consumes the secret and answers its value; only a caller who sends the same `look` within a minute can read it again. ' +
      'A wrong passphrase consumes nothing. ' +
      'An end-to-end secret takes `link_proof` and `proof`, and answers ciphertext; without the whole link nothing is ' +
      'consumed or counted. Proofs for a secret that is not end-to-end are refused. ' +
      'Where `verify` is true it also takes `look` and `code`, and tries no passphrase without the right code. ' +
      'With `"continue": false` it only checks, and answers as `GET /secret/:key` does.',
    tag: 'Secrets',
    params,
    body: jsonBody(revealBody, false),
  },
  answers: {
    description: 'The value, this one time; or, with `"continue": false`, the record without it.',
    schema: z.union([revealAnswer, sealedRevealAnswer, inspectAnswer]),
    refuses: openingRefuses,
  },
  async decode(exchange: Exchange, dialect: Dialect) {
    const { proceeds, ...read } = await readOpening(exchange, revealBody, dialect);
    return { ...read, checkOnly: !(proceeds ?? !dialect.revealNeedsContinue) };
  },
  async handle({ input, checkOnly, ignored: paths }, caller, { service }) {
    const { secretKey } = input;
    if (checkOnly) return answerInspected(await service.inspect(input, caller), secretKey, caller, paths);
    const outcome = await service.reveal(input, caller);
    return outcome.outcome === 'revealed'
      ? ok(encodeRevealed(outcome, caller, paths))
      : refuseSecret(outcome, secretKey);
  },
});

type Revealed = Extract<RevealOutcome, { outcome: 'revealed' }>;

function encodeRevealed(
  { secret, content }: Revealed,
  caller: Caller,
  paths: readonly string[],
): z.output<typeof revealAnswer> | z.output<typeof sealedRevealAnswer> {
  const start = { success: true as const, custid: custidOf(caller) };
  const record = encodeSecret(secret);
  const details = {
    continue: true,
    is_owner: secret.isOwner,
    show_secret: true,
    correct_passphrase: true,
    ...encodeIgnored(paths),
  };
  if (content.kind === 'sealed')
    return { ...start, record: { ...record, sealed: encodeSealed(content) }, details };
  const value = content.value.expose();
  const lines = { display_lines: displayLines(value), one_liner: !value.includes('\n') };
  return { ...start, record: { ...record, secret_value: value }, details: { ...details, ...lines } };
}

export const revealDoneBody = z
  .object({ look: look('The nonce that the secret was revealed with.') })
  .meta({ id: 'V2RevealDoneRequest' });

export const revealDoneAnswer = z.object({ success }).meta({ id: 'V2RevealDoneAnswer' });

const revealDone = withGuests({
  ...onSecret,
  name: 'v2.revealDone',
  method: 'POST',
  path: '/secret/:key/reveal/done',
  document: {
    summary: 'End the second look',
    description:
      'Says that the answer to a reveal with this `look` has arrived: it is not repeated any more, and what was kept for that is ' +
      'erased. Answers the same whether or not there was anything to end.',
    tag: 'Secrets',
    params,
    body: jsonBody(revealDoneBody, true),
  },
  answers: { description: 'It is not repeated any more.', schema: revealDoneAnswer, refuses: [] },
  async decode(exchange: Exchange, dialect: Dialect) {
    const { fields } = await readFields(exchange, revealDoneBody, dialect);
    return { secretKey: keyOf(exchange), look: fields.look };
  },
  async handle(input, _caller, { service }) {
    await service.finishLook(input);
    return ok({ success: true } satisfies z.output<typeof revealDoneAnswer>);
  },
});

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

const burnUnread = withGuests({
  ...onSecret,
  name: 'v2.burnUnread',
  method: 'POST',
  path: '/secret/:key/burn',
  document: {
    summary: 'Burn a secret by its link',
    description:
      'Destroys an unread secret, and answers nothing of it. Needs what reading it needs: the passphrase, or for an ' +
      'end-to-end secret `link_proof` and `proof`, and where `verify` is true `look` and `code`; wrong ones count together with those ' +
      "of reveals. The creator's " +
      'record shows that the recipient burned it. A secret that is already gone is unknown. ' +
      'With `"continue": false` it only checks, and answers as `GET /secret/:key` does.',
    tag: 'Secrets',
    params,
    body: jsonBody(burnUnreadBody, false),
  },
  answers: {
    description: 'It is burned; or, with `"continue": false`, the record of the secret, which waits.',
    schema: z.union([burnUnreadAnswer, inspectAnswer]),
    refuses: openingRefuses,
  },
  async decode(exchange: Exchange, dialect: Dialect) {
    const { proceeds, ...read } = await readOpening(exchange, burnUnreadBody, dialect);
    return { ...read, checkOnly: proceeds === false };
  },
  async handle({ input, checkOnly, ignored: paths }, caller, { service }) {
    const { secretKey } = input;
    if (checkOnly) return answerInspected(await service.inspect(input, caller), secretKey, caller, paths);
    const outcome = await service.burnByRecipient(input);
    if (outcome.outcome !== 'burned') return refuseSecret(outcome, secretKey);
    return ok({
      success: true,
      custid: custidOf(caller),
      record: { identifier: secretKey, key: secretKey, state: 'burned' },
      details: encodeIgnored(paths),
    } satisfies z.output<typeof burnUnreadAnswer>);
  },
});

export const revealOperations = [...reveal, ...revealDone, ...burnUnread];
