/** Prepares creations, alone or in a batch. */

import { parseLink, secretLink } from '../src/protocol/link.ts';
import {
  type ConcealOptions,
  type CreateOptions,
  creationFields,
  type GenerateOptions,
  generationFields,
} from './creation.ts';
import { generateValue } from './drawing.ts';
import { invalid, MayflyError } from './error.ts';
import { type Created, type Generated, toCreated, toGenerated, toSealedCreated } from './records.ts';
import { type Content, type Stretch, seal } from './sealing.ts';
import type { Call, Connection } from './transport.ts';
import { given, type Json, unexpected, withHidden } from './wire.ts';

/** argon2id is large, so it is loaded with the first passphrase. */
export const stretch: Stretch = async (passphrase, salt) => {
  try {
    const loaded = await import('./stretch.ts');
    return await loaded.stretch(passphrase, salt);
  } catch (cause) {
    const message = 'argon2id could not be loaded. A page needs wasm-unsafe-eval in its policy.';
    throw new MayflyError('not_loaded', message, { cause });
  }
};

const thisMachine = /^((.+\.)?localhost|127(\.\d+){3}|\[::1\])$/;

/** @throws MayflyError `invalid_field` */
function assertSealable({ recipient }: CreateOptions): void {
  if (recipient !== undefined)
    throw invalid(
      'recipient',
      'The server cannot mail a link that it does not know: use plain: true, or mail it yourself.',
    );
}

/** @throws MayflyError `insecure_address` */
export function assertSecure(server: string): void {
  const { protocol, hostname } = new URL(server);
  const isSecure = protocol === 'https:' || thisMachine.test(hostname);
  if (!isSecure || globalThis.crypto?.subtle === undefined)
    throw new MayflyError(
      'insecure_address',
      'An end-to-end secret needs https, or a server on this machine. Otherwise use plain: true.',
    );
}

/** @throws MayflyError `invalid_field` */
export function contentOf({ value, file, plain }: Pick<ConcealOptions, 'value' | 'file' | 'plain'>): Content {
  if (file !== undefined && plain === true) throw invalid('plain', 'A file is only shared end to end.');
  if (file !== undefined) return { kind: 'file', name: file.name, type: file.type, bytes: file.bytes };
  if (value === undefined || value === '') throw invalid('value', 'There is nothing to share.');
  return { kind: 'text', text: value };
}

/** Builds the link locally: only the key comes from the server. */
export function fullLink(link: string, key: string, fragment: string): string {
  if (parseLink(link)?.key !== key) throw unexpected();
  return `${link}#${fragment}`;
}

/** The request's body contains `fields` under `secret`. */
export interface Prepared<Made> {
  readonly fields: Json;
  read(answer: object): Made;
}

async function sealContent(
  { server }: Connection,
  content: Content,
  options: CreateOptions,
): Promise<Prepared<Created>> {
  assertSealable(options);
  assertSecure(server);
  const { passphrase = null, note = '', shareDomain = '' } = options;
  const { sealed, fragment } = await seal({ content, passphrase, note, stretch });
  // Omits the email's language, because no email is sent.
  const { verify, ttl, share_domain, notify, memo } = creationFields(options);
  return {
    fields: given({ sealed, verify, ttl, share_domain, notify, memo }),
    read: (answer) =>
      toSealedCreated(answer, (key) => fullLink(secretLink(key, shareDomain, server), key, fragment)),
  };
}

export async function prepareConceal(
  connection: Connection,
  options: ConcealOptions,
): Promise<Prepared<Created>> {
  if (options.plain !== true || options.file !== undefined)
    return sealContent(connection, contentOf(options), options);
  const fields = given({ secret: options.value, ...creationFields(options) });
  return { fields, read: (answer) => toCreated(answer, connection.server) };
}

/** `isDrawn`: the server draws the value. */
export async function prepareGenerate(
  connection: Connection,
  options: GenerateOptions,
): Promise<Prepared<Generated> & { readonly isDrawn: boolean }> {
  if (options.plain === true) {
    const read = (answer: object) => toGenerated(answer, connection.server);
    return { isDrawn: true, fields: given(generationFields(options)), read };
  }
  // Drawn here, so that the server never sees it.
  const value = generateValue(options.length, options.charset);
  const { fields, read } = await sealContent(connection, { kind: 'text', text: value }, options);
  return { isDrawn: false, fields, read: (answer) => withHidden(read(answer), { value }) };
}

const keyForm = /^(?!.*,)[!-~]([ -~]{0,253}[!-~])?$/;

/** @throws MayflyError `invalid_field` or `account_required` */
export function creationCall(
  path: string,
  body: Json,
  { idempotencyKey }: Pick<CreateOptions, 'idempotencyKey'>,
  { hasAccount }: Connection,
): Call {
  const call = { method: 'POST', path: `/secret/${path}`, body } as const;
  if (idempotencyKey === undefined) return call;
  if (!keyForm.test(idempotencyKey))
    throw invalid('idempotencyKey', 'An idempotency key has 1 to 255 characters of ASCII and no comma.');
  if (!hasAccount) throw new MayflyError('account_required', 'An idempotency key needs an account.');
  return { ...call, idempotencyKey };
}
