/**
 * What the pages of requests share. Their links' ends stay in this browser; API v2 is called anonymously, with proofs of them. `#notice` has the
 * page's data, and says what stops it.
 */

import type { WireAnswer, WireAnswers } from '../../../sdk/asking.ts';
import { openAsker, openTerms } from '../../../sdk/request.ts';
import { isFragment } from '../../protocol/link.ts';
import { byId, countText } from './dom.ts';

export const notice = byId('notice');
export const { api = '', base = '' } = notice.dataset;
/** Both pages of a link have its key in their address. */
export const key = location.pathname.split('/').at(-1) ?? '';

/** Adds a row to a list, as the template after it has one. */
export function addRow(list: HTMLElement): Element {
  const template = list.parentElement?.querySelector('template');
  const row = template && document.importNode(template.content, true).firstElementChild;
  return list.appendChild(row ?? document.createElement('li'));
}

/** @param name of a text in the page's data; `''` takes the notice away */
export function stop(name: string): void {
  notice.textContent = name === '' ? '' : (notice.dataset[name] ?? notice.dataset.later ?? '');
  notice.hidden = name === '';
}

export function saySending(isNow: boolean): void {
  const place = byId('sending');
  place.replaceChildren(isNow ? (place.dataset.sending ?? '') : '');
}

/** Fills in an element's `data-text`. */
export function fill(place: Element | null, given: Readonly<Record<string, string>>): void {
  const { text = '' } = place instanceof HTMLElement ? place.dataset : {};
  place?.replaceChildren(text.replace(/\{(\w+)\}/g, (_, name: string) => given[name] ?? ''));
}

export const dateText = (unixSeconds: number, style: Intl.DateTimeFormatOptions): string =>
  new Date(unixSeconds * 1_000).toLocaleString(document.documentElement.lang, style);
export const moment = { dateStyle: 'medium', timeStyle: 'short' } as const;

/** A refusal's code, or `unreachable` without an answer of the API. */
export async function call<Said>(path: string, body: object): Promise<{ said: Said } | { error: string }> {
  const headers = { 'content-type': 'application/json' };
  const rules = { credentials: 'omit', cache: 'no-store', redirect: 'error' } as const;
  try {
    const sent = { method: 'POST', headers, body: JSON.stringify(body), ...rules };
    const response = await fetch(`${api}${path}`, sent);
    const said = (await response.json()) as Said & { readonly error?: unknown };
    return response.ok ? { said } : { error: String(said.error) };
  } catch {
    return { error: 'unreachable' };
  }
}

/** Whether this browser can encrypt for a request, and open its answers. */
export async function knowsX25519(): Promise<boolean> {
  if (!isSecureContext) return false;
  return crypto.subtle.generateKey({ name: 'X25519' }, false, ['deriveBits']).then(Boolean, () => false);
}

/** What the asker sees. All of it is the server's word; only the question and the answers prove themselves. */
export type Asked = WireAnswers & {
  readonly record: Readonly<Record<'lifespan' | 'answer_ttl', number> & Record<'share_domain', string>>;
};

export const isUnread = ({ state, discarded }: WireAnswer): boolean => state === 'new' && !discarded;

/** @param end of the answers link. The prompt is `null` if the server changed it. */
export async function askAbout(key: string, end: string) {
  const asker = await openAsker(end);
  const asked = await call<Asked>(`/request/${key}/answers`, { owner: asker.ownerProof });
  if ('error' in asked) return asked;
  const prompt = await openTerms(asked.said.record.terms, asker.publicKey).catch(() => null);
  return { asker, prompt, said: asked.said };
}

/** @param place has the texts of all states */
export function stateText({ dataset }: HTMLElement, { record }: Asked, unread: number): string {
  if (unread > 0) return countText(dataset.ready, unread);
  return dataset[record.state] ?? '';
}

type Remembered = Readonly<{ end: string; untilMs: number }>;
const entryName = 'mayfly-requests';

/**
 * Requests that this device remembers because its owner ticked a box: the ends of their answers links, in one entry of local storage, until
 * the answers have ended. Whoever uses this browser can open them.
 */
export function remembered(): Readonly<Record<string, Remembered>> {
  try {
    const kept: Record<string, Remembered> = JSON.parse(localStorage.getItem(entryName) ?? '{}');
    const isKept = ({ end, untilMs }: Remembered) => isFragment(end) && untilMs > Date.now();
    return Object.fromEntries(Object.entries(kept).filter(([, entry]) => isKept(entry)));
  } catch {
    return {};
  }
}

/** @param entry absent: forgets it */
export function remember(key: string, entry?: Remembered): void {
  const { [key]: _, ...others } = remembered();
  const entries = entry === undefined ? others : { ...others, [key]: entry };
  try {
    if (Object.keys(entries).length === 0) localStorage.removeItem(entryName);
    else localStorage.setItem(entryName, JSON.stringify(entries));
  } catch {
    // This browser stores nothing, and the box stays unticked.
  }
}
