/**
 * Horizontal bars as SVG.
 *
 * Every bar starts at zero and has its number. Text uses the reader's colours, so that it is legible on light and dark pages.
 */
import { formatNumber } from './figures.ts';

export interface Bar {
  readonly label: string;
  readonly value: number;
  /** `yardstick` bars are what the others are compared with. */
  readonly tone: 'service' | 'yardstick';
}

export interface Panel {
  readonly title: string;
  readonly digits: number;
  readonly bars: readonly Bar[];
}

const width = 760;
const labelWidth = 270;
const barMaxWidth = 390;
const rowHeight = 26;
const titleHeight = 40;

const escapeText = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

function drawBar({ label, value, tone }: Bar, top: number, scale: number, digits: number): string {
  const length = Math.max(1, Math.round(value * scale));
  const middle = top + rowHeight / 2;
  return [
    `<text x="${labelWidth - 10}" y="${middle}" text-anchor="end">${escapeText(label)}</text>`,
    `<rect class="${tone}" x="${labelWidth}" y="${top + 4}" width="${length}" height="${rowHeight - 8}" rx="3"/>`,
    `<text x="${labelWidth + length + 8}" y="${middle}">${formatNumber(value, digits)}</text>`,
  ].join('\n  ');
}

function drawPanel({ title, digits, bars }: Panel, top: number): string[] {
  const largest = Math.max(...bars.map(({ value }) => value));
  const scale = barMaxWidth / largest;
  const rows = bars.map((bar, index) => drawBar(bar, top + titleHeight + index * rowHeight, scale, digits));
  return [`<text class="title" x="0" y="${top + 22}">${escapeText(title)}</text>`, ...rows];
}

const style = `text { font: 13px system-ui, sans-serif; fill: #333; dominant-baseline: central }
    .title { font-weight: 600; font-size: 15px }
    .service { fill: #2f7d6b } .yardstick { fill: #b3b8bd }
    @media (prefers-color-scheme: dark) { text { fill: #ddd } .service { fill: #58b79f } .yardstick { fill: #6b7278 } }`;

/** @param description read out in place of the picture. */
export function drawBars(description: string, panels: readonly Panel[]): string {
  let top = 0;
  const parts: string[] = [];
  for (const panel of panels) {
    parts.push(...drawPanel(panel, top));
    top += titleHeight + panel.bars.length * rowHeight + 16;
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${top}" role="img" aria-label="${escapeText(description).replaceAll('"', '&quot;')}">
  <style>
    ${style}
  </style>
  ${parts.join('\n  ')}
</svg>
`;
}
