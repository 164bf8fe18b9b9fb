/**
 * Mail addresses and header lines. No text that leaves this file can end a header line, name a second recipient, or open a group, comment
 * or route (RFC 5322 §3.4, RFC 5321 §4.1.2). A local part must be a dot-atom; quoted ones are refused, although the RFC allows them.
 */
import { domainToASCII, domainToUnicode } from 'node:url';
import { trimAddress, unseenWords } from '../core/mail/recipients.ts';
import { MailSettingError } from './settings.ts';

export interface Mailbox {
  readonly name: string;
  readonly address: string;
}

const longestLocalPartBytes = 64;
const longestAddressLength = 320;
const longestLineLength = 320;

// atext of RFC 5322 §3.2.3, and everything beyond ASCII except spaces, controls and invisible characters (RFC 6532).
const atom = /^(?:[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~]|[^\p{ASCII}\p{C}\p{Z}])+$/u;
const hostLabel = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
// Controls, format characters (including bidirectional overrides), surrogates and line separators.
const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu;

/** Returns the address with its domain in ASCII; `null` unless the text is exactly one plain address. */
export function parseAddress(text: string): string | null {
  if (text.length > longestAddressLength) return null;
  const at = text.lastIndexOf('@');
  const local = text.slice(0, Math.max(at, 0));
  if (Buffer.byteLength(local) > longestLocalPartBytes) return null;
  if (!local.split('.').every((part) => atom.test(part))) return null;
  const domain = parseDomain(text.slice(at + 1));
  return domain === null ? null : `${local}@${domain}`;
}

function parseDomain(text: string): string | null {
  if (/[\p{ASCII}]/u.test(text) && /[^\p{L}\p{M}\p{N}.-]/u.test(text)) return null;
  const domain = domainToASCII(text);
  const labels = domain.split('.');
  // A domain whose last label is all digits would be an IPv4 address; `domainToASCII` turns even `0x7f.1` into one.
  if (labels.length < 2 || /^[0-9]+$/.test(labels.at(-1) ?? '')) return null;
  return domain.length <= 253 && labels.every((label) => hostLabel.test(label)) ? domain : null;
}

/** Returns the address with its domain in Unicode. @param address from `parseAddress` */
export function toUnicodeAddress(address: string): string {
  const at = address.lastIndexOf('@') + 1;
  return address.slice(0, at) + domainToUnicode(address.slice(at));
}

export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1);
}

/** Parses `name@host` or `Name <name@host>`. @throws MailSettingError */
export function toMailbox(text: string): Mailbox {
  const [, before = '', bare = text] = /^([^<>]*)<([^<>]*)>$/.exec(trimAddress(text)) ?? [];
  const name = before.trim().replace(/^"(.*)"$/, '$1');
  const address = parseAddress(trimAddress(bare));
  if (address !== null && toSingleLine(name) === name) return { name, address };
  const words = `It must be one address: name@host or Name <name@host>${unseenWords(text)}.`;
  throw new MailSettingError('sender', words);
}

/** Parses the address to which undeliverable mail is returned. @throws MailSettingError */
export function toReturnPath(text: string): string {
  const address = parseAddress(trimAddress(text));
  if (address === null)
    throw new MailSettingError('return_path', `It must be one address: name@host${unseenWords(text)}.`);
  return address;
}

export function toSingleLine(text: string): string {
  return toPrintable(text.slice(0, longestLineLength)).trim();
}

/** Replaces each run of controls, line breaks and invisible characters with a space. */
export function toPrintable(text: string): string {
  return text.replace(unprintable, ' ');
}
