/** QR codes as SVG paths, for pages and for the script that knows a whole link. */
import { encodeQR } from 'qr';

/**
 * Draws the dark modules (ISO/IEC 18004) as horizontal bars, one module high, with the quiet zone that scanners need. A quarter of the code
 * may be unreadable, so that it can be read with the mark in its middle.
 */
export function qrPath(text: string): { readonly path: string; readonly viewBox: string } {
  const rows = encodeQR(text, 'raw', { ecc: 'quartile', border: 4 });
  const bars = rows.flatMap((row, y) =>
    Array.from(row.map(Number).join('').matchAll(/1+/g), ({ 0: { length }, index }) => {
      return `M${index} ${y}h${length}v1h-${length}z`;
    }),
  );
  return { path: bars.join(''), viewBox: `0 0 ${rows.length} ${rows.length}` };
}

/** Draws a link into the page's code. */
export function drawQr(link: string): void {
  const svg = document.getElementById('qr');
  const { path, viewBox } = qrPath(link);
  svg?.setAttribute('viewBox', viewBox);
  svg?.querySelector('path')?.setAttribute('d', path);
}
