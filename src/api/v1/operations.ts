/**
 * API v1: all operations, and the surface that the pipeline serves. Only a POST to a receipt notes that its creator has viewed it
 * (P4). The service applies the dialect's rule for who may manage a record (P16).
 */
import { z } from 'zod';
import type { Caller } from '../../core/account.ts';
import type { Links } from '../../core/links.ts';
import type { SecretService } from '../../core/secrets/service.ts';
import { Sensitive } from '../../core/sensitive.ts';
import type { ApiSurface } from '../../http/api.ts';
import { type Answer, type Exchange, problemsOf, type Reply } from '../../http/operation.ts';
import { RequestProblem } from '../../http/problem.ts';
import {
  charsetNames,
  charsetText,
  creationOptions,
  length,
  lengthWords,
  noticeNames,
  notifyText,
  notLength,
  optionalText,
  recipient,
  sensitiveText,
  ttl,
} from '../fields.ts';
import { bind, type DialectName, type Unbound } from '../version.ts';
import { type Dialect, dialectOf } from './dialect.ts';
import {
  burnedRecord,
  type EncodeDeps,
  encodeBurn,
  encodeCreation,
  encodeNominal,
  encodeReceipt,
  encodeRecent,
  encodeReveal,
  generatedRecord,
  metadataRecord,
  nominalStatus,
  recentRecords,
  revealedSecret,
} from './record.ts';
import { answersWith, encodeProblem, endToEnd, sharingDisabled, unknownKey } from './refusals.ts';
import { createFormParser, ignoreQuery, type Parameters, readParameters } from './wire.ts';

interface V1Deps {
  readonly service: SecretService;
  readonly links: Links;
  readonly dialect: DialectName;
  readonly defaultLocale: string;
}

interface Api extends EncodeDeps {
  readonly service: SecretService;
  readonly defaultLocale: string;
}

/** Parameters are texts; each field's schema checks its text and converts it to a core value. */
type Definition<Form extends z.ZodObject, Input> = Pick<
  Unbound<Api>,
  'name' | 'method' | 'path' | 'aliases' | 'access' | 'scope' | 'limit'
> & {
  readonly summary: string;
  /** Descriptions of the parameters in `path`. */
  readonly params?: Readonly<Record<string, string>>;
  readonly form: Form;
  /** Whether the dialect reads the form; absent means always. If present, the document omits the form. */
  readonly readsForm?: (dialect: Dialect) => boolean;
  /** The documented form; defaults to `form`. */
  readonly documentedForm?: z.ZodObject;
  /** The response with status 200. */
  readonly answer: Answer;
  /** Responses with other statuses, in addition to those for problems. */
  readonly refusals?: Readonly<Record<number, Answer>>;
  input(fields: z.output<Form>, exchange: Exchange): Input;
  handle(input: Input, caller: Caller, api: Api, exchange: Exchange): Promise<Reply> | Reply;
};

const noNames: ReadonlySet<string> = new Set();
const nothingGiven: Parameters = new Map();

function define<Form extends z.ZodObject, Input>({
  summary,
  params,
  form,
  readsForm,
  documentedForm = form,
  answer,
  refusals,
  input,
  ...operation
}: Definition<Form, Input>): Unbound<Api, Input> {
  const names = new Set(Object.keys(form.shape));
  const parse = createFormParser(form);
  const isDocumented = names.size > 0 && readsForm === undefined;
  const document = {
    summary,
    tag: 'v1',
    answerHeaders: ['Mayfly-Ignored'],
    ...(params && { params }),
    ...(isDocumented && { description: carriage, body: formBody(documentedForm) }),
  };
  // Every POST's body is read, even if unused: a malformed request changes nothing (P4).
  const isPosted = [operation, ...(operation.aliases ?? [])].some(({ method }) => method === 'POST');
  const problems = problemsOf({ ...operation, document }, isPosted);
  return {
    ...operation,
    document: { ...document, responses: { 200: answer, ...answersWith(problems, refusals) } },
    decode(exchange, dialect) {
      if (exchange.request.method !== 'POST') {
        ignoreQuery(exchange);
        return input(parse(nothingGiven, dialect), exchange);
      }
      const known = readsForm === undefined || readsForm(dialect) ? names : noNames;
      return readParameters(exchange, known, dialect).then((given) => input(parse(given, dialect), exchange));
    },
  };
}

const carriage =
  'Parameters travel as a form, as multipart, as a JSON object or in the query string; the body wins over the query. ' +
  'A parameter given twice is refused, an unknown one ignored and named in Mayfly-Ignored, an empty one counts as not given.';

function formBody(schema: z.ZodObject) {
  const contentTypes = ['application/x-www-form-urlencoded', 'multipart/form-data', 'application/json'];
  return { schema, required: Object.values(schema.shape).some(isRequired), contentTypes };
}

