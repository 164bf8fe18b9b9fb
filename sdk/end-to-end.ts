/**
 * Shares and reads end to end (docs/end-to-end.md). The client loads this module with the first secret that it shares or reads, so that
 * a program that does neither loads nothing of it.
 */
import {
  type ConcealOptions,
  type CreateOptions,
  creationFields,
  type GenerateOptions,
  type RevealOptions,
} from './creation.ts';
import { MayflyError } from './error.ts';
import { drawValue } from './generated-value.ts';
import { withinOneLimit } from './limit.ts';
import { linkOf, parseLink, partsOf } from './link.ts';
import {
  type Created,
  type Generated,
  type Revealed,
  toRevealed,
  toSealedCiphertext,
  toSealedCreated,
  toStatus,
} from './records.ts';
import { type Content, isFragment, open, prove, type Stretch, seal } from './sealing.ts';
import { type Connection, given, type Json } from './transport.ts';
import { unexpected, withHidden } from './wire.ts';

/** argon2id is large: it is loaded when the first passphrase is stretched. */
const stretch: Stretch = async (passphrase, salt) => {
  const loaded = await import('./stretch.ts');
  return loaded.stretch(passphrase, salt);
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
function contentOf({ value, file }: ConcealOptions): Content {
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

/** The key seals once: nothing is ever sent again. */
export async function concealSealed(connection: Connection, options: ConcealOptions): Promise<Created> {
  return concealContent(connection, contentOf(options), options);
}

/** The value is drawn here, so that the server never sees it. */
export async function generateSealed(connection: Connection, options: GenerateOptions): Promise<Generated> {
  const value = drawValue(options.length, options.charset);
  return withHidden(await concealContent(connection, { kind: 'text', text: value }, options), { value });
}

/** What proves link and passphrase, and opens the answer. */
interface Opener {
  readonly proofs: Json;
  open(answer: object): Promise<Revealed>;
}

/**
 * Stops before anything is consumed, and before anything that depends on the passphrase leaves this client, unless the server says that
 * the secret is sealed end to end: otherwise a server could ask for what a plain reveal sends.
 */
async function openerOf(
  { call }: Connection,
  key: string,
  fragment: string,
  { passphrase }: RevealOptions,
  own: RevealOptions,
): Promise<Opener> {
  if (!isFragment(fragment))
    throw new MayflyError('incomplete_link', 'The end of the link, after #, is damaged or incomplete.');
  const waiting = toStatus(await call({ method: 'GET', path: `/secret/${key}/status`, isRead: true }, own));
  if (waiting === null) throw new MayflyError('unknown_secret', 'Unknown secret');
  if (!waiting.isSealed)
    throw new MayflyError(
      'not_sealed',
      'The link is that of an end-to-end secret, and the server says that it has a plain one. Nothing was sent.',
    );
  if (waiting.hasPassphrase && passphrase === undefined)
    throw new MayflyError('incorrect_passphrase', 'This secret has a passphrase.');
  const {
    linkProof,
    proof,
    key: opening,
  } = await prove(fragment, waiting.hasPassphrase ? (passphrase ?? null) : null, stretch);
  return {
    proofs: { link_proof: linkProof, proof },
    async open(answer) {
      const { secretKey, ciphertext } = toSealedCiphertext(answer);
      const content = await open(ciphertext, opening);
      if (content.kind === 'text') return withHidden({ secretKey }, { value: content.text, file: null });
      const { name, type, bytes } = content;
      return withHidden({ secretKey }, { value: null, file: { name, type, bytes } });
    },
  };
}

function plainOpener({ passphrase }: RevealOptions): Opener {
  return { proofs: given({ passphrase }), open: async (answer) => toRevealed(answer) };
}

export async function reveal(
  connection: Connection,
  secret: string,
  options: RevealOptions,
): Promise<Revealed> {
  const { key, fragment } = partsOf(secret, 'receipt');
  return withinOneLimit(connection.timeoutMs, options, async (own) => {
    const opener =
      fragment === null ? plainOpener(options) : await openerOf(connection, key, fragment, options, own);
    const body = { continue: true, ...opener.proofs };
    return opener.open(await connection.call({ method: 'POST', path: `/secret/${key}/reveal`, body }, own));
  });
}
