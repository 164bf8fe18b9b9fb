/**
 * Runs a child process in place of this one. Runs on Node 20 with nothing installed.
 *
 * The child does not outlive npm, and this process does not outlive the child.
 */
import { spawn } from 'node:child_process';
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

/**
 * Signals are listened for before there is a child that could outlive this process.
 * @param {string} command
 * @param {string[]} args
 * @param {import('node:child_process').SpawnOptions} options
 */
export function passThrough(command, args, options) {
  let child = null;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child?.kill(signal));
  child = spawn(command, args, { ...options, stdio: 'inherit' });
  endWithNpm(child);
  child.on('error', (error) => {
    process.stderr.write(`The runtime could not be started: ${error.message}\n`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => {
    process.exit(code ?? 128 + (constants.signals[signal ?? 'SIGKILL'] ?? 0));
  });
}
