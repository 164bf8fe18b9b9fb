/**
 * What a camera would read from a page's QR code.
 */
import decodeQR from 'qr/decode.js';

const pixelsPerModule = 4;

/**
 * Draws the code in the markup as the browser does: dark bars on light, with its quiet zone, and nothing where the
 * mark is. Throws when it is unreadable.
 */
export function decodeQr(html: string): string {
  const [, left = '', top = '', side = ''] =
    /class="qr"[^>]*viewBox="(-?\d+) (-?\d+) (\d+) \d+"/.exec(html) ?? [];
  const width = Number(side) * pixelsPerModule;
  const data = new Uint8ClampedArray(width * width * 4).fill(255);
  for (const [, x, y, length] of html.matchAll(/M(\d+) (\d+)h(\d+)v1h-\d+z/g)) {
    const fromX = (Number(x) - Number(left)) * pixelsPerModule;
    const fromY = (Number(y) - Number(top)) * pixelsPerModule;
    paint(data, width, { fromX, fromY, length: Number(length) * pixelsPerModule });
  }
  const [, from = '', part = ''] = /class="qr-mark" x="(\d+)%"[^>]* width="(\d+)%"/.exec(html) ?? [];
  const px = (percent: string) => Math.round((Number(percent) * width) / 100);
  for (let y = px(from); y < px(from) + px(part); y += 1)
    data.fill(255, (y * width + px(from)) * 4, (y * width + px(from) + px(part)) * 4);
  return decodeQR({ width, height: width, data });
}

function paint(
  data: Uint8ClampedArray,
  width: number,
  { fromX, fromY, length }: { fromX: number; fromY: number; length: number },
): void {
  for (let y = fromY; y < fromY + pixelsPerModule; y += 1) {
    for (let x = fromX; x < fromX + length; x += 1)
      data.fill(0, (y * width + x) * 4, (y * width + x) * 4 + 3);
  }
}
