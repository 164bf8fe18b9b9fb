/** Progress of long commands, as lines on standard error; `--json` prints none. */
import type { Input, World } from './command.ts';

/** One line per this many secrets. */
export function perSecrets(step: number, all: number, input: Input, { terminal }: World) {
  let shown = 0;
  return (soFar: number): void => {
    if (input.json || soFar < shown + step) return;
    shown = soFar;
    terminal.err(`${soFar} of ${all}\n`);
  };
}

/** A line each time a tenth more is done, up to `last` tenths. @param words how much all of it is */
export function perTenth(last: number, words: (all: number) => string, input: Input, { terminal }: World) {
  let shownTenths = 0;
  return (done: number, all: number): void => {
    const tenths = Math.min(last, Math.floor((10 * done) / Math.max(1, all)));
    if (input.json || tenths <= shownTenths) return;
    shownTenths = tenths;
    terminal.err(`${tenths * 10} % of ${words(all)}\n`);
  };
}
