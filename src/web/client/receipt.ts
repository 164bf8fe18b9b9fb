/**
 * Runs on the receipt of a waiting secret: shows the passphrase, polls for the secret's end and for news of its email, and helps send the
 * link. It polls in the background too, so that the tab's icon and title can tell, and polling changes nothing. The page reloads only once
 * the link is dead, and then without it; news of the email replaces only the email's part.
 */
import { beginCopying } from './copying.ts';
import { find } from './dom.ts';
import { showHandedOver, takeHandover } from './handover.ts';
import { beginMessage, beginSharing } from './shown-message.ts';

interface Answer {
  readonly state?: unknown;
  readonly delivery?: { readonly state: string; readonly at: number } | null;
}

const watcher = document.getElementById('watch');

const longestPauseMs = 300_000;
/** Leaves time for the announcement before the page reloads. */
const announcedMs = 2_500;

const begunMs = performance.now();
let failures = 0;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Polls often at first, when most links are opened, then ever more rarely, so that a forgotten tab costs little. */
function pauseMs(): number {
  const ageMs = performance.now() - begunMs;
  const [shortestMs, usualMs] =
    document.visibilityState === 'visible' ? [5_000, 60_000] : [60_000, longestPauseMs];
  const pause = Math.min(Math.max(ageMs / 10, shortestMs), usualMs);
  return Math.min(pause * 2 ** failures, longestPauseMs);
}

function plan(): void {
  clearTimeout(timer);
  timer = setTimeout(ask, pauseMs());
}

async function ask(): Promise<void> {
  try {
    const response = await fetch(watcher?.dataset.state ?? '', { cache: 'no-store' });
    if (!response.ok) throw new Error('not now');
    const { state, delivery } = (await response.json()) as Answer;
    if (typeof state === 'string' && state !== 'new' && state !== 'viewed') return leave(state);
    if (delivery) await renewDelivery(`${delivery.state} ${delivery.at}`);
    failures = 0;
  } catch {
    failures += 1;
  }
  plan();
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
  const fresh = (await load(page())).getElementById('delivery');
  if (fresh === null) throw new Error('not now');
  const renewed = document.importNode(fresh, true);
  shown.replaceWith(renewed);
  announce('mail');
}

/** Lets the browser parse the page: the policy (Trusted Types) forbids turning text into markup. */
function load(address: string): Promise<Document> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.responseType = 'document';
    request.onload = () => {
      if (request.status === 200 && request.responseXML !== null) resolve(request.responseXML);
      else reject(new Error('not now'));
    };
    request.onerror = () => reject(new Error('not now'));
    request.open('GET', address);
    request.send();
  });
}

if (watcher !== null) {
  document.addEventListener('visibilitychange', () => {
    clearTimeout(timer);
    if (document.visibilityState === 'visible') void ask();
    else plan();
  });
  plan();
}

// For end-to-end secrets, `sealed-link.ts` takes the handover.
if (document.getElementById('whole-link') === null) showHandedOver(takeHandover());
beginCopying();
beginMessage();
beginSharing();

const link = find('#link', HTMLTextAreaElement);
link?.addEventListener('click', () => link.select());
