/**
 * How a page asks about something that it waits for: often at first, when most links are opened, then ever more rarely, so that a forgotten
 * tab costs little. It also asks in the background, so that the tab's icon and title can tell.
 */
const longestPauseMs = 300_000;

/** @param ask returns whether to go on, and rejects if there was no answer */
export function keepAsking(ask: () => Promise<boolean>): void {
  const begunMs = performance.now();
  let failures = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const pauseMs = () => {
    const ageMs = performance.now() - begunMs;
    const isVisible = document.visibilityState === 'visible';
    const [shortestMs, usualMs] = isVisible ? [5_000, 60_000] : [60_000, longestPauseMs];
    const pause = Math.min(Math.max(ageMs / 10, shortestMs), usualMs);
    return Math.min(pause * 2 ** failures, longestPauseMs);
  };
  const plan = () => {
    clearTimeout(timer);
    timer = setTimeout(askNow, pauseMs());
  };
  const askNow = async () => {
    try {
      if (!(await ask())) return;
      failures = 0;
    } catch {
      failures += 1;
    }
    plan();
  };
  document.addEventListener('visibilitychange', () => {
    clearTimeout(timer);
    if (document.visibilityState === 'visible') void askNow();
    else plan();
  });
  plan();
}
