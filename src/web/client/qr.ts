/** Draws the page's link as a QR code. A page that does not need it at once loads this when it does. */
import { find } from './dom.ts';
import { drawQr } from './qr-path.ts';

drawQr(find('#link', HTMLTextAreaElement)?.value ?? '');
