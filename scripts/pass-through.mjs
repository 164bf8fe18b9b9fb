/**
 * Runs a child process in place of this one. Runs on Node 20 with nothing installed.
 *
 * The child does not outlive npm, and this process does not outlive the child.
 */
import { constants } from 'node:os';

const watchIntervalMs = 200;

/** npm runs scripts through a shell, which dies of a signal without passing it on. */
function endWithNpm(child) {
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  const watcher = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watcher);
    child.kill('SIGTERM');
  }, watchIntervalMs);
}

/** @param {import('node:child_process').ChildProcess} child just started, with the streams of this process */
export function passThrough(child) {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  endWithNpm(child);
  child.on('error', (error) => {
    process.stderr.write(`The runtime could not be started: ${error.message}\n`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => {
    process.exit(code ?? 128 + (constants.signals[signal ?? 'SIGKILL'] ?? 0));
  });
}
