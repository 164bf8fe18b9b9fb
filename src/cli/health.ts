/** `mayfly health`: whether the server or router of these settings is ready, for a container's health check. */
import { isIPv6 } from 'node:net';
import {
  type Command,
  type ExitCode,
  type Input,
  printResult,
  readSettings,
  refuse,
  type World,
} from './command.ts';

/** A server that takes longer is no use to anybody who waits. */
const answerLimitMs = 5_000;

/** Where a server that listens on this host is reached from its own machine. */
function ownHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return isIPv6(host) ? `[${host}]` : host;
}

/**
 * The status of the answer to a GET, `null` when none comes in time. Unlike `fetch` it uses no proxy: one that a container is given for
 * everything does not lead back into it.
 */
export async function statusOf(url: string, limitMs: number): Promise<number | null> {
  // Every other command starts without it.
  const { get } = await import('node:http');
  return new Promise((resolve) => {
    const request = get(url, { signal: AbortSignal.timeout(limitMs) }, (response) => {
      response.resume();
      resolve(response.statusCode ?? null);
    });
    request.once('error', () => resolve(null));
  });
}

async function runHealth(input: Input, world: World): Promise<ExitCode> {
  const settings = await readSettings(world);
  const server = `http://${ownHost(settings.host)}:${settings.port}`;
  const status = await world.statusOf(`${server}/readyz`, answerLimitMs);
  // A server refuses to start with these, while a router does without them.
  const faults = settings.serverFaults.map(({ sentence }) => ` ${sentence}`).join('');
  if (status === null) return refuse(world, input, 'unreachable', `${server} does not answer.${faults}`);
  if (status !== 200)
    return refuse(world, input, 'not_ready', `${server} answers that it is not ready: see its log.`);
  return printResult(world, input, { ready: true }, ['ready']);
}

export const healthCommands: readonly Command[] = [
  {
    path: ['health'],
    summary: 'ask the server of these settings whether it is ready',
    example: 'mayfly health',
    run: runHealth,
  },
];