function isRequired(schema: z.core.$ZodType): boolean {
  return schema._zod.optin === undefined;
}

const creationFields = {
  passphrase: sensitiveText({
    description: 'The recipient must know it; 1 to 1,024 bytes. Empty: none.',
  }),
  ttl: ttl({
    refusal: 'The ttl must be a whole number of seconds, 0 or more, written in digits.',
    description:
      "Lifetime in whole seconds, clamped to the plan's bounds. Absent, empty or zero: the default.",
    examples: [3600],
  }),
  recipient: recipient({
    refusal: 'The parameter "recipient" takes one address.',
    description: 'One e-mail address that is sent the link. Needs an account.',
    examples: ['alan@example.org'],
  }),
  share_domain: optionalText({
    description:
      "A share domain of the caller's account, or the one that the request arrives on, for the link.",
  }),
  notify: notifyText({
    refusal: `The parameter notify must be a comma list of ${noticeNames}, or none.`,
    description:
      `What the account is mailed about this secret: a comma list of ${noticeNames}, or none. ` +
      'As the account has it when absent.',
    examples: ['read'],
  }),
};

const leftOut = (name: string) =>
  z
    .undefined(`The parameter "${name}" must be left out: version 1 would make the secret without it.`)
    .optional();

/** v1 does not know these fields, but ignoring them would create a secret without their protection. */
const protections = { sealed: leftOut('sealed'), verify: leftOut('verify'), files: leftOut('files') };

/** v2 only. */
const unknownHere = { locale: null, memo: null, note: null, verify: null };

export const concealForm = z
  .object({
    secret: z
      .string()
      .min(1)
      .meta({ description: 'The value, kept byte for byte.', examples: ['correct horse battery staple'] }),
    ...creationFields,
  })
  .meta({ id: 'V1ConcealForm' });

export const generateForm = z
  .object({
    ...creationFields,
    length: length({ refusal: `The length must be ${notLength}.`, ...lengthWords, examples: [20] }, 3),
    charset: charsetText({
      refusal: `The charset must be a comma list of ${charsetNames}.`,
      description: `A comma list of ${charsetNames}; all when absent. At least one character of each.`,
      examples: ['lower,digits'],
    }),
  })
  .meta({ id: 'V1GenerateForm' });

export const passphraseForm = z
  .object({ passphrase: sensitiveText({ description: 'Where the secret was created with one.' }) })
  .meta({ id: 'V1PassphraseForm' });

const noForm = z.object({});

/** Returns all paths of the creator's record: `/private`, `/metadata`, `/receipt`. */
function everyName(method: 'GET' | 'POST', rest: string): { method: 'GET' | 'POST'; path: string }[] {
  return ['/private', '/metadata', '/receipt'].map((name) => ({ method, path: name + rest }));
}

const onReceipt = {
  params: { metadata_key: 'The private key of the creator, as creation answered it.' },
  access: 'manager',
  scope: 'manage',
  limit: 'manage',
  refusals: unknownKey,
} as const;

function metadataKeyOf({ params }: Exchange): string {
  return params.metadata_key ?? '';
}

/** Defines GET or POST of a record. Only POST notes that the creator has viewed it. */
function looks(
  method: 'GET' | 'POST',
  look: (service: SecretService) => SecretService['findReceipt' | 'viewReceipt'],
) {
  const [path, ...aliases] = everyName(method, '/:metadata_key');
  return {
    ...onReceipt,
    ...{ method, aliases, path: path?.path ?? '' },
    form: noForm,
    answer: { description: 'The record.', schema: metadataRecord },
    input: (_fields: unknown, exchange: Exchange) => metadataKeyOf(exchange),
    async handle(metadataKey: string, caller: Caller, api: Api) {
      const authority = api.dialect.managementAuthority;
      return encodeReceipt(await look(api.service)({ metadataKey, authority }, caller), metadataKey, api);
    },
  } as const;
}

/** The wire contract's limit on the recent list. */
const recentMax = 1_000;

