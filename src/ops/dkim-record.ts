/**
 * Whether the DNS says the same key that mail is signed with.
 *
 * Owns: the reading of a DKIM key record (RFC 6376 §3.6.1). Invariant: only the public half of the key is compared, shown
 * or looked up.
 */
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import type { Sensitive } from '../core/sensitive.ts';
import type { Resolver } from '../core/share-domains/check.ts';

export type DkimComparison =
  | { readonly outcome: 'fits' }
  /** `record` is the text that belongs there. */
  | { readonly outcome: 'missing' | 'differs'; readonly record: string }
  /** The DNS gave no usable answer. */
  | { readonly outcome: 'unknown' }
  /** The private key is none that mail could be signed with. */
  | { readonly outcome: 'no_key' };

/** @param name `SELECTOR._domainkey.DOMAIN` */
export async function compareDkimRecord(
  name: string,
  privateKey: Sensitive<string>,
  resolver: Pick<Resolver, 'txt'>,
): Promise<DkimComparison> {
  const key = publicHalf(privateKey);
  if (key === null) return { outcome: 'no_key' };
  const answer = await resolver.txt(name);
  if (answer.outcome === 'failed') return { outcome: 'unknown' };
  const own = key.export({ type: 'spki', format: 'der' }).toString('base64');
  const record = `v=DKIM1; k=rsa; p=${own}`;
  const published =
    answer.outcome === 'found' ? answer.values.map(keyIn).filter((text) => text !== null) : [];
  if (published.length === 0) return { outcome: 'missing', record };
  // Some publish the bare key of PKCS #1, as RFC 6376 has it, instead of the common form around it.
  const forms = [own, key.export({ type: 'pkcs1', format: 'der' }).toString('base64')];
  return published.some((text) => forms.includes(text))
    ? { outcome: 'fits' }
    : { outcome: 'differs', record };
}

function publicHalf(privateKey: Sensitive<string>): KeyObject | null {
  try {
    const key = createPublicKey(createPrivateKey(privateKey.expose()));
    return key.asymmetricKeyType === 'rsa' ? key : null;
  } catch {
    return null;
  }
}

/** The tag `p` of a record: base64, in which blanks mean nothing. `null` where there is none. */
function keyIn(record: string): string | null {
  const tag = /(?:^|;)\s*p\s*=([^;]*)/.exec(record)?.[1];
  return tag === undefined ? null : tag.replace(/\s+/g, '');
}
