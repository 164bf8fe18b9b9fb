/** The receipt of a secret that this browser just sealed: offers the whole link until it has been copied, shared or shown as a QR code. */
import { find } from './dom.ts';
import { type Handover, onLeaving, showPassphrase, takeHandover } from './handover.ts';
import { qrPath, quietModules } from './qr-path.ts';
import { showMessage } from './shown-message.ts';

const sheet = document.getElementById('whole-link');

function draw(link: string): void {
  const svg = document.getElementById('qr');
  const { path, modules } = qrPath(link);
  const side = modules + 2 * quietModules;
  svg?.setAttribute('viewBox', `${-quietModules} ${-quietModules} ${side} ${side}`);
  for (const length of ['width', 'height']) svg?.querySelector('rect')?.setAttribute(length, String(side));
  svg?.querySelector('path')?.setAttribute('d', path);
}

let isHandedOver = false;

function endHandover(): void {
  isHandedOver = true;
  history.replaceState(null, '');
}

/** Asks for confirmation if leaving would lose the link, unless the secret is gone. */
function guard(shown: HTMLElement): void {
  shown.addEventListener('click', ({ target }) => {
    const pressed =
      target instanceof Element ? target.closest('button, a, details:has(#qr) > summary') : null;
    if (pressed !== null && pressed.closest('#passphrase-chip') === null) endHandover();
  });
  shown.addEventListener('copy', ({ target }) => {
    if (!(target instanceof Element && target.closest('#passphrase-chip') !== null)) endHandover();
  });
  window.addEventListener('beforeunload', (event) => {
    const news = document.querySelector('#watch [role="status"]')?.textContent ?? '';
    if (!isHandedOver && news === '') event.preventDefault();
  });
}

function forget(): void {
  for (const id of ['#link', '#message']) {
    const shown = find(id, HTMLTextAreaElement);
    if (shown !== null) shown.value = '';
  }
  document.getElementById('mailto')?.setAttribute('href', 'mailto:');
  document.querySelector('#qr path')?.removeAttribute('d');
}

const { fragment, passphrase, link = sheet?.dataset.link } = takeHandover();
const shown = find('#link', HTMLTextAreaElement);
if (fragment !== null && link !== undefined && sheet !== null && shown !== null) {
  history.replaceState({ handover: { fragment, passphrase, link } satisfies Handover }, '');
  shown.value = `${link}#${fragment}`;
  showMessage();
  draw(shown.value);
  guard(sheet);
  sheet.hidden = false;
  document.getElementById('link-gone')?.remove();
  onLeaving(forget);
}
showPassphrase(passphrase);
