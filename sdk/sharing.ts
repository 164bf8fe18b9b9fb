/** Shares and reads secrets, end to end (docs/end-to-end.md) unless they are plain. Loaded with the first secret. */
import { isFragment } from '../src/protocol/link.ts';
import type { ConcealOptions, CreateOptions, GenerateOptions, RevealOptions } from './creation.ts';
import { newLook } from './drawing.ts';
import { invalid, MayflyError } from './error.ts';
import { type CallOptions, withinOneLimit } from './limit.ts';
import { partsOf } from './link.ts';
import { askAgain } from './lost-answer.ts';
import { creationCall, type Prepared, prepareConceal, prepareGenerate, stretch } from './preparing.ts';
import {
  batchAnswer,
  type Created,
  type Generated,
  type Revealed,
  type SentCode,
  toRevealed,
  toSealedCiphertext,
  toStatus,
} from './records.ts';
import { open, openNote, prove, proveLink } from './sealing.ts';
import type { Connection } from './transport.ts';
import {
  given,
  type Json,
  read,
  recordOf,
  text,
  textOrNull,
  time,
  unexpected,
  type WireOf,
  withHidden,
} from './wire.ts';

/** @throws MayflyError `unsupported` after burning what a server created that ignored `verify` because it does not know it */
async function made<Made extends Created>(
  { call }: Connection,
  { fields, read }: Prepared<Made>,
  answer: object,
  own: CallOptions,
): Promise<Made> {
  const created = read(answer);
  if (!fields.verify || created.needsCode) return created;
  const path = `/private/${created.metadataKey}/burn`;
  const burned = await call({ method: 'POST', path, body: { continue: true } }, own).catch(() => null);
  const end = burned === null ? 'could not be burned' : 'was burned';
  throw new MayflyError('unsupported', `This server cannot ask for a code. The secret ${end}.`);
}

export async function conceal(connection: Connection, options: ConcealOptions): Promise<Created> {
  return withinOneLimit(connection.timeoutMs, options, async (own) => {
    const prepared = await prepareConceal(connection, options);
    const call = creationCall('conceal', { secret: prepared.fields }, options, connection);
    return made(connection, prepared, await connection.call(call, own), own);
  });
}

export async function generate(connection: Connection, options: GenerateOptions = {}): Promise<Generated> {
  return withinOneLimit(connection.timeoutMs, options, async (own) => {
    const prepared = await prepareGenerate(connection, options);
    const path = prepared.isDrawn ? 'generate' : 'conceal';
    const call = creationCall(path, { secret: prepared.fields }, options, connection);
    return made(connection, prepared, await connection.call(call, own), own);
  });
}

export interface BatchOptions extends CallOptions, Pick<CreateOptions, 'idempotencyKey'> {}

type OfCall = keyof BatchOptions;
type Item<Options> = Options extends unknown ? Omit<Options, OfCall> : never;

export type BatchItem =
  | (Item<ConcealOptions> & { readonly generate?: undefined })
  | { readonly generate: Item<GenerateOptions> };

export type BatchResult = Created | Generated | MayflyError;

async function prepare(
  connection: Connection,
  item: BatchItem,
): Promise<Prepared<Created | Generated> & { readonly sent: Json }> {
  if (item.generate === undefined) {
    const prepared = await prepareConceal(connection, item as ConcealOptions);
    return { ...prepared, sent: prepared.fields };
  }
  const prepared = await prepareGenerate(connection, item.generate);
  return { ...prepared, sent: prepared.isDrawn ? { generate: prepared.fields } : prepared.fields };
}

export async function batch(
  connection: Connection,
  items: readonly BatchItem[],
  options: BatchOptions = {},
): Promise<readonly BatchResult[]> {
  if (items.length === 0) return [];
  return withinOneLimit(connection.timeoutMs, options, async (own) => {
    const prepared: Awaited<ReturnType<typeof prepare>>[] = [];
    // One at a time: stretching a passphrase takes 19 MiB.
    for (const item of items) prepared.push(await prepare(connection, item));
    const body = { secrets: prepared.map(({ sent }) => sent) };
    const call = creationCall('batch', body, options, connection);
    const { results } = read(await connection.call(call, own), batchAnswer);
    if (results.length !== prepared.length) throw unexpected();
    const all: BatchResult[] = [];
    for (const [n, each] of prepared.entries()) {
      const result = results[n] ?? {};
      if (result.success !== true) all.push(connection.problemOf(result));
      else all.push(await made(connection, each, result, own).catch((error: MayflyError) => error));
    }
    return all;
  });
}

interface Opener {
  readonly fields: Json;
  open(answer: object): Promise<Revealed>;
}

/**
 * Returns whether the passphrase is part of the key. Unless the server says that the secret is sealed end to end, rejects before anything
 * is consumed and before anything that depends on the passphrase leaves the client.
 */
