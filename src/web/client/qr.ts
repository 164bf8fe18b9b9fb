/** Draws the page's link as a QR code. Pages load this once the code is wanted. */
import { find } from './dom.ts';
import { drawQr } from './qr-path.ts';

drawQr(find('#link', HTMLTextAreaElement)?.value ?? '');
