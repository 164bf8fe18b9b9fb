/**
 * Runs on the receipt of a waiting secret: shows the passphrase, polls for the secret's end and for news of its email, and helps send the
 * link. It polls in the background too, so that the tab's icon and title can tell, and polling changes nothing. The page reloads only once
 * the link is dead, and then without it; news of the email replaces only the email's part.
 */
import { beginCopying } from './copying.ts';
import { find, load } from './dom.ts';
import { showHandedOver, takeHandover } from './handover.ts';
import { keepAsking } from './pace.ts';
import { beginMessage, beginSharing } from './shown-message.ts';

interface Answer {
  readonly state?: unknown;
  readonly delivery?: { readonly state: string; readonly at: number } | null;
}

const watcher = document.getElementById('watch');

/** Leaves time for the announcement before the page reloads. */
const announcedMs = 2_500;

async function ask(): Promise<boolean> {
  const response = await fetch(watcher?.dataset.state ?? '', { cache: 'no-store' });
  if (!response.ok) throw new Error('not now');
  const { state, delivery } = (await response.json()) as Answer;
  if (typeof state === 'string' && state !== 'new' && state !== 'viewed') {
    leave(state);
    return false;
  }
  if (delivery) await renewDelivery(`${delivery.state} ${delivery.at}`);
  return true;
}

function announce(what: string): void {
  const said = watcher?.querySelector('[role="status"]');
  if (said instanceof HTMLElement) said.textContent = said.dataset[what] ?? '';
}

function page(): string {
  return watcher?.dataset.page ?? location.pathname;
}

function leave(state: string): void {
  announce(state);
  setTimeout(() => location.replace(page()), announcedMs);
}

async function renewDelivery(record: string): Promise<void> {
  const shown = document.getElementById('delivery');
  if (shown === null || shown.dataset.seen === record) return;
  const { status, responseXML } = await load(page());
  const fresh = status === 200 ? responseXML?.getElementById('delivery') : null;
  if (!fresh) throw new Error('not now');
  const renewed = document.importNode(fresh, true);
  shown.replaceWith(renewed);
  announce('mail');
}

if (watcher !== null) keepAsking(ask);

// For end-to-end secrets, `sealed-link.ts` takes the handover.
if (document.getElementById('whole-link') === null) showHandedOver(takeHandover());
beginCopying();
beginMessage();
beginSharing();

const link = find('#link', HTMLTextAreaElement);
link?.addEventListener('click', () => link.select());
