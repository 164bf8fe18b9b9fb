/**
 * The life of a secret, drawn as one day: the sun goes from sunrise to sunset while it waits. Opened, burned and expired each
 * look different at a glance. Only accompanies words.
 */
import type { FC } from 'hono/jsx';

export type DayState = 'waiting' | 'opened' | 'burned' | 'expired';

interface DayProps {
  readonly state: DayState;
  /** Of the life that is left while it waits, 0 to 1. */
  readonly part?: number;
}

const [centre, horizon, radius] = [100, 92, 78];

/** @param part of the day that is left: 1 at sunrise, 0 at sunset */
function pointAt(part: number): { readonly x: number; readonly y: number } {
  const angle = Math.PI * part;
  return { x: rounded(centre + radius * Math.cos(angle)), y: rounded(horizon - radius * Math.sin(angle)) };
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}

/** From there to sunset. */
function arcFrom({ x, y }: ReturnType<typeof pointAt>): string {
  return `M${x} ${y}A${radius} ${radius} 0 0 1 ${centre + radius} ${horizon}`;
}

const wholeArc = arcFrom(pointAt(1));

export const Day: FC<DayProps> = ({ state, part = 1 }) => (
  <svg class={`day day-${state}`} viewBox="0 0 200 104" aria-hidden="true">
    {state === 'waiting' ? (
      <Waiting part={Math.min(1, Math.max(0, part))} />
    ) : (
      <path class="way" d={wholeArc} />
    )}
    <path class="ground" d="M4 92H196" />
    {state === 'opened' ? <path class="body" d="m84 60 12 12 24-26" stroke-width="5" /> : null}
    {state === 'burned' ? (
      <>
        <circle class="glow" cx={centre} cy="78" r="16" />
        <circle class="orb" cx={centre} cy="86" r="6" />
      </>
    ) : null}
    {state === 'expired' ? <path class="orb" d="M112 66A20 20 0 1 1 92 38a16 16 0 0 0 20 28Z" /> : null}
  </svg>
);

const Waiting: FC<{ part: number }> = ({ part }) => {
  const sun = pointAt(part);
  return (
    <>
      <path d={wholeArc} stroke-width="3" />
      <path class="way" d={arcFrom(sun)} />
      <circle class="glow" cx={sun.x} cy={sun.y} r="14" />
      <circle class="orb" cx={sun.x} cy={sun.y} r="7" />
    </>
  );
};
