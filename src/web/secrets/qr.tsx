/**
 * A link as a QR code (ISO/IEC 18004).
 *
 * Owns: the drawing. Invariants: it is made here, as one path, and loads nothing; it is dark on light in every colour
 * scheme, with the four modules of quiet zone that readers need.
 */
import type { FC } from 'hono/jsx';
import { encodeQR } from 'qr';

const quietModules = 4;

/** The dark modules of a code, row by row: runs of them as bars one module high. Top left is 0, 0. */
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

/** @param label what it is, for whoever does not see it */
export const QrCode: FC<{ text: string; label: string }> = ({ text, label }) => {
  const { path, modules } = qrPath(text);
  const side = modules + 2 * quietModules;
  return (
    <svg
      class="qr"
      role="img"
      aria-label={label}
      viewBox={`${-quietModules} ${-quietModules} ${side} ${side}`}
      shape-rendering="crispEdges"
    >
      <rect x={-quietModules} y={-quietModules} width={side} height={side} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
};
