/**
 * Shares and reads, end to end (docs/end-to-end.md) unless it is plain. The client loads this module with the first secret that it
 * shares or reads.
 */
import {
  type ConcealOptions,
  type CreateOptions,
  creationFields,
  type GenerateOptions,
  generationFields,
  type RevealOptions,
} from './creation.ts';
import { MayflyError } from './error.ts';
import { drawValue } from './generated-value.ts';
import { given, type Json } from './json.ts';
import { type CallOptions, pause, withinOneLimit } from './limit.ts';
import { linkOf, parseLink, partsOf } from './link.ts';
import { newLook } from './look.ts';
import {
  type Created,
  type Generated,
  type Revealed,
  toCreated,
  toGenerated,
  toRevealed,
  toSealedCiphertext,
  toSealedCreated,
  toStatus,
} from './records.ts';
import { type Content, isFragment, open, prove, type Stretch, seal } from './sealing.ts';
import type { Connection } from './transport.ts';
import { unexpected, withHidden } from './wire.ts';

/** argon2id is large: it is loaded when the first passphrase is stretched. */
const stretch: Stretch = async (passphrase, salt) => {
  try {
    const loaded = await import('./stretch.ts');
    return await loaded.stretch(passphrase, salt);
  } catch (cause) {
    const message =
      'argon2id could not be loaded. A page needs WebAssembly for it: wasm-unsafe-eval in its policy.';
    throw new MayflyError('not_loaded', message, { cause });
  }
};

function invalid(field: string, message: string): MayflyError {
  return new MayflyError('invalid_field', message, { field });
}

const thisMachine = /^((.+\.)?localhost|127(\.\d+){3}|\[::1\])$/;

/** Nothing was sent. @throws MayflyError `invalid_field` or `insecure_address` */
function assertSealable(server: string, { recipient }: CreateOptions): void {
  if (recipient !== undefined)
    throw invalid(
      'recipient',
      'The server cannot mail the link of an end-to-end secret, because it does not know it. Give the link away yourself, ' +
        'or let the server encrypt the value, with plain: true.',
    );
  const { protocol, hostname } = new URL(server);
  const isSecure = protocol === 'https:' || thisMachine.test(hostname);
  if (!isSecure || globalThis.crypto?.subtle === undefined)
    throw new MayflyError(
      'insecure_address',
      'An end-to-end secret needs https, or a server on this machine. With plain: true the server encrypts the value instead.',
    );
}

/** @throws MayflyError `invalid_field` */
function contentOf({ value, file, plain }: ConcealOptions): Content {
  if (file !== undefined && plain === true) throw invalid('plain', 'A file is only shared end to end.');
  if (file !== undefined) return { kind: 'file', name: file.name, type: file.type, bytes: file.bytes };
  if (value === undefined || value === '') throw invalid('value', 'There is nothing to share.');
  return { kind: 'text', text: value };
}

/** Made of what this client was told: the server adds nothing but the key. */
function fullLink(server: string, shareDomain: string, secretKey: string, fragment: string): string {
  const link = `${linkOf(secretKey, shareDomain, server)}#${fragment}`;
  if (parseLink(link)?.key !== secretKey) throw unexpected();
  return link;
}

async function concealContent(
  { call, server, timeoutMs }: Connection,
  content: Content,
  options: CreateOptions,
): Promise<Created> {
  assertSealable(server, options);
  const { passphrase = null, shareDomain = '' } = options;
  return withinOneLimit(timeoutMs, options, async (own) => {
    const { sealed, fragment } = await seal({ content, passphrase, stretch });
    // The language is that of a mail, and none is sent.
    const { ttl, share_domain, notify, memo } = creationFields(options);
    const body = { secret: given({ sealed, ttl, share_domain, notify, memo }) };
    const answer = await call({ method: 'POST', path: '/secret/conceal', body }, own);
    return toSealedCreated(answer, (secretKey) => fullLink(server, shareDomain, secretKey, fragment));
  });
}

