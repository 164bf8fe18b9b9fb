/**
 * Decoding of API v2: bytes and texts of a request to the inputs of the use cases.
 *
 * Owns: the way from the wire's `snake_case` to the domain's names. Invariant: whatever arrives becomes an input or a
 * `RequestProblem`, never another error; nothing is trimmed or repaired; a refusal names the field as the client
 * spelled its path.
 */
import type { ZodType } from 'zod';
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
} from '../../domain/outcomes.ts';
import type { IsAbandoned } from '../../domain/ports.ts';
import type { NoticeKind } from '../../domain/secret.ts';
import { Sensitive } from '../../domain/sensitive.ts';
import type { Exchange } from '../../http/operation.ts';
import { type FieldError, RequestProblem } from '../../http/problem.ts';
import { repeatsName } from '../json-names.ts';
import {
  burnBody,
  type ConcealFields,
  changeBody,
  concealFields,
  defaultPage,
  deliverBody,
  type GenerateFields,
  generateFields,
  recentQuery,
  revealBody,
} from './requests.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/** An input, and what stands before a field's name in the body it came from: `secret.` or nothing. */
export interface Creation<Input> {
  readonly input: Input;
  readonly prefix: string;
}

export interface RevealRequest {
  readonly input: RevealInput;
  /** `true`: only look. */
  readonly checkOnly: boolean;
}

export interface BurnRequest {
  readonly metadataKey: string;
  readonly isAbandoned: IsAbandoned;
  readonly checkOnly: boolean;
}

/** Without `memo`: it stays what it is. */
export type ChangeRequest = Pick<MemoInput, 'metadataKey'> & Partial<Pick<MemoInput, 'memo'>>;

export interface DeliverRequest extends Pick<DeliverInput, 'metadataKey' | 'recipient'> {
  readonly locale?: string;
}

export function malformed(message: string): RequestProblem {
  return new RequestProblem({ problem: 'malformed', message });
}

export function invalidFields(...errors: FieldError[]): RequestProblem {
  return new RequestProblem({ problem: 'invalid_fields', errors });
}

const jsonType = /^application\/json *(?:;|$)/i;
// JSON is UTF-8 whatever a parameter says (RFC 8259 §8.1), so any other charset is another content type.
const otherCharset = /; *charset=(?!"?utf-8"? *(?:;|$))/i;

function isJson(contentType: string): boolean {
  return jsonType.test(contentType) && !otherCharset.test(contentType);
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The body as JSON; `undefined` when none was sent, which needs no content type. */
async function readJson(exchange: Exchange): Promise<unknown> {
  const bytes = await exchange.body();
  if (bytes.length === 0) return undefined;
  if (!isJson(exchange.request.headers.get('content-type') ?? '')) {
    throw new RequestProblem({ problem: 'unsupported_media_type' });
  }
  const text = decodeUtf8(bytes);
  const json = parseJson(text);
  if (repeatsName(text)) throw malformed('The body names a member more than once');
  return json;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // The parser's message quotes the text, and with it a value.
    throw malformed('The body is not valid JSON');
  }
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw malformed('The body is not valid UTF-8');
  }
}

