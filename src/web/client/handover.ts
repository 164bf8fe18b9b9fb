/**
 * The share form hands to the receipt, which shows them once: the links that only this browser knows, and the passphrase. They travel in the
 * receipt's history entry in this tab (`history.state`, HTML §7.4), so no address, list of visited pages or request contains them. The
 * receipt removes them when it loads, and keeps links until a press has copied, saved, shared or shown each, because a phone may discard the
 * tab while its owner looks up the recipient; if the form has copied the link, until the page is left, which a discarded one is not.
 */

import { byId, hide } from './dom.ts';

export interface Handover {
  /** Whole links, in the order of their receipts; none if the server encrypted. */
  readonly links: readonly string[];
  readonly passphrase: string | null;
  /** The press that created the link has also copied it. */
  readonly isCopied: boolean;
}

/**
 * Replaces this page with the receipt. It adds no second history entry: browsers treat entries that a script adds as the same page, so
 * going back would only change the address.
 */
export function handOver(handover: Handover, address: string): void {
  history.replaceState({ handover }, '', address);
  reloadAtTop();
}

/** Reloads from the top: the browser would otherwise restore the scroll position. */
export function reloadAtTop(): void {
  history.scrollRestoration = 'manual';
  location.reload();
}

/** @param state as in `history.state` */
export function readHandover(state: unknown): Handover {
  const { handover } = Object(state) as { readonly handover?: unknown };
  const { links, passphrase, isCopied } = Object(handover) as { readonly [Key in keyof Handover]?: unknown };
  return {
    links: Array.isArray(links) ? links.map(String) : [],
    passphrase: typeof passphrase === 'string' && passphrase !== '' ? passphrase : null,
    isCopied: isCopied === true,
  };
}

/** Reads the handover, and removes it from the history before anything is shown. */
export function takeHandover(): Handover {
  const handover = readHandover(history.state);
  if (history.state === null) return handover;
  history.replaceState(null, '');
  const heading = document.querySelector('h1');
  if (heading !== null) heading.tabIndex = -1;
  heading?.focus();
  // Undoes `reloadAtTop`, so that the next reload restores the reader's place. Undoing it now would scroll this page.
  window.addEventListener('pagehide', () => {
    history.scrollRestoration = 'auto';
  });
  return handover;
}

/** Calls `forget` when the reader leaves the page, and reloads the page if the back/forward cache restores it. */
export function onLeaving(forget: () => void): void {
  window.addEventListener('pagehide', forget);
  window.addEventListener('pageshow', ({ persisted }) => {
    if (persisted) location.reload();
  });
}

/**
 * Keeps links in the tab until all are handed over, and asks for confirmation if leaving would lose one, unless the secret is gone. A
 * discarded tab is not left. @param handedOver which links an event hands over, by their place
 */
export function keepLinks(
  handover: Handover,
  handedOver: (at: Element, event: Event) => Iterable<number>,
): void {
  const left = new Set(handover.isCopied ? [] : handover.links.keys());
  history.replaceState({ handover }, '');
  const end = () => history.replaceState(null, '');
  const take = (event: Event) => {
    const places = event.target instanceof Element ? [...handedOver(event.target, event)] : [];
    for (const place of places) left.delete(place);
    if (places.length > 0 && left.size === 0) end();
  };
  document.addEventListener('click', take);
  document.addEventListener('copy', take);
  window.addEventListener('beforeunload', (event) => {
    const news = document.querySelector('#watch [role="status"]')?.textContent ?? '';
    if (left.size === 0) end();
    else if (news === '') event.preventDefault();
  });
}

export function showHandedOver({ passphrase, isCopied }: Handover): void {
  if (isCopied) showCopied();
  if (passphrase === null) return;
  const value = byId('passphrase-value');
  value.textContent = passphrase;
  hide('passphrase-chip', false);
  byId('passphrase-reminder').remove();
  onLeaving(() => {
    value.textContent = '';
  });
}

/** Says that the link is copied already; the button copies it again. */
function showCopied(): void {
  const [said, hint] = [byId('link-copied'), byId('link-hint')];
  said.textContent = said.dataset.said ?? '';
  document.querySelector('label[for="link"]')?.classList.add('visually-hidden');
  hint.replaceChildren(hint.dataset.copied ?? hint.textContent);
}
