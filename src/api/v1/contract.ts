/**
 * The operations of v1 as data.
 *
 * Owns: names, methods, paths and aliases, who may call, which limit counts, and what each answers. Invariant: this is
 * the whole of v1's surface; nothing else adds a path. Who may manage depends on the dialect and is set where the
 * operations are bound (`handlers.ts`).
 */
import type { Operation, OperationDocument } from '../../http/operation.ts';
import {
  burnedRecord,
  concealForm,
  faultBody,
  generatedRecord,
  generateForm,
  metadataRecord,
  nominalStatus,
  passphraseForm,
  recentRecords,
  refusalBody,
  revealedSecret,
  unknownSecretBody,
} from './records.ts';

/** An operation without its code. */
export type OperationContract = Omit<Operation, 'decode' | 'handle'>;

type Responses = OperationDocument['responses'];

const formTypes = ['application/x-www-form-urlencoded', 'multipart/form-data', 'application/json'] as const;
const carriage =
  'Parameters travel as a form, as multipart, as a JSON object or in the query string; the body wins over the query. ' +
  'A parameter given twice is refused, an unknown one ignored and named in Mayfly-Ignored, an empty one counts as not given.';
const answerHeaders = ['Mayfly-Ignored'] as const;

/** What any operation may answer. */
const common: Responses = {
  401: { description: 'The credentials are wrong, or needed and missing.', schema: refusalBody },
  403: { description: 'A browser sent this from a page of another site.', schema: refusalBody },
  429: { description: 'Too many requests; Retry-After says when to try again.', schema: refusalBody },
  500: { description: 'Something unforeseen; the log has more under the request id.', schema: faultBody },
  503: { description: 'Not confirmed: nothing consumed, nothing half stored.', schema: refusalBody },
};

const scopeRefusal: Responses = {
  403: {
    description:
      'The API token lacks the scope that this needs, or a browser sent this from a page of another site.',
    schema: refusalBody,
  },
};

const creationRefusals: Responses = {
  403: {
    description:
      'The API token lacks the scope that this needs, the owner of the domain that this arrived on shares there alone, ' +
      'or a browser sent this from a page of another site.',
    schema: refusalBody,
  },
};

const bodyRefusals: Responses = {
  400: { description: 'A parameter is malformed, missing or not allowed.', schema: refusalBody },
  413: { description: 'Too large; the message names the limit.', schema: refusalBody },
};

const unknownKey: Responses = {
  404: {
    description: 'Unknown, read, burned or expired, or a wrong passphrase: one answer.',
    schema: unknownSecretBody,
  },
};

function answers(
  description: string,
  schema: Responses[number]['schema'],
  ...refusals: Responses[]
): Responses {
  return Object.assign({ 200: { description, schema } }, common, ...refusals);
}

const metadataKey = { metadata_key: 'The private key of the creator, as creation answered it.' };

/** One path below each name of the creator's record: `/private`, `/metadata`, `/receipt`. */
function everyName(method: 'GET' | 'POST', rest: string): { method: 'GET' | 'POST'; path: string }[] {
  return ['/private', '/metadata', '/receipt'].map((name) => ({ method, path: name + rest }));
}

export const v1Contract = {
  status: {
    name: 'v1.status',
    method: 'GET',
    path: '/status',
    access: 'anyone',
    limit: 'none',
    document: {
      summary: 'Whether the service works',
      tag: 'v1',
      answerHeaders,
      responses: answers('It does.', nominalStatus),
    },
  },
  authcheck: {
    name: 'v1.authcheck',
    method: 'GET',
    path: '/authcheck',
    access: 'account',
    limit: 'manage',
    document: {
      summary: 'Whether the credentials are right',
      tag: 'v1',
      answerHeaders,
      responses: answers('They are.', nominalStatus),
    },
  },
  conceal: {
    name: 'v1.conceal',
    method: 'POST',
    path: '/share',
    aliases: [{ method: 'POST', path: '/create' }],
    access: 'anyone',
    scope: 'create',
    limit: 'create',
    document: {
      summary: 'Conceal a secret and get its keys',
      description: carriage,
      tag: 'v1',
      answerHeaders,
      body: { schema: concealForm, required: true, contentTypes: formTypes },
      responses: answers('The record of the secret.', metadataRecord, creationRefusals, bodyRefusals),
    },
  },
  generate: {
    name: 'v1.generate',
    method: 'POST',
    path: '/generate',
    access: 'anyone',
    scope: 'create',
    limit: 'create',
    document: {
      summary: 'Conceal a generated value and get it once',
      description: carriage,
      tag: 'v1',
      answerHeaders,
      body: { schema: generateForm, required: false, contentTypes: formTypes },
      responses: answers(
        'The record of the secret, and the value.',
        generatedRecord,
        creationRefusals,
        bodyRefusals,
      ),
    },
  },
  reveal: {
    name: 'v1.reveal',
    method: 'POST',
    path: '/secret/:secret_key',
    access: 'anyone',
    limit: 'manage',
    document: {
      summary: 'Read a secret, which consumes it',
      description: carriage,
      tag: 'v1',
      answerHeaders,
      params: { secret_key: 'The key of the secret, as its link carries it.' },
      body: { schema: passphraseForm, required: false, contentTypes: formTypes },
      responses: answers('The value, this one time.', revealedSecret, bodyRefusals, unknownKey),
    },
  },
  recent: {
    name: 'v1.recent',
    method: 'GET',
    path: '/private/recent',
    aliases: [...everyName('GET', '/recent').slice(1), ...everyName('POST', '/recent')],
    access: 'account',
    scope: 'read-recent',
    limit: 'manage',
    document: {
      summary: "The account's records, newest first",
      tag: 'v1',
      answerHeaders,
      responses: answers(
        'At most 1,000 records, without secret keys.',
        recentRecords,
        scopeRefusal,
        bodyRefusals,
      ),
    },
  },
  viewReceipt: {
    name: 'v1.viewReceipt',
    method: 'POST',
    path: '/private/:metadata_key',
    aliases: everyName('POST', '/:metadata_key').slice(1),
    access: 'account',
    scope: 'manage',
    limit: 'manage',
    document: {
      summary: 'Look at a record; the creator has then viewed it',
      tag: 'v1',
      answerHeaders,
      params: metadataKey,
      responses: answers('The record.', metadataRecord, scopeRefusal, bodyRefusals, unknownKey),
    },
  },
  findReceipt: {
    name: 'v1.findReceipt',
    method: 'GET',
    path: '/private/:metadata_key',
    aliases: everyName('GET', '/:metadata_key').slice(1),
    access: 'account',
    scope: 'manage',
    limit: 'manage',
    document: {
      summary: 'Look at a record without a trace',
      tag: 'v1',
      answerHeaders,
      params: metadataKey,
      responses: answers('The record.', metadataRecord, scopeRefusal, unknownKey),
    },
  },
  burn: {
    name: 'v1.burn',
    method: 'POST',
    path: '/private/:metadata_key/burn',
    aliases: everyName('POST', '/:metadata_key/burn').slice(1),
    access: 'account',
    scope: 'manage',
    limit: 'manage',
    document: {
      summary: 'Destroy a secret that was not read',
      tag: 'v1',
      answerHeaders,
      params: metadataKey,
      responses: answers(
        'The record of the burned secret.',
        burnedRecord,
        scopeRefusal,
        bodyRefusals,
        unknownKey,
      ),
    },
  },
} as const satisfies Record<string, OperationContract>;
