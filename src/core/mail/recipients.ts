/**
 * Decides whether a text is a deliverable address, and obfuscates addresses.
 *
 * An address is a dot-atom local part and a host name of two labels or more (RFC 5321 without quoting and literals). No accepted address
 * can change an email's headers or envelope (P26), or mean more than one mailbox to a later mail server: it contains no route to another
 * host (`%`, `!`), no program (`|`), no option for a program (a leading `-`) and no encoded word (`=?`, RFC 2047). RFC 5321 allows these,
 * but no mailbox in use has them. A non-ASCII local part is refused because every mail server on the way must support SMTPUTF8 (RFC 6531),
 * and the sender would not find out about one that does not.
 */
import { domainToASCII, domainToUnicode } from 'node:url';

const localPart = /^(?!-)(?!.*=\?)[A-Za-z0-9#$&'*+/=?^_`{}~-]+(?:\.[A-Za-z0-9#$&'*+/=?^_`{}~-]+)*$/;
const label = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/;
const topLabel = /^(?:[A-Za-z]{2,63}|xn--[A-Za-z0-9-]{1,59})$/i;
const maxAddressLength = 320;
const maxLocalLength = 64;
const maxDomainLength = 253;

/** Checks whether the text is exactly one plain address. */
export function isDeliverable(address: string): boolean {
  if (address.length > maxAddressLength) return false;
  const at = address.lastIndexOf('@');
  const local = address.slice(0, at);
  const domain = address.slice(at + 1);
  if (at < 1 || local.length > maxLocalLength || domain.length > maxDomainLength) return false;
  const labels = domain.split('.');
  return (
    localPart.test(local) &&
    labels.length >= 2 &&
    labels.every((part) => label.test(part)) &&
    topLabel.test(labels.at(-1) ?? '')
  );
}

/** Format characters and everything else that Unicode renders as nothing; copying from pages and chats brings them along. */
const unseen = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/u;
/** Characters to trim. Line breaks are not among them and so are refused: people do not type them into an address. */
const edge = /(?![\n\v\f\r\u2028\u2029])[\s\p{Cf}\p{Default_Ignorable_Code_Point}]/u;
/** Text longer than this is not an address, even with blanks around it. */
const maxTypedLength = 1_000;

/** Removes blanks and invisible characters from both ends. */
export function trimAddress(text: string): string {
  if (text.length > maxTypedLength) return text;
  const characters = [...text];
  const isInside = (character: string) => !edge.test(character);
  return characters.slice(characters.findIndex(isInside), characters.findLastIndex(isInside) + 1).join('');
}

/** Returns an account's username: its address, trimmed and in lower case. */
export function usernameOf(email: string): string {
  return trimAddress(email).toLowerCase();
}

/** Returns the first invisible character inside the trimmed address, such as `U+200B`, or `null`. */
export function unseenIn(text: string): string | null {
  const code = unseen.exec(trimAddress(text))?.[0].codePointAt(0);
  return code === undefined ? null : `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Returns words to append to a refusal; `''` if the text contains no invisible character. */
export function unseenWords(text: string): string {
  const found = unseenIn(text);
  return found === null ? '' : ` (it has an invisible character in it: ${found})`;
}

/** Letters, marks and digits of any script; excludes characters that `domainToASCII` would expand. */
const typedDomain = /^[\p{L}\p{M}\p{N}.-]+$/u;

/**
 * Trims an address and converts its domain to ASCII (IDNA, UTS #46).
 * @returns `null` if the text is not one deliverable address
 */
export function parseRecipient(text: string): string | null {
  const typed = trimAddress(text);
  const at = typed.lastIndexOf('@');
  const domain = typed.slice(at + 1);
  if (at < 1 || typed.length > maxAddressLength || !typedDomain.test(domain)) return null;
  const ascii = domainToASCII(domain);
  const address = /^[!-~]+$/.test(domain) ? typed : `${typed.slice(0, at)}@${ascii}`;
  return ascii !== '' && isDeliverable(address) ? address : null;
}

/**
 * Returns `jo*****@e*****.org`: at most two characters of the local part, always leaving out at least one, and the first character of the
 * domain in its own script.
 * @param address a deliverable one (`isDeliverable`)
 */
export function obfuscate(address: string): string {
  const at = address.lastIndexOf('@');
  const shown = address.slice(0, Math.min(2, at - 1));
  const domain = toUnicode(address.slice(at + 1));
  const lastLabel = domain.slice(domain.lastIndexOf('.') + 1);
  const [first = ''] = domain;
  return `${shown}*****@${first}*****.${lastLabel}`;
}

/** Returns the domain in its own script, or unchanged if it does not decode. */
function toUnicode(domain: string): string {
  return /xn--/i.test(domain) ? domainToUnicode(domain) || domain : domain;
}
