/**
 * Runs on the receipt of a waiting secret: shows the passphrase, polls for the secret's end and for news of its email, and helps send the
 * link. It polls only while visible, and polling changes nothing. The page reloads only once the link is dead, and then without it; news of
 * the email replaces only the email's part.
 */
import { find } from './dom.ts';
import { showPassphrase, takeHandover } from './handover.ts';
import { beginMessage, beginSharing } from './shown-message.ts';

interface Answer {
  readonly state?: unknown;
  readonly delivery?: { readonly state: string; readonly at: number } | null;
}

const watcher = document.getElementById('watch');

/** Polls often at first, when most links are opened, and rarely later, so that a forgotten tab costs little. */
const paces = [
  { untilMs: 60_000, everyMs: 5_000 },
  { untilMs: 600_000, everyMs: 15_000 },
  { untilMs: Number.POSITIVE_INFINITY, everyMs: 60_000 },
] as const;
const longestPauseMs = 300_000;
/** Leaves time for the announcement before the page reloads. */
const announcedMs = 2_500;

const begunMs = performance.now();
let failures = 0;
let timer: ReturnType<typeof setTimeout> | undefined;

function pauseMs(): number {
  const age = performance.now() - begunMs;
  const { everyMs } = paces.find(({ untilMs }) => age < untilMs) ?? paces[2];
  return Math.min(everyMs * 2 ** failures, longestPauseMs);
}

function plan(): void {
  clearTimeout(timer);
  if (document.visibilityState === 'visible') timer = setTimeout(ask, pauseMs());
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
  const hint = document.querySelector<HTMLElement>('[data-hint]');
  if (hint !== null) hint.hidden = false;
  document.addEventListener('visibilitychange', () => {
    clearTimeout(timer);
    if (document.visibilityState === 'visible') void ask();
  });
  plan();
}

// For end-to-end secrets, `sealed-link.ts` takes the handover.
if (document.getElementById('whole-link') === null) showPassphrase(takeHandover().passphrase);
beginMessage();
beginSharing();

const link = find('#link', HTMLTextAreaElement);
link?.addEventListener('click', () => link.select());
