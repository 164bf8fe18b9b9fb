/** The default logo: a mayfly in leaf green and sun yellow, on a grid of 24 units. Small pictures omit the veins and a tail. */
import type { FC } from 'hono/jsx';

const back = 'M17.4 15.2C22 12 23.4 6.5 22.1 1.6 20 2 18.4 3.2 17.6 4.5 19 8 19 11.5 17.4 15.2Z';
const front = 'M16.6 15.6C18.5 10 17.4 4.2 12.6 .2 8.4 5 9 12.4 16.6 15.6Z';
const veins = 'M16.2 14C15.7 10.4 14.6 7.2 12.9 4.2M15.4 13.6C13.4 11.8 12.1 9.6 11.5 7';
const body =
  'M23.4 15.4a1.5 1.5 0 0 0-2.7-.8c-1.8 0-3.3 .4-4.8 1.1-3.4 .8-6.1-.8-8.3-4.2 1.1 4.3 4.9 6.9 9.4 5.9 2.5 0 5.3-.4 6.4-2Z';
const tails =
  'M7.6 11.5C6.8 9.3 6.3 6.7 6.3 3.7M7.6 11.5C6.4 9.3 5 7.5 3.2 6.2M7.6 11.5C6.1 10.3 4.4 9.8 2.6 10';
const twoTails = 'M7.6 11.5C6.8 9.3 6 7 5.8 4.2M7.6 11.5C6.1 10.3 4.4 9.8 2.6 9.6';

/** 23 units wide and 19 high. */
export const Mayfly: FC<{ transform?: string }> = (attributes) => (
  <g class="mark" {...attributes}>
    <path class="wing sunlit" d={back} />
    <path class="wing" d={front} />
    <path d={body} />
    <path class="line" d={tails} />
  </g>
);

export const DefaultLogo: FC = () => (
  <svg viewBox="1.5 -.5 23 19" aria-hidden="true">
    <Mayfly />
  </svg>
);

const lines = 'fill="none" stroke-linejoin="round" stroke-linecap="round"';

/** Uses colours that suit both light and dark tabs. */
export const iconSvg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="1 -2.5 24 24"><path fill="#d9952b" d="${back}"/><path fill="#2f8a73" d="${front}"/><path fill="#2f8a73" stroke="#2f8a73" stroke-width=".9" d="${body}"/><path ${lines} stroke="#2f8a73" stroke-width="1.6" d="${twoTails}"/></svg>`;

/** Fills a square, with the mayfly in the middle, where every icon shape shows it (W3C App Manifest, safe zone). */
export const appIconSvg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-4.5 -8 35 35"><path fill="#1b5a4b" d="M-5-8h36v36H-5z"/><path fill="#e8b04a" d="${back}"/><path fill="#fffdf9" d="${front}"/><path ${lines} stroke="#1b5a4b" stroke-width=".5" d="${veins}"/><path fill="#fffdf9" stroke="#fffdf9" stroke-width=".5" d="${body}"/><path ${lines} stroke="#fffdf9" stroke-width=".9" d="${tails}"/></svg>`;
