/**
 * The program as `npm start` runs it and as the executable holds it.
 *
 * It does not outlive the npm that started it: npm may be killed, and nothing passes a signal on then.
 */
import '../src/main.ts';

const watchIntervalMs = 200;

function endWithNpm(): void {
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  const watcher = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watcher);
    process.kill(process.pid, 'SIGTERM');
  }, watchIntervalMs);
  watcher.unref();
}

endWithNpm();
