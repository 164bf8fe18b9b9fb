/**
 * The name that recipients read in place of the sender's address, in pages and mails.
 *
 * Whoever may choose it could pretend to be somebody else. So it is a short line of letters: what could be taken for an address, a link
 * or a telephone number, what is invisible, and what changes a mail's headers (P26) is not in it, and the address is always said with it.
 */
import type { Account } from '../account.ts';
import type { DomainStore } from '../ports.ts';

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

/** The account's own name, else that of the share domain whose link it is, if the domain is the account's; `null` for neither. */
export async function senderNameOf(
  store: Pick<DomainStore, 'findVerifiedDomain'>,
  { id, senderName }: Account,
  shareDomain: string,
): Promise<string | null> {
  if (senderName !== null || shareDomain === '') return senderName;
  const domain = await store.findVerifiedDomain(shareDomain);
  return domain?.accountId === id ? parseSenderName(domain.brand.name ?? '') : null;
}
