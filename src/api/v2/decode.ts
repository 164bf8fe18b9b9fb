/**
 * Decoding of API v2: bytes and texts of a request to the inputs of the use cases.
 *
 * Owns: the way from the wire's `snake_case` to the core's names. Invariant: whatever arrives becomes an input or a
 * `RequestProblem`, never another error; nothing is trimmed or repaired; a refusal names the field as the client
 * spelled its path.
 */

import { type ZodType, z } from 'zod';
import type { NoticeKind } from '../../core/accounts/accounts.ts';
import type { IsAbandoned } from '../../core/ports.ts';
import type {
  CharacterSet,
  ConcealInput,
  CreationOptions,
  DeliverInput,
  GenerateInput,
  InspectInput,
  MemoInput,
  RecentInput,
  RevealInput,
} from '../../core/secrets/outcomes.ts';
import { Sensitive } from '../../core/sensitive.ts';
import type { Exchange } from '../../http/operation.ts';
import {
  boundIgnored,
  ignoredIn,
  invalidFields,
  isObject,
  type JsonObject,
  malformed,
  readGivenObject,
  readObject,
} from './body.ts';
import type { Dialect } from './dialect.ts';
import { asAsked } from './remarks.ts';
import {
  burnBody,
  type ConcealFields,
  changeBody,
  concealFields,
  defaultPage,
  deliverBody,
  type GenerateFields,
  generateFields,
  mostStatuses,
  recentQuery,
  revealBody,
  statusesBody,
} from './requests.ts';

/** What a body may have beside its form. */
const besideForm = z.object({ secret: z.unknown() });

/** A request with a body: its unknown fields, as dotted paths. */
export interface FromBody {
  readonly ignored: readonly string[];
}

/** What was asked for and may be granted otherwise. */
interface Asked {
  /** Seconds, or a text that is no number. */
  readonly ttl: number | string | null;
  /** A BCP 47 tag, or what should be one. */
  readonly locale: string | null;
}

/** An input, and what stands before a field's name in the body it came from: `secret.` or nothing. */
export interface Creation<Input> extends FromBody {
  readonly input: Input;
  readonly prefix: string;
  readonly asked: Asked;
}

export interface RevealRequest extends FromBody {
  readonly input: RevealInput;
  /** `true`: only look. */
  readonly checkOnly: boolean;
}

export interface BurnRequest extends FromBody {
  readonly metadataKey: string;
  readonly isAbandoned: IsAbandoned;
  readonly checkOnly: boolean;
}

/** Without `memo`: it stays what it is. */
export type ChangeRequest = FromBody & Pick<MemoInput, 'metadataKey'> & Partial<Pick<MemoInput, 'memo'>>;

export interface DeliverRequest extends FromBody, Pick<DeliverInput, 'metadataKey' | 'recipient'> {
  readonly locale: string | null;
}

export function parseFields<Output>(schema: ZodType<Output>, fields: unknown, prefix: string): Output {
  const parsed = schema.safeParse(fields);
  if (parsed.success) return parsed.data;
  const errors = new Map<string, string>();
  for (const issue of parsed.error.issues) {
    const field = prefix + String(issue.path[0] ?? '');
    if (!errors.has(field)) errors.set(field, issue.message);
  }
  throw invalidFields(...Array.from(errors, ([field, message]) => ({ field, message })));
}

/** `null` for what clients send in place of "not given". */
function given<Value>(value: Value | null | undefined | ''): Value | null {
  return value === undefined || value === '' ? null : value;
}

function sensitive(text: string | null | undefined): Sensitive<string> | null {
  const value = given(text);
  return value === null ? null : new Sensitive(value);
}

function recipientOf({ recipient }: Pick<ConcealFields, 'recipient'>): Sensitive<string> | null {
  const [address] = Array.isArray(recipient) ? recipient : [recipient];
  return sensitive(address);
}

function creationOptions(fields: Omit<ConcealFields, 'secret'>, exchange: Exchange): CreationOptions {
  const passphrase = sensitive(fields.passphrase);
  return {
    passphrase,
    // Finding it costs, and only hashing a passphrase needs it.
    clientPrefix: passphrase === null ? null : exchange.clientPrefix,
    ttlSeconds: ttlOf(fields),
    recipient: recipientOf(fields),
    shareDomain: given(fields.share_domain),
    notify: noticeKindsOf(given(fields.notify)),
    memo: sensitive(fields.memo),
    arrivedOn: exchange.request.headers.get('host'),
    locale: given(fields.locale),
  };
}

