/** `mayfly health`, for a container's health check of its server or router. */
import { isIPv6 } from 'node:net';
import {
  type Command,
  command,
  type ExitCode,
  type Input,
  printResult,
  Refusal,
  readSettings,
} from './command.ts';
import type { OperatorWorld } from './operator.ts';

const answerLimitMs = 5_000;

/** Returns where a server that listens on `host` can be reached from its own machine. */
function ownHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return isIPv6(host) ? `[${host}]` : host;
}

/** Returns the status of a GET, or `null` if none arrives in time. Unlike `fetch`, uses no proxy, which could not reach the container. */
export async function statusOf(url: string, limitMs: number): Promise<number | null> {
  // Imported here, because no other command needs it.
  const { get } = await import('node:http');
  return new Promise((resolve) => {
    const request = get(url, { signal: AbortSignal.timeout(limitMs) }, (response) => {
      response.resume();
      resolve(response.statusCode ?? null);
    });
    request.once('error', () => resolve(null));
  });
}

async function runHealth(input: Input, world: OperatorWorld): Promise<ExitCode> {
  const settings = await readSettings(world);
  const server = `http://${ownHost(settings.host)}:${settings.port}`;
  const status = await world.statusOf(`${server}/readyz`, answerLimitMs);
  // A server refuses to start with these faults; a router ignores them.
  const faults = settings.serverFaults.map(({ sentence }) => ` ${sentence}`).join('');
  if (status === null) throw new Refusal('unreachable', `${server} does not answer.${faults}`);
  if (status !== 200) throw new Refusal('not_ready', `${server} is not ready: see its log.`);
  return printResult(world, input, { ready: true }, ['ready']);
}

export const healthCommands: readonly Command<OperatorWorld>[] = [
  command('health', {
    summary: 'check whether the server is ready',
    example: 'mayfly health',
    run: runHealth,
  }),
];