/** Nothing is sent twice. */
export async function conceal(connection: Connection, options: ConcealOptions): Promise<Created> {
  if (options.plain !== true || options.file !== undefined)
    return concealContent(connection, contentOf(options), options);
  const body = { secret: given({ secret: options.value, ...creationFields(options) }) };
  const answer = await connection.call({ method: 'POST', path: '/secret/conceal', body }, options);
  return toCreated(answer, connection.server);
}

export async function generate(connection: Connection, options: GenerateOptions): Promise<Generated> {
  if (options.plain === true) {
    const body = { secret: given(generationFields(options)) };
    const answer = await connection.call({ method: 'POST', path: '/secret/generate', body }, options);
    return toGenerated(answer, connection.server);
  }
  // Drawn here, so that the server never sees it.
  const value = drawValue(options.length, options.charset);
  return withHidden(await concealContent(connection, { kind: 'text', text: value }, options), { value });
}

/** What a reveal sends, and how its answer is read. */
interface Opener {
  readonly fields: Json;
  open(answer: object): Promise<Revealed>;
}

function plainOpener({ passphrase }: RevealOptions): Opener {
  return { fields: given({ passphrase }), open: async (answer) => toRevealed(answer) };
}

/**
 * Whether the passphrase is part of the key. Stops before anything is consumed, and before anything that depends on the passphrase
 * leaves this client, unless the server says that the secret is sealed end to end.
 */
async function needsPassphrase(
  { call }: Connection,
  key: string,
  { passphrase, look }: RevealOptions,
  own: CallOptions,
): Promise<boolean> {
  const asked = call({ method: 'GET', path: `/secret/${key}/status`, isRead: true }, own);
  const waiting = await asked.then(toStatus).catch((error) => {
    // To the caller who has looked at it once it may still open, though to everybody else it is gone.
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
      'The link is that of an end-to-end secret, and the server says that it has a plain one. Nothing was read.',
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

/** The server may have answered, and the answer did not arrive. A proxy that gives up answers for it, and not as Mayfly does. */
function isLost(error: unknown): boolean {
  if (!(error instanceof MayflyError)) return false;
  const { code, status } = error;
  return (
    code === 'unreachable' || (code === 'unexpected_answer' && !(status && status >= 400 && status < 500))
  );
}

const triesOfALook = 3;

/** The same answer to the same look, as often as a server gives it. */
async function askAgain(ask: () => Promise<object>, signal: AbortSignal | undefined): Promise<object> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await ask();
    } catch (error) {
      if (tries === triesOfALook || !isLost(error) || signal?.aborted === true) throw error;
      await pause(50 * 2 ** tries, signal);
    }
  }
}

const finishMs = 2_000;

export async function done(
  { call }: Connection,
  secret: string,
  look: string,
  own: CallOptions,
): Promise<void> {
  const path = `/secret/${partsOf(secret, 'receipt').key}/reveal/done`;
  await call({ method: 'POST', path, body: { look } }, own);
}

export async function reveal(
  connection: Connection,
  secret: string,
  options: RevealOptions,
): Promise<Revealed> {
  const { key, fragment } = partsOf(secret, 'receipt');
  const { look: kept, strictlyOnce = false } = options;
  if (kept !== undefined && (strictlyOnce || !isFragment(kept)))
    throw invalid('look', 'look must come from newLook(), and does not go with strictlyOnce.');
  return withinOneLimit(connection.timeoutMs, options, async (own) => {
    const opener =
      fragment === null ? plainOpener(options) : await sealedOpener(connection, key, fragment, options, own);
    const drawn = kept === undefined && !strictlyOnce ? newLook() : undefined;
    const body = given({ continue: true, ...opener.fields, look: kept ?? drawn });
    const ask = () => connection.call({ method: 'POST', path: `/secret/${key}/reveal`, body }, own);
    if (drawn === undefined) return opener.open(await ask());
    const revealed = await opener.open(await askAgain(ask, own.signal));
    const { signal, timeoutMs = finishMs } = own;
    const limit = { ...(signal && { signal }), timeoutMs: Math.min(timeoutMs, finishMs) };
    // What was read is here: whether its second look ends now or within the minute is no reason to lose it.
    await done(connection, key, drawn, limit).catch(() => {});
    return revealed;
  });
}