/** The schema has admitted only the three names, and `none` in place of them. */
function noticeKindsOf(notify: string | readonly NoticeKind[] | null): readonly NoticeKind[] | null {
  if (notify === 'none') return [];
  return typeof notify === 'string' ? (notify.split(',') as NoticeKind[]) : notify;
}

/** Zero is how existing clients write "not given". */
function ttlOf({ ttl }: Pick<ConcealFields, 'ttl'>): number | null {
  const seconds = Math.min(Number(ttl ?? 0), Number.MAX_SAFE_INTEGER);
  return seconds === 0 ? null : seconds;
}

/** @param raw the fields as they came, whose ttl the schema may not have seen */
function askedOf(raw: JsonObject, { locale, ttl }: Pick<ConcealFields, 'locale' | 'ttl'>): Asked {
  return { ttl: ttlOf({ ttl }) === null ? null : askedTtl(raw.ttl), locale: given(locale) };
}

function askedTtl(raw: unknown): number | string {
  const text = String(raw);
  const isNumber = typeof raw === 'number' || /^[0-9]+$/.test(text);
  return isNumber ? Math.min(Number(text), Number.MAX_SAFE_INTEGER) : asAsked(text);
}

/** The creation fields, with the ttl as the dialect reads it. */
function inDialect(fields: JsonObject, { readTtl }: Dialect): JsonObject {
  return Object.hasOwn(fields, 'ttl') ? { ...fields, ttl: readTtl(fields.ttl) } : fields;
}

export async function decodeConceal(exchange: Exchange, dialect: Dialect): Promise<Creation<ConcealInput>> {
  const body = await readGivenObject(exchange, dialect);
  if (body === undefined) throw malformed('A JSON body is needed');
  const nested = typeof body.secret !== 'string';
  const prefix = nested ? 'secret.' : '';
  const raw = nested ? nestedFields(body.secret) : body;
  const fields = parseFields(concealFields, inDialect(raw, dialect), prefix);
  return {
    input: { value: new Sensitive(fields.secret), ...creationOptions(fields, exchange) },
    prefix,
    asked: askedOf(raw, fields),
    ignored: boundIgnored(nested ? ignoredIn(body, besideForm) : [], ignoredIn(raw, concealFields, prefix)),
  };
}

/** What stands under `secret`; nothing there is an empty form, and anything but an object a mistake. */
function nestedFields(value: unknown): JsonObject {
  if (value === undefined || value === null) return {};
  if (isObject(value)) return value;
  throw invalidFields({ field: 'secret', message: 'Must be an object, or a text in a flat body' });
}

/** A flat body is understood here too: ignoring its passphrase would leave the new secret unprotected. */
export async function decodeGenerate(exchange: Exchange, dialect: Dialect): Promise<Creation<GenerateInput>> {
  const { secret, ...flat } = await readObject(exchange, dialect);
  const nested = secret !== undefined && secret !== null;
  if (nested && !isObject(secret)) {
    throw invalidFields({ field: 'secret', message: 'Must be an object: the value is generated here' });
  }
  const prefix = nested ? 'secret.' : '';
  const raw = nested ? secret : flat;
  const fields = parseFields(generateFields, inDialect(raw, dialect), prefix);
  return {
    input: generateInput(fields, exchange),
    prefix,
    asked: askedOf(raw, fields),
    ignored: boundIgnored(nested ? ignoredIn(flat, besideForm) : [], ignoredIn(raw, generateFields, prefix)),
  };
}

function generateInput(fields: GenerateFields, exchange: Exchange): GenerateInput {
  return {
    ...creationOptions(fields, exchange),
    length: given(fields.length) === null ? null : Number(fields.length),
    charset: characterSets(given(fields.charset)),
  };
}

/** The schema has admitted only the four names. */
function characterSets(charset: string | readonly CharacterSet[] | null): readonly CharacterSet[] | null {
  if (charset === null) return null;
  const names = typeof charset === 'string' ? (charset.split(',') as CharacterSet[]) : charset;
  return [...new Set(names)];
}

type Continue = boolean | string | null | undefined;

function isFalse(value: Continue): boolean {
  return value === false || value === 'false';
}

function isTrue(value: Continue): boolean {
  return value === true || value === 'true';
}

