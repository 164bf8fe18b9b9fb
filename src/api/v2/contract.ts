/**
 * The contract of API v2 as data: every operation with its paths, access, schemas, sentences and refusals.
 *
 * Owns: which endpoint exists, who may call it and what it may answer; the OpenAPI document says the same because it is
 * made from this. Invariant: an operation answers only what it lists here. The operation `POST /private/:key/burn`
 * destroys, `POST /secret/:key/reveal` consumes, and no other changes a waiting secret (P4).
 */
import {
  decodeBurn,
  decodeChange,
  decodeConceal,
  decodeDeliver,
  decodeGenerate,
  decodeInspect,
  decodeKey,
  decodeNothing,
  decodeRecent,
  decodeReveal,
  decodeStatuses,
} from './decode.ts';
import { describe, forGuests, jsonBody, undescribed } from './describe.ts';
import {
  burnBody,
  changeBody,
  concealBody,
  deliverBody,
  generateBody,
  inspectHeaders,
  inspectQuery,
  recentQuery,
  revealBody,
  statusesBody,
} from './requests.ts';
import {
  authcheckAnswer,
  burnAnswer,
  changeAnswer,
  concealAnswer,
  deliverAnswer,
  generateAnswer,
  inspectAnswer,
  localesAnswer,
  metadataAnswer,
  recentAnswer,
  revealAnswer,
  serviceStatusAnswer,
  statusAnswer,
  statusesAnswer,
  unknownStatusAnswer,
  versionAnswer,
} from './responses.ts';

export const base = '/api/v2';

const secretKeyParam = { key: 'The secret key.' };
const metadataKeyParam = { key: 'The metadata key.' };

const concealing = undescribed({
  name: 'v2.conceal',
  method: 'POST',
  path: '/secret/conceal',
  access: 'anyone',
  scope: 'create',
  limit: 'create',
  document: {
    summary: 'Create a secret',
    description:
      'Stores a value and answers the two keys: the secret key to give away, and the metadata key to keep. ' +
      'The fields stand under `secret`, or flat in the body.',
    tag: 'Secrets',
    body: jsonBody(concealBody, true),
  },
  answers: {
    description:
      'The secret waits. `record.receipt` is the same object as `record.metadata`. `details.adjusted` says what was ' +
      'granted other than asked, and `details.ignored` names unknown fields.',
    schema: concealAnswer,
    refuses: ['account_required', 'public_sharing_disabled'],
  },
  decode: decodeConceal,
});

export const conceal = describe(concealing);
export const guestConceal = forGuests(concealing);

const generating = undescribed({
  name: 'v2.generate',
  method: 'POST',
  path: '/secret/generate',
  access: 'anyone',
  scope: 'create',
  limit: 'create',
  document: {
    summary: 'Generate a secret',
    description: 'Creates a secret with a random value, and answers that value this once.',
    tag: 'Secrets',
    body: jsonBody(generateBody, false),
  },
  answers: {
    description: 'The secret waits; `record.secret.secret_value` is its value.',
    schema: generateAnswer,
    refuses: ['account_required', 'public_sharing_disabled'],
  },
  decode: decodeGenerate,
});

export const generate = describe(generating);
export const guestGenerate = forGuests(generating);

const inspecting = undescribed({
  name: 'v2.inspect',
  method: 'GET',
  path: '/secret/:key',
  access: 'anyone',
  limit: 'manage',
  document: {
    summary: 'Look at a secret without reading it',
    description:
      'Needs the passphrase if the secret has one, and never consumes. Wrong passphrases are counted.',
    tag: 'Secrets',
    params: secretKeyParam,
    query: inspectQuery,
    headers: inspectHeaders,
  },
  answers: {
    description: 'The secret waits and the passphrase, if it has one, was right.',
    schema: inspectAnswer,
    refuses: ['unknown_secret', 'incorrect_passphrase', 'too_many_attempts'],
  },
  decode: decodeInspect,
});

export const inspect = describe(inspecting);
export const guestInspect = forGuests(inspecting);

export const secretStatus = describe({
  name: 'v2.secretStatus',
  method: 'GET',
  path: '/secret/:key/status',
  access: 'anyone',
  limit: 'manage',
  document: {
    summary: 'Ask whether a secret still waits',
    description: 'Needs no passphrase and changes nothing.',
    tag: 'Secrets',
    params: secretKeyParam,
  },
  answers: {
    description:
      'The secret waits. (An installation in the dialect `upstream` answers `unknown` too, in place of 404.)',
    schema: statusAnswer.or(unknownStatusAnswer),
    refuses: ['unknown_secret'],
  },
  decode: decodeKey,
});

export const secretStatuses = describe({
  name: 'v2.secretStatuses',
  method: 'POST',
  path: '/secret/status',
  access: 'anyone',
  limit: 'manage',
  document: {
    summary: 'Ask which of several secrets still wait',
    description:
      'Needs no passphrase and changes nothing. Where there are regions, each answers for its own secrets: one of ' +
      'another region is `unknown` here.',
    tag: 'Secrets',
    body: jsonBody(statusesBody, true),
  },
  answers: { description: 'One record for each.', schema: statusesAnswer, refuses: [] },
  decode: decodeStatuses,
});

