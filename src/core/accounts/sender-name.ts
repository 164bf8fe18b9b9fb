/**
 * The sender's name that recipients see on pages and in emails. A chosen name can imitate somebody else. So it is one short line of letters
 * that cannot pass for an address, a link or a telephone number, contains nothing invisible and nothing that changes an email's headers
 * (P26), and is always shown with the address.
 */
import type { Account } from '../account.ts';
import type { DomainStore } from '../ports/domains.ts';

export const maxSenderName = 40;

/** Letters of any script. `refusals` excludes invisible letters, and enough digits for a telephone number. */
const characters = /^[\p{L}\p{M}\p{N} .,'’&()+·・-]+$/u;
const refusals = [
  /\p{Default_Ignorable_Code_Point}/u,
  /\p{M}{4}/u,
  /(?:\p{N}\P{N}*){6}/u,
  /[\p{L}\p{N}]\.[\p{L}\p{N}]{2}/u,
];

/** Returns the normalised name, or `null` if the name is not allowed. */
export function parseSenderName(text: string): string | null {
  const name = text.normalize('NFC').trim().replace(/ +/g, ' ');
  const isName = name.length <= maxSenderName && characters.test(name) && /\p{L}/u.test(name);
  return isName && !refusals.some((refused) => refused.test(name)) ? name : null;
}

/** Returns the account's own name or, on links of its share domain, that domain's name. */
export async function senderNameOf(
  store: Pick<DomainStore, 'findVerifiedDomain'>,
  { id, senderName }: Account,
  shareDomain: string,
): Promise<string | null> {
  if (senderName !== null || shareDomain === '') return senderName;
  // A failed read is not worth an error: the email can go out without a name.
  const domain = await store.findVerifiedDomain(shareDomain).catch(() => null);
  return domain?.accountId === id ? parseSenderName(domain.brand.name ?? '') : null;
}
