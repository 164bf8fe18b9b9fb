/**
 * Recipients: which text is a deliverable address, and how one is shown.
 *
 * Owns: the address's form (a dot-atom local part and a host name of two labels or more, RFC 5321 without quoting and
 * literals) and the obfuscation. Invariant: nothing that passes can change a mail's headers or envelope (P26), nor mean
 * more to a mail server behind ours than one mailbox: no route to another host (`%`, `!`), no program (`|`), no option of
 * one (a leading `-`), no encoded word (`=?`, RFC 2047). RFC 5321 allows these, and no mailbox in use has them.
 */
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

/**
 * `jo*****@e*****.org`: at most two characters of the local part but always one fewer than it has, and the first of
 * the domain. A local part of one character shows none.
 * @param address one that `isDeliverable`
 */
export function obfuscate(address: string): string {
  const at = address.lastIndexOf('@');
  const shown = address.slice(0, Math.min(2, at - 1));
  const domain = address.slice(at + 1);
  const lastLabel = domain.slice(domain.lastIndexOf('.') + 1);
  return `${shown}*****@${domain.slice(0, 1)}*****.${lastLabel}`;
}
