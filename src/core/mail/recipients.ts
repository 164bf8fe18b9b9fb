/**
 * Recipients: which text is a deliverable address, and how one is shown.
 *
 * Owns: the address's form (a dot-atom local part and a host name of two labels or more, RFC 5321 without quoting and
 * literals), how what people type becomes one, and the obfuscation. Invariant: nothing that passes can change a mail's
 * headers or envelope (P26), nor mean more to a mail server behind ours than one mailbox: no route to another host (`%`,
 * `!`), no program (`|`), no option of one (a leading `-`), no encoded word (`=?`, RFC 2047). RFC 5321 allows these, and no
 * mailbox in use has them. A local part beyond ASCII is refused too: every mail server on the way must know SMTPUTF8
 * (RFC 6531), and the sender of a link would not hear of the one that does not.
 */
import { domainToASCII, domainToUnicode } from 'node:url';
import { Sensitive } from '../sensitive.ts';

const localPart = /^(?!-)(?!.*=\?)[A-Za-z0-9#$&'*+/=?^_`{}~-]+(?:\.[A-Za-z0-9#$&'*+/=?^_`{}~-]+)*$/;
const label = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/;
const topLabel = /^(?:[A-Za-z]{2,63}|xn--[A-Za-z0-9-]{1,59})$/i;
const maxAddressLength = 320;
const maxLocalLength = 64;
const maxDomainLength = 253;

/** Whether mail to this text can be tried: one plain address, nothing around it. */
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

/** Line ends are no blanks: nobody types them into an address. */
const lineEnd = /[\n\v\f\r\u2028\u2029]/;
/** Letters, marks and digits of any script; no sign that `domainToASCII` would turn into several characters. */
const typedDomain = /^[\p{L}\p{M}\p{N}.-]+$/u;

/**
 * The address in what was typed: without blanks around it, a domain of another script in ASCII (IDNA, UTS #46).
 * @returns `null` when it is not one deliverable address
 */
export function parseRecipient(text: string): string | null {
  if (lineEnd.test(text)) return null;
  const typed = text.trim();
  const at = typed.lastIndexOf('@');
  const domain = typed.slice(at + 1);
  if (at < 1 || typed.length > maxAddressLength || !typedDomain.test(domain)) return null;
  const ascii = domainToASCII(domain);
  const address = /^[!-~]+$/.test(domain) ? typed : `${typed.slice(0, at)}@${ascii}`;
  return ascii !== '' && isDeliverable(address) ? address : null;
}

/** The same input with the recipient's address as `parseRecipient` gives it; unchanged where it is none. */
export function withParsedRecipient<T extends { readonly recipient: Sensitive<string> | null }>(input: T): T {
  const address = input.recipient === null ? null : parseRecipient(input.recipient.expose());
  return address === null ? input : { ...input, recipient: new Sensitive(address) };
}

/**
 * `jo*****@e*****.org`: at most two characters of the local part but always one fewer than it has, and the first of
 * the domain, which is shown in its own script. A local part of one character shows none.
 * @param address one that `isDeliverable`
 */
export function obfuscate(address: string): string {
  const at = address.lastIndexOf('@');
  const shown = address.slice(0, Math.min(2, at - 1));
  const domain = toUnicode(address.slice(at + 1));
  const lastLabel = domain.slice(domain.lastIndexOf('.') + 1);
  const [first = ''] = domain;
  return `${shown}*****@${first}*****.${lastLabel}`;
}

/** The domain as people write it; as it is where it stands for nothing that they could write. */
function toUnicode(domain: string): string {
  return /xn--/i.test(domain) ? domainToUnicode(domain) || domain : domain;
}
