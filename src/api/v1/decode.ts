/**
 * From v1's parameters to what the use cases take.
 *
 * Owns: which parameters each operation knows, and the form of each. Invariant: a wrong parameter is refused with a
 * sentence that names it and never repeats its value (P18); texts pass untrimmed.
 */
import { type NoticeKind, noticeKinds } from '../../core/accounts/accounts.ts';
import type {
  CharacterSet,
  ConcealInput,
  CreationOptions,
  GenerateInput,
} from '../../core/secrets/outcomes.ts';
import { Sensitive } from '../../core/sensitive.ts';
import type { Exchange } from '../../http/operation.ts';
import { ignoreQuery, type Parameters, readParameters } from './carriage.ts';
import type { Dialect } from './dialect.ts';
import { malformed } from './pairs.ts';

const creationNames = ['passphrase', 'ttl', 'recipient', 'share_domain', 'notify'] as const;
const concealNames: ReadonlySet<string> = new Set(['secret', ...creationNames]);
const generateNames: ReadonlySet<string> = new Set([...creationNames, 'length', 'charset']);
const passphraseNames: ReadonlySet<string> = new Set(['passphrase']);
const noNames: ReadonlySet<string> = new Set();

/** A key as given in the path, with the passphrase where the operation takes one. */
export interface KeyInput {
  readonly key: string;
  readonly passphrase: Sensitive<string> | null;
}

export async function decodeConceal(exchange: Exchange, dialect: Dialect): Promise<ConcealInput> {
  const given = await readParameters(exchange, concealNames, dialect);
  return { value: new Sensitive(given.get('secret') ?? ''), ...creationOptions(given, dialect, exchange) };
}

export async function decodeGenerate(exchange: Exchange, dialect: Dialect): Promise<GenerateInput> {
  const given = await readParameters(exchange, generateNames, dialect);
  const length = given.get('length');
  const charset = given.get('charset');
  return {
    ...creationOptions(given, dialect, exchange),
    length: length === undefined ? null : parseLength(length),
    charset: charset === undefined ? null : parseCharset(charset),
  };
}

/** A reveal. */
export function decodeReveal(exchange: Exchange, dialect: Dialect): Promise<KeyInput> {
  return decodeKey(exchange, passphraseNames, dialect);
}

export function decodeBurn(exchange: Exchange, dialect: Dialect): Promise<KeyInput> {
  return decodeKey(exchange, dialect.burnNeedsPassphrase ? passphraseNames : noNames, dialect);
}

/** A look at a record. */
export function decodeReceipt(exchange: Exchange, dialect: Dialect): Promise<KeyInput> {
  return decodeKey(exchange, noNames, dialect);
}

/** For operations without key and parameters. */
export function decodeNothing(exchange: Exchange, dialect: Dialect): Parameters | Promise<Parameters> {
  return read(exchange, noNames, dialect);
}

async function decodeKey(
  exchange: Exchange,
  known: ReadonlySet<string>,
  dialect: Dialect,
): Promise<KeyInput> {
  const passphrase = (await read(exchange, known, dialect)).get('passphrase');
  return { key: keyOf(exchange), passphrase: passphrase === undefined ? null : new Sensitive(passphrase) };
}

const nothingGiven: Parameters = new Map();

/** The body of a POST is read even where it holds nothing of use: a malformed request changes nothing (P4). */
function read(
  exchange: Exchange,
  known: ReadonlySet<string>,
  dialect: Dialect,
): Parameters | Promise<Parameters> {
  if (exchange.request.method === 'POST') return readParameters(exchange, known, dialect);
  ignoreQuery(exchange);
  return nothingGiven;
}

function keyOf(exchange: Exchange): string {
  return exchange.params.secret_key ?? exchange.params.metadata_key ?? '';
}

function creationOptions(given: Parameters, dialect: Dialect, exchange: Exchange): CreationOptions {
  const passphrase = given.get('passphrase');
  const ttl = parseGiven(given.get('ttl'), dialect.parseTtl);
  const recipient = parseGiven(given.get('recipient'), dialect.parseRecipient);
  const shareDomain = parseGiven(given.get('share_domain'), dialect.parseShareDomain);
  const notify = parseGiven(given.get('notify'), parseNotify);
  return {
    passphrase: passphrase === undefined ? null : new Sensitive(passphrase),
    // Finding it costs, and only hashing a passphrase needs it.
    clientPrefix: passphrase === undefined ? null : exchange.clientPrefix,
    ttlSeconds: ttl ?? null,
    recipient: recipient === undefined ? null : new Sensitive(recipient),
    shareDomain: shareDomain ?? null,
    notify: notify ?? null,
    arrivedOn: exchange.request.headers.get('host'),
    locale: null,
    memo: null,
  };
}

function parseGiven<T>(text: string | undefined, parse: (text: string) => T): T | undefined {
  return text === undefined ? undefined : parse(text);
}

/** The range of the wire contract. */
const lengthMin = 4;
const lengthMax = 128;

function parseLength(text: string): number {
  const length = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (length >= lengthMin && length <= lengthMax) return length;
  throw malformed(`The length must be a whole number from ${lengthMin} to ${lengthMax}.`);
}

const characterSets: ReadonlySet<string> = new Set<CharacterSet>(['lower', 'upper', 'digits', 'symbols']);

function isCharacterSet(name: string): name is CharacterSet {
  return characterSets.has(name);
}

function parseCharset(text: string): readonly CharacterSet[] {
  const names = text.split(',');
  if (names.every(isCharacterSet)) return [...new Set(names)];
  throw malformed(`The charset must be a comma list of ${[...characterSets].join(', ')}.`);
}

function isNoticeKind(name: string): name is NoticeKind {
  return (noticeKinds as readonly string[]).includes(name);
}

function parseNotify(text: string): readonly NoticeKind[] {
  const names = text === 'none' ? [] : text.split(',');
  if (names.every(isNoticeKind)) return [...new Set(names)];
  throw malformed(`The parameter notify must be a comma list of ${noticeKinds.join(', ')}, or none.`);
}
