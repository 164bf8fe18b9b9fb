/**
 * The receipt of a secret that was just sealed in this browser: the whole link, once. What opens the secret comes in this page's
 * own address, which browsers do not send, and is taken out of it before anything is shown; a reload does not have it any more.
 */
import { readHandover } from './handover.ts';
import { qrPath, quietModules } from './qr-path.ts';

const sheet = document.getElementById('whole-link');
const { fragment } = readHandover(location.hash);

function field(id: string): HTMLTextAreaElement | null {
  const found = document.getElementById(id);
  return found instanceof HTMLTextAreaElement ? found : null;
}

function fillMessage(link: string): void {
  const message = field('message');
  const mail = document.getElementById('mailto');
  if (message === null || !(mail instanceof HTMLAnchorElement)) return;
  const { before = '', after = '' } = message.dataset;
  message.value = `${before}\n\n${link}\n\n${after}`;
  const parts = { subject: mail.dataset.subject ?? '', body: message.value.replaceAll('\n', '\r\n') };
  const query = Object.entries(parts).map(([name, text]) => `${name}=${encodeURIComponent(text)}`);
  mail.href = `mailto:?${query.join('&')}`;
}

function draw(link: string): void {
  const svg = document.getElementById('qr');
  const { path, modules } = qrPath(link);
  const side = modules + 2 * quietModules;
  svg?.setAttribute('viewBox', `${-quietModules} ${-quietModules} ${side} ${side}`);
  for (const length of ['width', 'height']) svg?.querySelector('rect')?.setAttribute(length, String(side));
  svg?.querySelector('path')?.setAttribute('d', path);
}

let isHandedOver = false;

/** Leaving before the link has gone anywhere would lose it, so that asks first; not once the secret itself is gone. */
function guard(shown: HTMLElement): void {
  shown.addEventListener('click', ({ target }) => {
    const pressed =
      target instanceof Element ? target.closest('button, a, details:has(#qr) > summary') : null;
    isHandedOver ||= pressed !== null;
  });
  shown.addEventListener('copy', () => {
    isHandedOver = true;
  });
  window.addEventListener('beforeunload', (event) => {
    const news = document.querySelector('#watch [role="status"]')?.textContent ?? '';
    if (!isHandedOver && news === '') event.preventDefault();
  });
}

/** Nothing of it stays where the page may be shown again from. */
function forget(): void {
  for (const id of ['link', 'message']) {
    const shown = field(id);
    if (shown !== null) shown.value = '';
  }
  document.getElementById('mailto')?.setAttribute('href', 'mailto:');
  document.querySelector('#qr path')?.removeAttribute('d');
}

if (fragment !== null) {
  history.replaceState(history.state, '', location.pathname + location.search);
  const link = `${sheet?.dataset.link ?? ''}#${fragment}`;
  const shown = field('link');
  if (sheet !== null && shown !== null) {
    shown.value = link;
    fillMessage(link);
    draw(link);
    guard(sheet);
    sheet.hidden = false;
    document.getElementById('link-gone')?.remove();
    window.addEventListener('pagehide', forget);
    window.addEventListener('pageshow', ({ persisted }) => {
      if (persisted) location.reload();
    });
  }
}