async function needsPassphrase(
  { call }: Connection,
  key: string,
  { passphrase, look }: RevealOptions,
  own: CallOptions,
): Promise<boolean> {
  const asked = call({ method: 'GET', path: `/secret/${key}/status`, isRead: true }, own);
  const waiting = await asked.then(toStatus).catch((error) => {
    // The secret may still open for a caller that repeats a look, although it is gone for everyone else.
    if (look !== undefined && error instanceof MayflyError && error.code === 'unknown_secret') return null;
    throw error;
  });
  if (waiting === null) {
    if (look !== undefined) return passphrase !== undefined;
    throw new MayflyError('unknown_secret', 'Unknown secret');
  }
  if (!waiting.isSealed)
    throw new MayflyError(
      'not_sealed',
      'The link is of an end-to-end secret, and the server says that the secret is plain.',
    );
  if (waiting.hasPassphrase && passphrase === undefined)
    throw new MayflyError('incorrect_passphrase', 'This secret has a passphrase.');
  return waiting.hasPassphrase;
}

async function sealedOpener(
  connection: Connection,
  key: string,
  fragment: string,
  options: RevealOptions,
  own: CallOptions,
): Promise<Opener> {
  if (!isFragment(fragment))
    throw new MayflyError('incomplete_link', 'The end of the link, after #, is damaged or incomplete.');
  const isNeeded = await needsPassphrase(connection, key, options, own);
  const proofs = await prove(fragment, isNeeded ? (options.passphrase ?? null) : null, stretch);
  return {
    fields: { link_proof: proofs.linkProof, proof: proofs.proof },
    async open(answer) {
      const { secretKey, ciphertext } = toSealedCiphertext(answer);
      const content = await open(ciphertext, proofs.key);
      if (content.kind === 'text') return withHidden({ secretKey }, { value: content.text, file: null });
      const { name, type, bytes } = content;
      return withHidden({ secretKey }, { value: null, file: { name, type, bytes } });
    },
  };
}

const finishMs = 2_000;

export async function done(
  { call }: Connection,
  secret: string,
  look: string,
  own: CallOptions = {},
): Promise<void> {
  const path = `/secret/${partsOf(secret, 'secret').key}/reveal/done`;
  await call({ method: 'POST', path, body: { look } }, own);
}

async function openerOf(
  connection: Connection,
  secret: string,
  options: RevealOptions,
  own: CallOptions,
): Promise<Opener> {
  const { key, fragment } = partsOf(secret, 'secret');
  if (fragment !== null) return sealedOpener(connection, key, fragment, options, own);
  return { fields: given({ passphrase: options.passphrase }), open: async (answer) => toRevealed(answer) };
}

export async function burnUnread(
  connection: Connection,
  secret: string,
  options: Omit<RevealOptions, 'strictlyOnce'> = {},
): Promise<void> {
  const path = `/secret/${partsOf(secret, 'secret').key}/burn`;
  const { look, code } = options;
  await withinOneLimit(connection.timeoutMs, options, async (own) => {
    const { fields } = await openerOf(connection, secret, options, own);
    const body = given({ continue: true, ...fields, look, code });
    await connection.call({ method: 'POST', path, body }, own);
  });
}

/** What proves the link, which never includes a passphrase. */
const proofOf = async (fragment: string | null) =>
  fragment === null ? {} : { link_proof: await proveLink(fragment) };

const sentCode = { sentTo: ['sent_to', text], until: ['until', time] } as const;
export type WireSentCode = WireOf<typeof sentCode>;

export async function sendCode(
  { call }: Connection,
  secret: string,
  look: string,
  { locale, ...own }: CallOptions & Pick<CreateOptions, 'locale'> = {},
): Promise<SentCode> {
  const { key, fragment } = partsOf(secret, 'secret');
  const body = given({ look, locale, ...(await proofOf(fragment)) });
  return read(recordOf(await call({ method: 'POST', path: `/secret/${key}/code`, body }, own)), sentCode);
}

const noteRecord = { note: ['note', textOrNull] } as const;
export type WireNote = WireOf<typeof noteRecord>;

export async function note({ call }: Connection, secret: string, own?: CallOptions): Promise<string | null> {
  const { key, fragment } = partsOf(secret, 'secret');
  const body = await proofOf(fragment);
  const path = `/secret/${key}/note`;
  const answer = await call({ method: 'POST', path, body, isRead: true }, own);
  const words = read(recordOf(answer), noteRecord).note;
  return words === null || fragment === null ? words : openNote(words, fragment);
}

export async function reveal(
  connection: Connection,
  secret: string,
  options: RevealOptions = {},
): Promise<Revealed> {
  const { key } = partsOf(secret, 'secret');
  const { look: kept, code, strictlyOnce = false } = options;
  if (kept !== undefined && (strictlyOnce || !isFragment(kept)))
    throw invalid('look', 'look must come from newLook(), and does not go with strictlyOnce.');
  return withinOneLimit(connection.timeoutMs, options, async (own) => {
    const opener = await openerOf(connection, secret, options, own);
    const drawn = kept === undefined && !strictlyOnce ? newLook() : undefined;
    const body = given({ continue: true, ...opener.fields, look: kept ?? drawn, code });
    const ask = () => connection.call({ method: 'POST', path: `/secret/${key}/reveal`, body }, own);
    if (drawn === undefined) return opener.open(await ask());
    const revealed = await opener.open(await askAgain(ask, own.signal));
    const { signal, timeoutMs = finishMs } = own;
    const limit = { ...(signal && { signal }), timeoutMs: Math.min(timeoutMs, finishMs) };
    // The value has arrived. If this call fails, its second look still ends within the minute.
    await done(connection, key, drawn, limit).catch(() => {});
    return revealed;
  });
}
