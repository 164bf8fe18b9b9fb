/** What is said of the machine's clock: at the start, by the doctor and before store time is set. */
import type { ClockReport } from '../core/time.ts';

const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

/** `30 days`, `8 hours`, `6 minutes`: in the largest unit that fits, rounded. */
export function spanWords(seconds: number): string {
  const [name, size] = units.find(([, unit]) => seconds >= unit) ?? ['second', 1];
  const count = Math.round(seconds / size);
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}

/** `30 days ahead`, `8 hours behind`. */
export function differenceWords(aheadSeconds: number): string {
  return `${spanWords(Math.abs(aheadSeconds))} ${aheadSeconds >= 0 ? 'ahead' : 'behind'}`;
}

/** What is wrong and what to do; `null` when the clocks agree. */
export function clockProblem({ verdict, aheadSeconds }: ClockReport): string | null {
  const difference =
    aheadSeconds >= 0 ? `${differenceWords(aheadSeconds)} of` : differenceWords(aheadSeconds);
  switch (verdict) {
    case 'agreed':
      return null;
    case 'disputed':
      return (
        `this machine's clock is ${difference} the time that Mayfly has measured. Until they agree, nothing that has ` +
        'expired is erased, and a secret that has expired by one of them only is answered 503. Correct the clock, or, if ' +
        'it is right, run mayfly store set-time'
      );
    case 'unproven':
      return (
        `this machine has restarted, and its clock is ${difference} the time at which Mayfly last ran. It is believed ` +
        'after 10 minutes; until then nothing is erased. If it is wrong, correct it now'
      );
  }
}
