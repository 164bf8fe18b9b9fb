/** API v2: reading a secret, which consumes it (P1), and the end of its second look. */

import { z } from 'zod';
import type { Caller } from '../../core/account.ts';
import { nonceIn } from '../../core/secrets/look.ts';
import type { RevealOutcome } from '../../core/secrets/outcomes.ts';
import type { Exchange } from '../../http/operation.ts';
import { sixteenBytesForm } from '../../protocol/base64url.ts';
import type { Dialect } from './dialect.ts';
import { define, definition, forGuests, jsonBody, ok } from './operation.ts';
import {
  custid,
  custidOf,
  encodeSecret,
  openedSecretRecord,
  success,
  unsealedSecretRecord,
} from './records.ts';
import { encodeSealed } from './sealed.ts';
import {
  accessFields,
  accessIn,
  answerInspected,
  flag,
  inspectAnswer,
  lookDetails,
  params,
  refuseSecret,
} from './secrets.ts';
import { encodeIgnored, ignored, keyOf, proceed, readFields } from './wire.ts';

const notLook = 'Must be 16 random bytes as base64url: 22 characters';

/** In its only spelling; the core's bytes. */
const look = (description: string) =>
  z
    .string(notLook)
    .regex(sixteenBytesForm, notLook)
    .meta({ description, examples: ['rZ5vTqk0o1l8VYdJ3mXc2A'] })
    .transform(nonceIn);

export const revealBody = z
  .object({
    ...accessFields,
    continue: proceed('false only checks: nothing is consumed and no value is returned.'),
    look: look(
      'A nonce that the caller draws for this secret: 16 random bytes as base64url, 22 characters. With the same one the answer ' +
        'may be asked for again, should it be lost: three answers in all, within a minute of the first. Absent or null: strictly once.',
    ).nullish(),
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

/** The height of a text area that shows the value, as the existing service computes it. */
export function displayLines(value: string): number {
  const breaks = value.split('\n').length - 1;
  return Math.min(mostLines, Math.trunc((columns + value.length) / columns) + breaks + spareLines);
}

const revealing = definition({
  name: 'v2.reveal',
  method: 'POST',
  path: '/secret/:key/reveal',
  access: 'anyone',
  limit: 'manage',
  document: {
    summary: 'Read a secret, once',
    description:
      'Consumes the secret and answers its value; nobody can read it again, but for the caller who sends the same `look` ' +
      'within a minute. A wrong passphrase consumes nothing. ' +
      'An end-to-end secret takes `link_proof` and `proof`, and answers ciphertext; without the whole link nothing is ' +
      'consumed or counted. Where proofs are sent for a secret that is not end-to-end, it is refused. ' +
      'With `"continue": false` it only checks, and answers as `GET /secret/:key` does.',
    tag: 'Secrets',
    params,
    body: jsonBody(revealBody, false),
  },
  answers: {
    description: 'The value, this one time; or, with `"continue": false`, the record without it.',
    schema: z.union([revealAnswer, sealedRevealAnswer, inspectAnswer]),
    refuses: ['unknown_secret', 'incorrect_passphrase', 'incomplete_link', 'not_sealed', 'too_many_attempts'],
  },
  async decode(exchange: Exchange, dialect: Dialect) {
    const { fields, ignored: paths } = await readFields(exchange, revealBody, dialect);
    const { clientPrefix, isAbandoned } = exchange;
    const { look: nonce = null } = fields;
    const given = { ...accessIn(fields), look: nonce };
    const input = { secretKey: keyOf(exchange), clientPrefix, isAbandoned, ...given };
    return { input, checkOnly: !(fields.continue ?? !dialect.revealNeedsContinue), ignored: paths };
  },
  async handle({ input, checkOnly, ignored: paths }, caller, { service }) {
    const { secretKey } = input;
    if (checkOnly) return answerInspected(await service.inspect(input, caller), secretKey, caller, paths);
    const outcome = await service.reveal(input, caller);
    if (outcome.outcome !== 'revealed') return refuseSecret(outcome, secretKey);
    return ok(encodeRevealed(outcome, caller, paths));
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

export const reveal = define(revealing);
export const guestReveal = forGuests(revealing);

export const revealDoneBody = z
  .object({ look: look('The nonce that the secret was revealed with.') })
  .meta({ id: 'V2RevealDoneRequest' });

export const revealDoneAnswer = z.object({ success }).meta({ id: 'V2RevealDoneAnswer' });

const finishing = definition({
  name: 'v2.revealDone',
  method: 'POST',
  path: '/secret/:key/reveal/done',
  access: 'anyone',
  limit: 'manage',
  document: {
    summary: 'End the second look',
    description:
      'The answer to a reveal with this `look` has arrived: from now on it is not repeated, and what was kept for that is erased. ' +
      'Answers the same whether or not there was anything to end.',
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

export const revealDone = define(finishing);
export const guestRevealDone = forGuests(finishing);