const revealing = undescribed({
  name: 'v2.reveal',
  method: 'POST',
  path: '/secret/:key/reveal',
  access: 'anyone',
  limit: 'manage',
  document: {
    summary: 'Read a secret, once',
    description:
      'Consumes the secret and answers its value; nobody can read it again. A wrong passphrase consumes nothing. ' +
      'With `"continue": false` it only checks, and answers as `GET /secret/:key` does.',
    tag: 'Secrets',
    params: secretKeyParam,
    body: jsonBody(revealBody, false),
  },
  answers: {
    description: 'The value, this one time; or, with `"continue": false`, the record without it.',
    schema: revealAnswer.or(inspectAnswer),
    refuses: ['unknown_secret', 'incorrect_passphrase', 'too_many_attempts'],
  },
  decode: decodeReveal,
});

export const reveal = describe(revealing);
export const guestReveal = forGuests(revealing);

export const recent = describe({
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
    tag: 'Metadata',
    query: recentQuery,
  },
  answers: { description: 'One page.', schema: recentAnswer, refuses: ['invalid_field'] },
  decode: decodeRecent,
});

export const receipt = describe({
  name: 'v2.receipt',
  method: 'GET',
  path: '/private/:key',
  aliases: [{ method: 'GET', path: '/receipt/:key' }],
  access: 'account',
  scope: 'manage',
  limit: 'manage',
  document: {
    summary: "Fetch a secret's metadata",
    description:
      'Shows whether and when the secret was read. An account sees its own records, and any account that holds the ' +
      'metadata key those made anonymously.',
    tag: 'Metadata',
    params: metadataKeyParam,
  },
  answers: { description: 'The record.', schema: metadataAnswer, refuses: ['unknown_secret'] },
  decode: decodeKey,
});

export const change = describe({
  name: 'v2.change',
  method: 'PATCH',
  path: '/private/:key',
  aliases: [{ method: 'PATCH', path: '/receipt/:key' }],
  access: 'account',
  scope: 'manage',
  limit: 'manage',
  document: {
    summary: "Change the creator's own label",
    description:
      'Sets `memo`, or removes it with an empty text or null, also once the secret is gone. What is not given stays.',
    tag: 'Metadata',
    params: metadataKeyParam,
    body: jsonBody(changeBody, false),
  },
  answers: { description: 'The record as it now is.', schema: changeAnswer, refuses: ['unknown_secret'] },
  decode: decodeChange,
});

export const burn = describe({
  name: 'v2.burn',
  method: 'POST',
  path: '/private/:key/burn',
  aliases: [{ method: 'POST', path: '/receipt/:key/burn' }],
  access: 'account',
  scope: 'manage',
  limit: 'manage',
  document: {
    summary: 'Burn a secret',
    description:
      'Destroys a secret that nobody has read. With `"continue": false` it only checks that it could.',
    tag: 'Metadata',
    params: metadataKeyParam,
    body: jsonBody(burnBody, false),
  },
  answers: {
    description: 'The record as it now is: `state` is `burned`, unless this was a check.',
    schema: burnAnswer,
    refuses: ['unknown_secret', 'already_gone'],
  },
  decode: decodeBurn,
});

export const deliver = describe({
  name: 'v2.deliver',
  method: 'POST',
  path: '/private/:key/deliver',
  aliases: [{ method: 'POST', path: '/receipt/:key/deliver' }],
  access: 'account',
  scope: 'manage',
  limit: 'manage',
  document: {
    summary: "Send the recipient's mail again, or to another address",
    description:
      'The mail carries the same link. The answer does not wait for the mail server: ' +
      '`record.delivery` says what becomes of the mail, and `record.recipients` where the last one went.',
    tag: 'Metadata',
    params: metadataKeyParam,
    body: jsonBody(deliverBody, false),
  },
  answers: {
    description: 'The mail is being sent. The record as it now is.',
    schema: deliverAnswer,
    refuses: ['unknown_secret', 'account_required', 'already_gone', 'delivery_in_flight'],
  },
  decode: decodeDeliver,
});

export const serviceStatus = describe({
  name: 'v2.status',
  method: 'GET',
  path: '/status',
  access: 'open',
  limit: 'none',
  document: { summary: 'Whether the service works', tag: 'Service' },
  answers: { description: 'It works.', schema: serviceStatusAnswer, refuses: [] },
  decode: decodeNothing,
});

export const version = describe({
  name: 'v2.version',
  method: 'GET',
  path: '/version',
  access: 'open',
  limit: 'none',
  document: { summary: 'The version of the service', tag: 'Service' },
  answers: { description: 'Major, minor and patch.', schema: versionAnswer, refuses: [] },
  decode: decodeNothing,
});

export const locales = describe({
  name: 'v2.locales',
  method: 'GET',
  path: '/supported-locales',
  access: 'open',
  limit: 'none',
  document: { summary: 'The languages of the service', tag: 'Service' },
  answers: { description: 'The languages.', schema: localesAnswer, refuses: [] },
  decode: decodeNothing,
});

export const authcheck = describe({
  name: 'v2.authcheck',
  method: 'GET',
  path: '/authcheck',
  access: 'account',
  limit: 'manage',
  document: { summary: 'Whether the credentials are right', tag: 'Service' },
  answers: { description: 'They are; this is the account.', schema: authcheckAnswer, refuses: [] },
  decode: decodeNothing,
});
