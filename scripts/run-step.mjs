/**
 * One step of a script: a command with its own time and verdict.
 *
 * Only processes of our own group are ended.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { bun, root } from './install.mjs';

/** The one setting that tests take from the caller's environment: it repeats a run. */
const testSettings = /^MAYFLY_SEED$/;

/** Settings of the machine must not change what is tested. */
function cleanEnvironment() {
  const entries = Object.entries(process.env).filter(
    ([name]) => testSettings.test(name) || !/^(MAYFLY_.*|PORT|HOST|NODE_ENV)$/.test(name),
  );
  return { ...Object.fromEntries(entries), NO_COLOR: process.stderr.isTTY ? '' : '1' };
}

function say(words) {
  process.stdout.write(`${words}\n`);
}

/** Ends the group of a process that was started as its leader. */
function endGroup(child, signal) {
  try {
    process.kill(-child.pid, signal);
  } catch {
    // It ended in the meantime.
  }
}

const graceMs = 5_000;

/**
 * @param {{ name: string, command: string, args: string[], limitMs: number, cwd?: string, env?: Record<string, string> }} step
 * @returns {Promise<boolean>} whether it ended well and in time
 */
export function runStep({ name, command, args, limitMs, cwd = root, env = {} }) {
  say(`\n== ${name}`);
  const startMs = Date.now();
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd,
      stdio: 'inherit',
      env: { ...cleanEnvironment(), ...env },
      detached: true,
    });
    const stop = (signal) => endGroup(child, signal);
    const forwarders = ['SIGINT', 'SIGTERM', 'SIGHUP'].map((signal) => [signal, () => stop(signal)]);
    for (const [signal, forward] of forwarders) process.on(signal, forward);
    const timer = setTimeout(() => {
      say(`== ${name}: longer than ${Math.round(limitMs / 1000)} s, stopped`);
      stop('SIGTERM');
      setTimeout(() => stop('SIGKILL'), graceMs).unref();
    }, limitMs);
    const end = (isWell) => {
      clearTimeout(timer);
      for (const [signal, forward] of forwarders) process.off(signal, forward);
      say(`== ${name}: ${isWell ? 'ok' : 'FAILED'}, ${((Date.now() - startMs) / 1000).toFixed(1)} s`);
      resolve(isWell);
    };
    child.on('error', () => end(false));
    child.on('exit', (code) => end(code === 0));
  });
}

export const bin = (name) => join(root, 'node_modules', '.bin', name);

/** Prose is wrapped by hand. */
const codeFolders = ['src', 'sdk', 'test', 'scripts', 'bench', 'package.json', 'tsconfig.json'];

/** Format, lint and types: what a reader would otherwise have to check. */
export function checkSteps(limitMs) {
  return [
    {
      name: 'format and lint',
      command: bin('biome'),
      args: ['check', '--error-on-warnings', ...codeFolders],
      limitMs,
    },
    { name: 'types', command: bin('tsc'), args: ['--noEmit'], limitMs },
  ];
}

/** @param {string[]} args */
export function bunStep(name, args, limitMs) {
  return { name, command: bun, args: ['--no-install', '--no-env-file', ...args], limitMs };
}
