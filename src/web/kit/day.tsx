/**
 * A secret's life, drawn as one day: while the secret waits, the sun moves from sunrise to sunset and a mayfly flies. Opened, burned and
 * expired secrets look different at a glance. Strangers see `gone`, which is the same for all of these, and `broken` for a damaged link. The
 * page's text always says what the picture shows.
 */
import type { FC } from 'hono/jsx';
import { Mayfly } from '../brand/default-logo.tsx';
import { circle } from './parts.tsx';

export type DayState = 'waiting' | 'opened' | 'burned' | 'expired' | 'gone' | 'broken';

interface DayProps {
  readonly state: DayState;
  /** The fraction of time left, from 1 to 0. */
  readonly part?: number;
  /** As small as a word, so without the mayfly. */
  readonly isSmall?: boolean;
}

const [centre, horizon, radius] = [100, 96, 80];

function pointAt(part: number): { readonly x: number; readonly y: number } {
  const angle = Math.PI * part;
  return { x: rounded(centre + radius * Math.cos(angle)), y: rounded(horizon - radius * Math.sin(angle)) };
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}

function arc(from: number, to: number): string {
  const [start, end] = [pointAt(from), pointAt(to)];
  return `M${start.x} ${start.y}A${radius} ${radius} 0 0 1 ${end.x} ${end.y}`;
}

const wholeArc = arc(1, 0);

const tick = 'm89 58 8 8 15-16';
const flame =
  'M100 94c7 0 11-4.7 11-11 0-5.2-2.6-8.2-4.7-10.8-.5 2.6-1.7 4.4-3.7 5.2 1.2-6-.9-11.2-5.2-14.7.3 5.2-1.7 7.8-4.3 11-2.2 2.6-4.1 5.2-4.1 9.3 0 6.3 4 11 11 11Z';
const moon = 'M113 70A22 22 0 1 1 89 40a18 18 0 0 0 24 30Z';

/** Outlines by their class, in the order in which they are drawn. */
type Strokes = Readonly<Record<string, string>>;

const endings: Readonly<Record<Exclude<DayState, 'waiting'>, Strokes>> = {
  opened: { arc: wholeArc, glow: circle(100, 58, 24), tick },
  burned: { past: wholeArc, glow: circle(100, 86, 22), 'full flat': flame },
  expired: { past: wholeArc, 'full flat': moon, star: 'M122 38v.1M138 58v.1M62 52v.1M76 30v.1' },
  gone: { past: wholeArc, glow: 'M154 96a22 22 0 0 1 44 0Z', full: 'M169 96a7 7 0 0 1 14 0Z' },
  broken: { past: arc(0.38, 0), arc: `${arc(1, 0.62)}M100 34v-14M112 36l6-12M88 36l-6-12` },
};

function waiting(part: number, isSmall: boolean): Strokes {
  const { x, y } = pointAt(part);
  const glow = isSmall ? {} : { glow: circle(x, y, 15) };
  return { past: arc(1, part), arc: arc(part, 0), ...glow, full: circle(x, y, 7) };
}

export const Day: FC<DayProps> = ({ state, part = 1, isSmall = false }) => {
  const strokes = state === 'waiting' ? waiting(Math.min(1, Math.max(0, part)), isSmall) : endings[state];
  return (
    <svg class={`day day-${state}`} viewBox="0 0 200 114" aria-hidden="true">
      <path class="ground" d="M4 96H196" />
      {Object.entries(strokes).map(([kind, outline]) => (
        <path class={kind} d={outline} />
      ))}
      {state === 'waiting' && !isSmall ? <Mayfly transform={perch} /> : null}
    </svg>
  );
};

const perch = 'translate(67 44) scale(2.6)';

/** The mayfly alone, where `Day` has it. */
export const Perched: FC = () => (
  <svg class="day" viewBox="0 0 200 114" aria-hidden="true">
    <Mayfly transform={perch} />
  </svg>
);

/** The number of places on the arc that an icon's sun can have, so that there are few icons. */
const places = 8;

/** Names the tab's icon in `/icons/`: the sun on its way, or the secret's end. */
export function dayIconName({ state, part = 1 }: DayProps): string {
  return `day-${state === 'waiting' ? Math.ceil(part * places) : state}.svg`;
}

const line = 'fill="none" stroke-linecap="round" stroke-linejoin="round"';

function sun(part: number): string {
  const { x, y } = pointAt(part);
  const drawn = `<path stroke="#8b9691" d="${arc(1, part)}"/><path stroke="#d9952b" d="${arc(part, 0)}"/>`;
  return `-4 -46 208 208"><g ${line} stroke-width="20">${drawn}</g><circle fill="#d9952b" cx="${x}" cy="${y}" r="36"/>`;
}

/** In colours that suit both light and dark tabs. */
const icons = {
  ...Array.from({ length: places + 1 }, (_, at) => sun(at / places)),
  opened: `72 30 56 56"><circle fill="#2f8a73" cx="100" cy="58" r="26"/><path ${line} stroke="#fff" stroke-width="6" d="${tick}"/>`,
  burned: `80 58 40 40"><path fill="#cf5440" d="${flame}"/>`,
  expired: `70 34 56 56"><path fill="#7488bd" d="${moon}"/>`,
};

export const dayIcons: ReadonlyMap<string, string> = new Map(
  Object.entries(icons).map(([name, drawn]) => [
    `day-${name}.svg`,
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${drawn}</svg>`,
  ]),
);
