/**
 * The product's own mark: a mayfly with two upright wings, one long body and three tails, in the colours of leaf and sun.
 * Drawn on a grid of 24; small pictures leave out the veins and a tail.
 */
import type { FC } from 'hono/jsx';

const back = 'M8.6 15.2C4 12 2.6 6.5 3.9 1.6 6 2 7.6 3.2 8.4 4.5 7 8 7 11.5 8.6 15.2Z';
const front = 'M9.4 15.6C7.5 10 8.6 4.2 13.4.2 17.6 5 17 12.4 9.4 15.6Z';
const veins = 'M9.8 14C10.3 10.4 11.4 7.2 13.1 4.2M10.6 13.6C12.6 11.8 13.9 9.6 14.5 7';
const body =
  'M2.6 15.4a1.5 1.5 0 0 1 2.7-.8c1.8 0 3.3.4 4.8 1.1 3.4.8 6.1-.8 8.3-4.2-1.1 4.3-4.9 6.9-9.4 5.9-2.5 0-5.3-.4-6.4-2Z';
const tails =
  'M18.4 11.5C19.2 9.3 19.7 6.7 19.7 3.7M18.4 11.5C19.6 9.3 21 7.5 22.8 6.2M18.4 11.5C19.9 10.3 21.6 9.8 23.4 10';
const twoTails = 'M18.4 11.5C19.2 9.3 20 7 20.2 4.2M18.4 11.5C19.9 10.3 21.6 9.8 23.4 9.6';

/** For an SVG of its own: 23 wide and 19 high. */
export const Mark: FC<{ transform?: string }> = (attributes) => (
  <g class="mark" {...attributes}>
    <path class="sunlit" d={back} />
    <path d={front + body} />
    <path class="line" d={tails} />
  </g>
);

export const OwnLogo: FC = () => (
  <svg viewBox="1.5 -.5 23 19" aria-hidden="true">
    <Mark />
  </svg>
);

const lines = 'fill="none" stroke-linejoin="round" stroke-linecap="round"';

/** Seen on light and on dark tabs, so its colours are between both. */
export const iconSvg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="1 -2.5 24 24"><path fill="#d9952b" d="${back}"/><path fill="#2f8a73" d="${front}"/><path fill="#2f8a73" stroke="#2f8a73" stroke-width=".9" d="${body}"/><path ${lines} stroke="#2f8a73" stroke-width="1.6" d="${twoTails}"/></svg>`;

/** Fills its square, with the mark in the middle that every shape of icon shows (W3C App Manifest, safe zone). */
export const appIconSvg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-4.5 -8 35 35"><path fill="#1b5a4b" d="M-5-8h36v36H-5z"/><path fill="#e8b04a" d="${back}"/><path fill="#fffdf9" d="${front}"/><path ${lines} stroke="#1b5a4b" stroke-width=".5" d="${veins}"/><path fill="#fffdf9" stroke="#fffdf9" stroke-width=".5" d="${body}"/><path ${lines} stroke="#fffdf9" stroke-width=".9" d="${tails}"/></svg>`;
