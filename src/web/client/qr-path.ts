/** QR codes as SVG paths, for pages and for the script that knows a whole link. */
import { encodeQR } from 'qr';

export const quietModules = 4;

/** Draws the dark modules (ISO/IEC 18004) as horizontal bars, one module high, starting at 0, 0 in the top left. */
export function qrPath(text: string): { readonly path: string; readonly modules: number } {
  const drawn = encodeQR(text, 'raw', { ecc: 'medium', border: 1 });
  const rows = drawn.slice(1, -1).map((row) => row.slice(1, -1));
  const bars = rows.flatMap((row, y) =>
    runsIn(row).map(({ from, length }) => `M${from} ${y}h${length}v1h-${length}z`),
  );
  return { path: bars.join(''), modules: rows.length };
}

function runsIn(row: readonly boolean[]): { from: number; length: number }[] {
  const runs: { from: number; length: number }[] = [];
  row.forEach((isDark, x) => {
    const last = runs.at(-1);
    if (!isDark) return;
    if (last !== undefined && last.from + last.length === x) last.length += 1;
    else runs.push({ from: x, length: 1 });
  });
  return runs;
}
