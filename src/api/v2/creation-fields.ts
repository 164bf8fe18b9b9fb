/** API v2: the fields of conceal and generate, and their content: a value, or a secret sealed by the client. */
import { z } from 'zod';
import { Sensitive } from '../../core/sensitive.ts';
import {
  charset,
  charsetNames,
  illFormed,
  length,
  lengthWords,
  locale,
  memoWords,
  noticeNames,
  notify,
  notLength,
  notRecipient,
  notText,
  optionalText,
  recipient,
  sensitiveText,
  ttl,
} from '../fields.ts';
import { sealedFields, sealedInputOf } from './sealed.ts';
import { ignoredIn, isObject, type JsonObject, parseFields } from './wire.ts';

export const nothingToShare = 'You did not provide anything to share';

const value = z
  .string({
    error: (issue) => (issue.input === undefined || issue.input === null ? nothingToShare : notText),
  })
  .min(1, nothingToShare)
  .refine((given) => given.isWellFormed(), illFormed)
  .meta({
    description:
      'The text to share. Its largest size in bytes of UTF-8 depends on the plan; it is never cut.',
    examples: ['correct horse battery staple'],
  });

const creationFields = {
  passphrase: sensitiveText({
    description:
      'Needed to read the secret; also part of its encryption key. 1 to 1,024 bytes; empty means none.',
  }),
  ttl: ttl({
    refusal: 'Must be a whole number of seconds, or a string of its digits',
    description:
      "Lifetime in seconds. Outside of the plan's bounds the nearest is granted, and `details.adjusted` says so. " +
      "Absent, empty, null or 0: the plan's default.",
    examples: [3600],
  }),
  recipient: recipient({
    refusal: notRecipient,
    description: 'An e-mail address that is sent the link, never the value. Needs an account.',
    examples: ['alan@example.org'],
  }),
  share_domain: optionalText({
    description: "A share domain of the account's, or the one that the request arrives on, for the link.",
  }),
  locale,
  notify: notify({
    refusal: `Must name one or more of ${noticeNames}, or be none`,
    description:
      'The notices that the account gets about this secret, as a list or joined by commas: `read`, `burned`, `expiring` ' +
      "(it is about to expire unread). `none` or an empty list: none. Absent: the account's own setting.",
    examples: [['read']],
  }),
  memo: sensitiveText(memoWords),
  note: sensitiveText({
    description:
      'One line for the recipient, up to 140 characters, shown before the secret is opened and encrypted like it: in no mail, list or ' +
      'receipt, and gone with the secret. White space is joined and direction characters are dropped. Empty or null: none.',
    examples: ['For Ana: the Wi-Fi of ward 4'],
  }),
  verify: sensitiveText({
    description:
      'An e-mail address. Opening the secret then takes a code that is mailed there when its opener asks for it. Needs an account, cannot be ' +
      'changed later, and no answer repeats it. Check that the answer has `verify: true`: an earlier version ignores the field.',
  }),
};

export type CreationFields = z.output<z.ZodObject<typeof creationFields>>;

export const concealFields = z.object({ secret: value, ...creationFields }).meta({ id: 'V2ConcealFields' });

export const generateFields = z
  .object({
    ...creationFields,
    verify: z
      .union([z.literal(''), z.null()], 'Must be absent: the value is generated here')
      .optional()
      .transform(() => null),
    length: length({ refusal: `Must be ${notLength}`, ...lengthWords }),
    charset: charset({
      refusal: `Must name one or more of ${charsetNames}`,
      description:
        'Sets to draw from, as a list or joined by commas; all when absent. At least one character of each.',
      examples: [['lower', 'digits']],
    }),
  })
  .meta({ id: 'V2GenerateFields' });

export const concealSealedFields = z
  .object({
    sealed: sealedFields,
    ttl: creationFields.ttl,
    share_domain: creationFields.share_domain,
    notify: creationFields.notify,
    memo: creationFields.memo,
    verify: creationFields.verify,
  })
  .meta({ id: 'V2ConcealSealedFields' });

/** Built once, because building a schema costs more than parsing. */
const plainForm = concealFields.extend({ sealed: z.null() });

/** Also reads the fields that `sealed` excludes, so that the core can refuse them. */
const sealedForm = z.object({
  sealed: sealedFields,
  secret: sensitiveText({ description: '' }),
  ...creationFields,
});

/** Either nested under `secret`, as existing clients send it, or flat. */
export const concealBody = z.union([
  z.object({ secret: concealFields }).meta({ title: 'nested' }),
  concealFields,
  z.object({ secret: concealSealedFields }).meta({ title: 'end-to-end, nested' }),
  concealSealedFields,
]);

const generation = { ttl: 3600, recipient: 'alan@example.org', length: 20, charset: ['lower', 'digits'] };

export const generateBody = z.union([
  z.object({ secret: generateFields.nullish().meta({ examples: [generation] }) }).meta({ title: 'nested' }),
  generateFields,
]);

export function isGiven(sealed: unknown): boolean {
  return sealed !== undefined && sealed !== null;
}

/** @param prefix the start of a field's name in the body as sent */
export function readConcealed(raw: JsonObject, prefix: string) {
  if (!isGiven(raw.sealed)) {
    const fields = parseFields(concealFields, raw, prefix);
    const content = { value: new Sensitive(fields.secret), sealed: null };
    return { fields, content, schema: plainForm, unknown: [] };
  }
  const fields = parseFields(sealedForm, raw, prefix);
  const content = { value: fields.secret ?? new Sensitive(''), sealed: sealedInputOf(fields.sealed) };
  const unknown = isObject(raw.sealed) ? ignoredIn(raw.sealed, sealedFields, `${prefix}sealed.`) : [];
  return { fields, content, schema: sealedForm, unknown };
}
