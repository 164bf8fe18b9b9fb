/** Every difference between the documented v1 and the existing service, with evidence. No other v1 code knows the dialect. */

import type { Access } from '../../http/operation.ts';
import type { ReceiptState } from '../../protocol/vocabulary.ts';
import { type DialectName, managementAuthority, row, type SideOf, sideOf } from '../version.ts';

/** Returns the part of a parameter's text that counts, or `undefined` if no part does. */
type ReadText = (text: string) => string | undefined;

/** The response body for an unknown path. */
export const notFoundBody = { error: 'Not Found', message: 'Not Found' };

export const differences = {
  secretKeyOfGone: row<(state: ReceiptState) => { secret_key?: '' }>(
    'Typed clients build a link from a null key. The existing service sends an empty key, or none once the secret was read.',
    () => ({}),
    (state) => (state === 'received' ? {} : { secret_key: '' }),
  ),
  secretTtlOfGone: row<(state: ReceiptState) => { secret_ttl?: null }>(
    'Typed clients fail on a null integer. The existing service leaves the field out once the secret was read, and otherwise sends null.',
    () => ({}),
    (state) => (state === 'received' ? {} : { secret_ttl: null }),
  ),
  passphraseOfGone: row<(isRequired: boolean) => { passphrase_required?: boolean }>(
    'Once the secret is gone, the existing service no longer knows whether it had a passphrase.',
    (isRequired) => ({ passphrase_required: isRequired }),
    () => ({}),
  ),
  metadataUrl: row<(receiptUrl: () => string) => { metadata_url?: string }>(
    'Since version 0.24, the existing service sends the address of the creator’s page with the record.',
    () => ({}),
    (receiptUrl) => ({ metadata_url: receiptUrl() }),
  ),
  recipientField: row<(obfuscated: string | null) => { recipient?: string | readonly string[] }>(
    'The existing service always sends a list. The Ruby client joins it, and Go clients decode it as a list of strings.',
    recipientText,
    recipientList,
  ),
  managementAccess: row<Access>(
    'The existing service requires no credentials for metadata and burn, and the Bash client sends none.',
    'account',
    'anyone',
  ),
  managementAuthority,
  refusalStatus: row<(status: number) => number>(
    'The existing service refuses nearly everything with 404 and without a challenge, so clients read the message.',
    (status) => status,
    notFoundInstead,
  ),
  wrongMethodBody: row<object>(
    'The existing service treats a wrong method as an unknown path. The npm and TypeScript clients look for its "Not Found".',
    { message: 'Method Not Allowed' },
    notFoundBody,
  ),
  missingScopeStatus: row<number>(
    'The existing service has no scopes. It answers 404 to anything that the credentials do not allow.',
    403,
    404,
  ),
  sharingDisabledStatus: row<number>(
    'The existing service also answers 404 to anything that the owner of a domain does not allow on it.',
    403,
    404,
  ),
  readTtl: row<ReadText>(
    'The existing service reads the leading digits of ttl, clamps the number and never refuses. Early versions treated a negative ttl as unset.',
    (text) => text,
    leadingDigits,
  ),
  severalRecipients: row<(texts: readonly string[]) => string | null>(
    'The existing service accepts several recipients and emails the first. The Ruby client sends every one that it gets.',
    () => null,
    (texts) => texts.join(','),
  ),
  readRecipient: row<ReadText>(
    'The existing service uses the first address that it finds in the text, and ignores a text without one.',
    (text) => text,
    firstAddress,
  ),
  readShareDomain: row<ReadText>(
    'The existing service ignores a share domain that is not a domain name, and refuses an unregistered one.',
    (text) => text,
    domainOrNothing,
  ),
  burnNeedsPassphrase: row<boolean>(
    'Anyone with the metadata key may burn a secret in the existing service, which then requires the passphrase, if there is one.',
    false,
    true,
  ),
  revealShareDomain: row<(shareDomain: string, linkOrigin: (shareDomain: string) => string) => string>(
    'In its answer to a reveal, and only there, the existing service sends the scheme and host of the link.',
    (shareDomain) => shareDomain,
    (shareDomain, linkOrigin) => linkOrigin(shareDomain),
  ),
};

export type Dialect = SideOf<typeof differences>;

export function dialectOf(name: DialectName): Dialect {
  return sideOf(differences, name);
}

function recipientText(obfuscated: string | null): { recipient?: string } {
  return obfuscated === null ? {} : { recipient: obfuscated };
}

function recipientList(obfuscated: string | null): { recipient: readonly string[] } {
  return { recipient: obfuscated === null ? [] : [obfuscated] };
}

/** Replaced by 404. Rate limits (429), refused browsers (403) and faults (5xx) keep their status, so that clients can tell them apart. */
const saidAsNotFound: ReadonlySet<number> = new Set([400, 401, 405, 413]);

function notFoundInstead(status: number): number {
  return saidAsNotFound.has(status) ? 404 : status;
}

function leadingDigits(text: string): string | undefined {
  return /^\s*\+?(\d+)/.exec(text)?.[1];
}

/**
 * Broader than the existing service's pattern, which allows at most four letters in the last label, and would cut an address
 * at an apostrophe and mail a stranger. The core gets a doubtful text whole and explains its refusal.
 */
function firstAddress(text: string): string | undefined {
  return text.split(/[\s<>()[\]",;:]+/).find(looksLikeAddress);
}

function looksLikeAddress(word: string): boolean {
  const parts = word.split('@');
  return parts.length === 2 && parts[0] !== '' && /\.(?:xn--[a-z\d-]+|\p{L}{2,})$/iu.test(parts[1] ?? '');
}

/** Accepts two or more labels if the last is not a number; anything else is a typo, not an unregistered domain. */
function domainOrNothing(text: string): string | undefined {
  const labels = text.split('.');
  const hasForm = labels.length > 1 && labels.every((label) => /^[\p{L}\p{M}\p{N}-]+$/u.test(label));
  return hasForm && !/^\d+$/.test(labels.at(-1) ?? '') ? text : undefined;
}
