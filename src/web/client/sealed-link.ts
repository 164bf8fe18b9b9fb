/** The receipt of a secret that this browser just sealed: offers the whole link until it has been copied, shared or shown as a QR code. */
import { find } from './dom.ts';
import { type Handover, onLeaving, showHandedOver, takeHandover } from './handover.ts';
import { drawQr } from './qr-path.ts';
import { showMessage } from './shown-message.ts';

const sheet = document.getElementById('whole-link');

const handover = takeHandover();
let isHandedOver = handover.isCopied === true;

function endHandover(): void {
  isHandedOver = true;
  history.replaceState(null, '');
}

/** Asks for confirmation if leaving would lose the link, unless the secret is gone. A discarded tab is not left. */
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
    if (isHandedOver) endHandover();
    else if (news === '') event.preventDefault();
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

const { fragment, link = sheet?.dataset.link } = handover;
const shown = find('#link', HTMLTextAreaElement);
if (fragment !== null && link !== undefined && sheet !== null && shown !== null) {
  history.replaceState({ handover: { ...handover, link } satisfies Handover }, '');
  shown.value = `${link}#${fragment}`;
  showMessage();
  drawQr(shown.value);
  guard(sheet);
  sheet.hidden = false;
  document.getElementById('link-gone')?.remove();
  onLeaving(forget);
}
showHandedOver(handover);
