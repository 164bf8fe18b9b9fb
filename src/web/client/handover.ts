/**
 * What the share form hands to the receipt in the page's own address, after `#`, which browsers do not send: the half of the link
 * that only this browser knows, and the passphrase, to be shown once. The receipt takes both out of the address at once.
 */
import { fromBase64Url, toBase64Url } from '../../../sdk/base64url.ts';
import { isFragment } from '../../../sdk/sealing.ts';

export interface Handover {
  /** The half of the link after its `#`; `null` if the server encrypted. */
  readonly fragment: string | null;
  /** `null` without one. */
  readonly passphrase: string | null;
}

const nothing: Handover = { fragment: null, passphrase: null };

/** `F`, `F.P` or `.P`, without `#`: F is the fragment, P the passphrase in UTF-8 as base64url. `''` if there is nothing to hand over. */
export function toHandover({ fragment, passphrase }: Handover): string {
  const half = fragment ?? '';
  return passphrase === null ? half : `${half}.${toBase64Url(new TextEncoder().encode(passphrase))}`;
}

/** @param hash as in `location.hash`. A damaged passphrase does not take the link's half with it. */
export function readHandover(hash: string): Handover {
  const [half = '', coded = '', ...rest] = hash.replace(/^#/, '').split('.');
  const isOurs = (half === '' || isFragment(half)) && rest.length === 0;
  return isOurs ? { fragment: half || null, passphrase: textOf(coded) } : nothing;
}

/** `null` unless it is UTF-8, as base64url. */
function textOf(coded: string): string | null {
  const bytes = fromBase64Url(coded);
  if (bytes === null || bytes.length === 0) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
