/**
 * What every load generator does, whatever sends its requests: trips on a number of connections, one request in flight on each.
 *
 * It requires the status of success and the value that was sent, so that a fast wrong answer ends the run. Jobs arrive as lines on
 * standard input. It runs under Bun and under Node.
 */
import { createInterface } from 'node:readline';
import {
  type Job,
  type JobAnswer,
  type JobRequest,
  type JobResult,
  keyOfV1,
  revealV1,
  tripOf,
} from '../jobs.ts';

/** One connection. */
export interface Client {
  /** Calls back with the whole answer; one request at a time. */
  send(request: JobRequest, onAnswer: (answer: JobAnswer) => void): void;
}

export interface Clients {
  readonly all: readonly Client[];
  close(): void | Promise<void>;
}

/** @param onFault is called for whatever goes wrong while requests are under way */
export type OpenClients = (
  job: Pick<Job, 'port' | 'connections'>,
  onFault: (fault: Error) => void,
) => Promise<Clients>;

/** The end of a run. */
interface Settle {
  readonly succeed: () => void;
  readonly fail: (fault: Error) => void;
}

/** What a run has come to. */
interface Progress {
  readonly latencies: Float64Array;
  requests: number;
  started: number;
  ended: number;
  readonly keys: string[];
}

function percentile(sorted: Float64Array, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

function cpuSeconds(since: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1e6;
}

/** Starts a trip on each client; each starts the next when it has ended. */
function makeTrips(job: Job, clients: readonly Client[], progress: Progress, end: Settle): void {
  const { first, second, kept, madeStatus = 200 } = tripOf(job);
  const ask = (client: Client, request: JobRequest, well: number, onBody: (body: string) => void) => {
    const sentAt = performance.now();
    client.send(request, ({ status, body }) => {
      progress.latencies[progress.requests] = performance.now() - sentAt;
      progress.requests += 1;
      if (status === well) onBody(body);
      else end.fail(new Error(`an answer was ${status}: ${body}`));
    });
  };
  const endTrip = (client: Client) => {
    progress.ended += 1;
    if (progress.ended === job.trips) end.succeed();
    else startTrip(client);
  };
  const startTrip = (client: Client) => {
    if (progress.started === job.trips) return;
    const request = job.keys === undefined ? first : revealV1(job.keys[progress.started] ?? '');
    progress.started += 1;
    ask(client, request, madeStatus, (made) => {
      if (job.keepEach !== undefined && progress.ended % job.keepEach === 0)
        progress.keys.push(keyOfV1(made));
      if (second === null) return endTrip(client);
      ask(client, second(made), 200, (revealed) => {
        if (revealed.includes(kept)) endTrip(client);
        else end.fail(new Error(`a value did not come back: ${revealed}`));
      });
    });
  };
  for (const client of clients) startTrip(client);
}

async function run(job: Job, openClients: OpenClients): Promise<JobResult> {
  const progress: Progress = {
    latencies: new Float64Array(job.trips * 2),
    requests: 0,
    started: 0,
    ended: 0,
    keys: [],
  };
  // Node 20 has no Promise.withResolvers.
  const end: Settle = { succeed: () => undefined, fail: () => undefined };
  const ended = new Promise<void>((resolve, reject) => {
    Object.assign(end, { succeed: resolve, fail: reject });
  });
  const clients = await openClients(job, (fault) => end.fail(fault));
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  makeTrips(job, clients.all, progress, end);
  await ended;
  const seconds = (performance.now() - startedAt) / 1000;
  const generatorCpuSeconds = cpuSeconds(cpuBefore);
  await clients.close();
  const sorted = progress.latencies.subarray(0, progress.requests).sort();
  return {
    trips: progress.ended,
    keys: progress.keys,
    seconds,
    p50Milliseconds: percentile(sorted, 0.5),
    p99Milliseconds: percentile(sorted, 0.99),
    generatorCpuSeconds,
  };
}

/** Does the jobs of standard input until it ends. */
export async function drive(openClients: OpenClients): Promise<void> {
  for await (const line of createInterface({ input: process.stdin })) {
    const result = await run(JSON.parse(line) as Job, openClients);
    console.log(JSON.stringify(result));
  }
}
