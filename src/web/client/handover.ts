/**
 * What the share form hands to the receipt: the half of the link that only this browser knows, and the passphrase, to be shown once. It
 * goes with the receipt's entry in the history of this tab (`history.state`, HTML §7.4), so it is in no address, no list of visited
 * pages and no request. The receipt takes it out at once, or an end-to-end link's once it has been copied, shared or shown as QR code:
 * phones drop a tab while its owner looks up whom to send it to.
 */
import { isFragment } from '../../protocol/link.ts';

export interface Handover {
  /** The half of the link after its `#`; `null` if the server encrypted. */
  readonly fragment: string | null;
  /** The link's other half, once the receipt has shown it: the server does so only once. */
  readonly link?: string;
  /** `null` without one. */
  readonly passphrase: string | null;
}

/**
 * To the page at this address of the same site, which takes this page's place: browsers take two entries that a script made of one page
 * for the same page for ever, so a way back would change the address alone.
 */
export function handOver(handover: Handover, address: string): void {
  history.replaceState({ handover }, '', address);
  reloadAtTop();
}

/** Where another page takes this one's place: the browser would show it scrolled as far as this one is. */
export function reloadAtTop(): void {
  history.scrollRestoration = 'manual';
  location.reload();
}

/** @param state as in `history.state`. What is damaged does not take the rest with it. */
export function readHandover(state: unknown): Handover {
  const { handover } = Object(state) as { readonly handover?: unknown };
  const { fragment, passphrase, link } = Object(handover) as { readonly [Key in keyof Handover]?: unknown };
  return {
    ...(typeof link === 'string' ? { link } : {}),
    fragment: typeof fragment === 'string' && isFragment(fragment) ? fragment : null,
    passphrase: typeof passphrase === 'string' && passphrase !== '' ? passphrase : null,
  };
}
