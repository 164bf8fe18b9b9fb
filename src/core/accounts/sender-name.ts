/**
 * The name that recipients read in place of the sender's address, in pages and mails.
 *
 * Somebody who chooses a name can pretend to be another. So it is one short line of letters, with nothing that could pass for an address,
 * a link or a telephone number, nothing invisible, and nothing that changes a mail's headers (P26); the address is always shown with it.
 */
import type { Account } from '../account.ts';
import type { DomainStore } from '../ports/domains.ts';

export const maxSenderName = 40;

/** Of any script. Letters that are drawn as nothing are refused below, as are digits enough for a telephone number. */
const characters = /^[\p{L}\p{M}\p{N} .,'’&()+·・-]+$/u;
const refusals = [
  /\p{Default_Ignorable_Code_Point}/u,
  /\p{M}{4}/u,
  /(?:\p{N}\P{N}*){6}/u,
  /[\p{L}\p{N}]\.[\p{L}\p{N}]{2}/u,
];

/** In one spelling; `null` when it may not be a name. */
export function parseSenderName(text: string): string | null {
  const name = text.normalize('NFC').trim().replace(/ +/g, ' ');
  const isName = name.length <= maxSenderName && characters.test(name) && /\p{L}/u.test(name);
  return isName && !refusals.some((refused) => refused.test(name)) ? name : null;
}

/** The account's own name or, on a link of its own share domain, the domain's; `null` for neither. */
export async function senderNameOf(
  store: Pick<DomainStore, 'findVerifiedDomain'>,
  { id, senderName }: Account,
  shareDomain: string,
): Promise<string | null> {
  if (senderName !== null || shareDomain === '') return senderName;
  // A name is not worth an error, and a mail goes out without one.
  const domain = await store.findVerifiedDomain(shareDomain).catch(() => null);
  return domain?.accountId === id ? parseSenderName(domain.brand.name ?? '') : null;
}