export async function readObject(exchange: Exchange): Promise<JsonObject> {
  const body = await readJson(exchange);
  if (body === undefined) return {};
  if (!isObject(body)) throw invalidFields({ field: '', message: 'The body must be a JSON object' });
  return body;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
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

function isGiven<Value>(value: Value | null | undefined | ''): value is Value {
  return value !== undefined && value !== null && value !== '';
}

function recipientOf({ recipient }: Pick<ConcealFields, 'recipient'>): Pick<CreationOptions, 'recipient'> {
  const [address] = Array.isArray(recipient) ? recipient : [recipient];
  return isGiven(address) ? { recipient: new Sensitive(address) } : {};
}

/** The prefix belongs to it: only a passphrase takes the work that is shared out by it. */
function withPassphrase(text: string, { clientPrefix }: Exchange): CreationOptions {
  return { passphrase: new Sensitive(text), clientPrefix };
}

function creationOptions(fields: Omit<ConcealFields, 'secret'>, exchange: Exchange): CreationOptions {
  const arrivedOn = exchange.request.headers.get('host');
  return {
    ...(isGiven(fields.passphrase) && withPassphrase(fields.passphrase, exchange)),
    ...(isGiven(fields.ttl) && { ttl: { seconds: Number(fields.ttl), outOfRange: 'refuse' as const } }),
    ...recipientOf(fields),
    ...(isGiven(fields.share_domain) && { shareDomain: fields.share_domain }),
    ...(isGiven(fields.locale) && { locale: fields.locale }),
    ...(isGiven(fields.notify) && { notify: noticeKindsOf(fields.notify) }),
    ...(isGiven(fields.memo) && { memo: new Sensitive(fields.memo) }),
    ...(arrivedOn !== null && { arrivedOn }),
  };
}

/** The schema has admitted only the three names, and `none` in place of them. */
function noticeKindsOf(notify: string | readonly NoticeKind[]): readonly NoticeKind[] {
  if (notify === 'none') return [];
  return typeof notify === 'string' ? (notify.split(',') as NoticeKind[]) : notify;
}

export async function decodeConceal(exchange: Exchange): Promise<Creation<ConcealInput>> {
  const body = await readJson(exchange);
  if (body === undefined) throw malformed('A JSON body is needed');
  if (!isObject(body)) throw invalidFields({ field: '', message: 'The body must be a JSON object' });
  const nested = typeof body.secret !== 'string';
  const prefix = nested ? 'secret.' : '';
  const fields = parseFields(concealFields, nested ? nestedFields(body.secret) : body, prefix);
  return { input: { value: new Sensitive(fields.secret), ...creationOptions(fields, exchange) }, prefix };
}

/** What stands under `secret`; nothing there is an empty form, and anything but an object a mistake. */
function nestedFields(value: unknown): JsonObject {
  if (value === undefined || value === null) return {};
  if (isObject(value)) return value;
  throw invalidFields({ field: 'secret', message: 'Must be an object, or a text in a flat body' });
}

/** A flat body is understood here too: ignoring its passphrase would leave the new secret unprotected. */
export async function decodeGenerate(exchange: Exchange): Promise<Creation<GenerateInput>> {
  const body = await readObject(exchange);
  const nested = body.secret !== undefined && body.secret !== null;
  if (nested && !isObject(body.secret)) {
    throw invalidFields({ field: 'secret', message: 'Must be an object: the value is generated here' });
  }
  const prefix = nested ? 'secret.' : '';
  const fields = parseFields(generateFields, nested ? body.secret : body, prefix);
  return { input: generateInput(fields, exchange), prefix };
}

function generateInput(fields: GenerateFields, exchange: Exchange): GenerateInput {
  return {
    ...creationOptions(fields, exchange),
    ...(isGiven(fields.length) && { length: Number(fields.length) }),
    ...(isGiven(fields.charset) && { charset: characterSets(fields.charset) }),
  };
}

/** The schema has admitted only the four names. */
function characterSets(charset: string | readonly CharacterSet[]): readonly CharacterSet[] {
  const names = typeof charset === 'string' ? (charset.split(',') as CharacterSet[]) : charset;
  return [...new Set(names)];
}

function isFalse(value: boolean | string | null | undefined): boolean {
  return value === false || value === 'false';
}

export async function decodeReveal(exchange: Exchange): Promise<RevealRequest> {
  const fields = parseFields(revealBody, await readObject(exchange), '');
  return {
    input: {
      secretKey: exchange.params.key ?? '',
      clientPrefix: exchange.clientPrefix,
      isAbandoned: exchange.isAbandoned,
      ...(isGiven(fields.passphrase) && { passphrase: new Sensitive(fields.passphrase) }),
    },
    checkOnly: isFalse(fields.continue),
  };
}

export async function decodeBurn(exchange: Exchange): Promise<BurnRequest> {
  const fields = parseFields(burnBody, await readObject(exchange), '');
  const { params, isAbandoned } = exchange;
  return { metadataKey: params.key ?? '', isAbandoned, checkOnly: isFalse(fields.continue) };
}

export async function decodeChange(exchange: Exchange): Promise<ChangeRequest> {
  const { memo } = parseFields(changeBody, await readObject(exchange), '');
  const metadataKey = exchange.params.key ?? '';
  if (memo === undefined) return { metadataKey };
  return { metadataKey, memo: memo === null ? null : new Sensitive(memo) };
}

export async function decodeDeliver(exchange: Exchange): Promise<DeliverRequest> {
  const fields = parseFields(deliverBody, await readObject(exchange), '');
  return {
    metadataKey: exchange.params.key ?? '',
    ...recipientOf(fields),
    ...(isGiven(fields.locale) && { locale: fields.locale }),
  };
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
    ...(isGiven(passphrase) && { passphrase: new Sensitive(passphrase) }),
  };
}

export function decodeRecent(exchange: Exchange): RecentInput {
  const limit = queryText(exchange.rawQuery, 'limit');
  const cursor = queryText(exchange.rawQuery, 'cursor');
  const fields = parseFields(recentQuery, { limit, cursor }, '');
  return {
    limit: isGiven(fields.limit) ? Number(fields.limit) : defaultPage,
    ...(isGiven(fields.cursor) && { cursor: fields.cursor }),
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
