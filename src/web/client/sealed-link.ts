/** The receipt of a secret that this browser just sealed: offers the link until it has been copied, shared or shown as a QR code. */
import { find } from './dom.ts';
import { keepLinks, onLeaving, showHandedOver, takeHandover } from './handover.ts';
import { drawQr } from './qr-path.ts';
import { showMessage } from './shown-message.ts';

const sheet = document.getElementById('whole-link');
const shown = find('#link', HTMLTextAreaElement);
const handover = takeHandover();
const [link] = handover.links;

if (link !== undefined && sheet !== null && shown !== null) {
  shown.value = link;
  showMessage();
  drawQr(link);
  keepLinks(handover, (at, { type }) => {
    const place = type === 'copy' ? sheet : at.closest('button, a, details:has(#qr) > summary');
    return sheet.contains(at) && sheet.contains(place) ? [0] : [];
  });
  sheet.hidden = false;
  document.getElementById('link-gone')?.remove();
  onLeaving(() => {
    shown.value = '';
    showMessage();
    document.querySelector('#qr path')?.removeAttribute('d');
  });
}
showHandedOver(handover);