export const v1Operations = {
  status: define({
    name: 'v1.status',
    method: 'GET',
    path: '/status',
    access: 'anyone',
    limit: 'none',
    summary: 'Whether the service works',
    form: noForm,
    answer: { description: 'It does.', schema: nominalStatus },
    input: () => null,
    handle: (_input, _caller, { defaultLocale }) => encodeNominal(defaultLocale),
  }),
  authcheck: define({
    name: 'v1.authcheck',
    method: 'GET',
    path: '/authcheck',
    access: 'account',
    limit: 'manage',
    summary: 'Whether the credentials are right',
    form: noForm,
    answer: { description: 'They are.', schema: nominalStatus },
    input: () => null,
    handle: (_input, _caller, { defaultLocale }) => encodeNominal(defaultLocale),
  }),
  conceal: define({
    name: 'v1.conceal',
    method: 'POST',
    path: '/share',
    aliases: [{ method: 'POST', path: '/create' }],
    access: 'anyone',
    scope: 'create',
    limit: 'create',
    summary: 'Conceal a secret and get its keys',
    // The core refuses a missing secret, in its own order of refusals.
    form: concealForm.partial({ secret: true }).extend(protections),
    documentedForm: concealForm,
    answer: { description: 'The record of the secret.', schema: metadataRecord },
    refusals: sharingDisabled,
    input: (fields, exchange) => ({
      value: new Sensitive(fields.secret ?? ''),
      sealed: null,
      ...creationOptions({ ...fields, ...unknownHere }, exchange),
    }),
    handle: async (input, caller, api) => encodeCreation(await api.service.conceal(input, caller), api),
  }),
  generate: define({
    name: 'v1.generate',
    method: 'POST',
    path: '/generate',
    access: 'anyone',
    scope: 'create',
    limit: 'create',
    summary: 'Conceal a generated value and get it once',
    form: generateForm.extend(protections),
    documentedForm: generateForm,
    answer: { description: 'The record of the secret, and the value.', schema: generatedRecord },
    refusals: sharingDisabled,
    input: (fields, exchange) => ({
      length: fields.length,
      charset: fields.charset,
      ...creationOptions({ ...fields, ...unknownHere }, exchange),
    }),
    handle: async (input, caller, api) => encodeCreation(await api.service.generate(input, caller), api),
  }),
  reveal: define({
    name: 'v1.reveal',
    method: 'POST',
    path: '/secret/:secret_key',
    access: 'anyone',
    limit: 'manage',
    summary: 'Read a secret, which consumes it',
    params: { secret_key: 'The key of the secret, as its link carries it.' },
    form: passphraseForm,
    answer: { description: 'The value, this one time.', schema: revealedSecret },
    refusals: { ...unknownKey, ...endToEnd },
    input: ({ passphrase }, { params }) => ({ key: params.secret_key ?? '', passphrase }),
    async handle({ key, passphrase }, caller, api, { clientPrefix, isAbandoned }) {
      const input = { secretKey: key, clientPrefix, isAbandoned, passphrase, proofs: null };
      return encodeReveal(await api.service.reveal(input, caller), key, api);
    },
  }),
  recent: define({
    name: 'v1.recent',
    method: 'GET',
    path: '/private/recent',
    aliases: [...everyName('GET', '/recent').slice(1), ...everyName('POST', '/recent')],
    access: 'account',
    scope: 'read-recent',
    limit: 'manage',
    summary: "The account's records, newest first",
    form: noForm,
    answer: { description: 'At most 1,000 records, without secret keys.', schema: recentRecords },
    input: () => null,
    async handle(_input, caller, api) {
      if (caller.kind !== 'account') throw new RequestProblem({ problem: 'not_authorized' });
      const outcome = await api.service.recent({ limit: recentMax, cursor: null, states: null }, caller);
      return encodeRecent(outcome.outcome === 'listed' ? outcome.receipts : [], api);
    },
  }),
  viewReceipt: define({
    ...looks('POST', (service) => service.viewReceipt),
    name: 'v1.viewReceipt',
    summary: 'Look at a record; the creator has then viewed it',
  }),
  findReceipt: define({
    ...looks('GET', (service) => service.findReceipt),
    name: 'v1.findReceipt',
    summary: 'Look at a record without a trace',
  }),
  burn: define({
    ...onReceipt,
    name: 'v1.burn',
    method: 'POST',
    path: '/private/:metadata_key/burn',
    aliases: everyName('POST', '/:metadata_key/burn').slice(1),
    summary: 'Destroy a secret that was not read',
    form: passphraseForm,
    readsForm: (dialect) => dialect.burnNeedsPassphrase,
    answer: { description: 'The record of the burned secret.', schema: burnedRecord },
    input: ({ passphrase }, exchange) => ({ key: metadataKeyOf(exchange), passphrase }),
    async handle({ key, passphrase }, caller, api, { clientPrefix, isAbandoned }) {
      const { managementAuthority: authority, burnNeedsPassphrase } = api.dialect;
      const proof = burnNeedsPassphrase ? { passphrase, clientPrefix } : null;
      const input = { metadataKey: key, authority, isAbandoned, proof };
      return encodeBurn(await api.service.burn(input, caller), key, api);
    },
  }),
} as const;

export function createV1({ dialect: name, ...rest }: V1Deps): ApiSurface {
  const dialect = dialectOf(name);
  const api: Api = { ...rest, dialect };
  return {
    base: '/api/v1',
    operations: Object.values(v1Operations).map((operation) => bind<Api>(operation, api)),
    encodeProblem: (problem) => encodeProblem(problem, dialect),
    acceptsTrailingSlash: true,
  };
}