export async function decodeReveal(exchange: Exchange, dialect: Dialect): Promise<RevealRequest> {
  const body = await readObject(exchange, dialect);
  const fields = parseFields(revealBody, body, '');
  return {
    input: {
      secretKey: exchange.params.key ?? '',
      clientPrefix: exchange.clientPrefix,
      isAbandoned: exchange.isAbandoned,
      passphrase: sensitive(fields.passphrase),
    },
    checkOnly: dialect.revealNeedsContinue ? !isTrue(fields.continue) : isFalse(fields.continue),
    ignored: ignoredIn(body, revealBody),
  };
}

export async function decodeBurn(exchange: Exchange, dialect: Dialect): Promise<BurnRequest> {
  const body = await readObject(exchange, dialect);
  const fields = parseFields(burnBody, body, '');
  const checkOnly = isFalse(fields.continue);
  if (dialect.burnNeedsContinue && !checkOnly && !isTrue(fields.continue))
    throw invalidFields({ field: 'continue', message: 'Must be true for the secret to be burned' });
  const { params, isAbandoned } = exchange;
  return { metadataKey: params.key ?? '', isAbandoned, checkOnly, ignored: ignoredIn(body, burnBody) };
}

export async function decodeChange(exchange: Exchange, dialect: Dialect): Promise<ChangeRequest> {
  const body = await readObject(exchange, dialect);
  const { memo } = parseFields(changeBody, body, '');
  return {
    metadataKey: exchange.params.key ?? '',
    ...(memo !== undefined && { memo: memo === null ? null : new Sensitive(memo) }),
    ignored: ignoredIn(body, changeBody),
  };
}

export async function decodeDeliver(exchange: Exchange, dialect: Dialect): Promise<DeliverRequest> {
  const body = await readObject(exchange, dialect);
  const fields = parseFields(deliverBody, body, '');
  return {
    metadataKey: exchange.params.key ?? '',
    recipient: recipientOf(fields),
    locale: given(fields.locale),
    ignored: ignoredIn(body, deliverBody),
  };
}

/** The keys asked about, as given: a text that is no key is an unknown one. */
export async function decodeStatuses(exchange: Exchange, dialect: Dialect): Promise<readonly string[]> {
  const body = await readGivenObject(exchange, dialect);
  if (body === undefined) throw malformed('A JSON body is needed');
  const keys = parseFields(statusesBody, body, '').identifiers.split(',');
  if (keys.length <= mostStatuses) return keys;
  throw invalidFields({ field: 'identifiers', message: `Must be at most ${mostStatuses} keys` });
}

export function decodeInspect(exchange: Exchange): InspectInput {
  const fromHeader = exchange.request.headers.get('secret-passphrase');
  const passphrase =
    fromHeader === null
      ? queryText(exchange.rawQuery, 'passphrase')
      : percentDecoded(fromHeader, 'Secret-Passphrase');
  return {
    secretKey: exchange.params.key ?? '',
    clientPrefix: exchange.clientPrefix,
    passphrase: sensitive(passphrase),
  };
}

export function decodeRecent(exchange: Exchange): RecentInput {
  const limit = queryText(exchange.rawQuery, 'limit');
  const cursor = queryText(exchange.rawQuery, 'cursor');
  const fields = parseFields(recentQuery, { limit, cursor }, '');
  return {
    limit: Number(given(fields.limit) ?? defaultPage),
    cursor: given(fields.cursor),
    states: null,
  };
}

export function decodeKey(exchange: Exchange): string {
  return exchange.params.key ?? '';
}

export function decodeNothing(): null {
  return null;
}

/** One query parameter in form encoding (`+` is a blank); `undefined` when absent. */
function queryText(rawQuery: string, name: string): string | undefined {
  const found = rawQuery
    .split('&')
    .filter((pair) => pair === name || pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
  if (found.length > 1) throw malformed(`The parameter ${name} was given more than once`);
  const [text] = found;
  return text === undefined ? undefined : percentDecoded(text.replaceAll('+', ' '), name);
}

const printableAscii = /^[\x20-\x7e]*$/;

/** Strict: `decodeURIComponent` refuses broken escapes and ill-formed UTF-8, and raw bytes above ASCII have no one meaning. */
function percentDecoded(text: string, name: string): string {
  if (!printableAscii.test(text)) throw malformed(`${name} must be percent-encoded`);
  try {
    return decodeURIComponent(text);
  } catch {
    throw malformed(`${name} is not valid percent-encoded UTF-8`);
  }
}
