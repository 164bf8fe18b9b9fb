/**
 * The load generator: one process, keep-alive connections, one request in flight on each.
 *
 * It reads every answer to its last byte, requires status 200 and the value that was sent, so that a fast wrong answer ends the run.
 * Jobs arrive as lines on standard input.
 */

import { createInterface } from 'node:readline';
import type { Socket } from 'bun';
import { benchValue, firstRequest, type Job, type JobResult, secondRequest } from './jobs.ts';

interface Client {
  /** What has arrived of the answer that is awaited. */
  pending: string;
  sentAt: number;
  isSecond: boolean;
}

/** The whole answer, or `null` while some of it is missing. Every server here sends Content-Length. */
function wholeAnswer(text: string): string | null {
  const headEnd = text.indexOf('\r\n\r\n');
  if (headEnd === -1) return null;
  const length = /content-length: (\d+)/i.exec(text.slice(0, headEnd))?.[1];
  if (length === undefined) throw new Error(`an answer without Content-Length: ${text.slice(0, headEnd)}`);
  return text.length >= headEnd + 4 + Number(length) ? text : null;
}

function checkAnswer(job: Job, client: Client, answer: string): void {
  if (answer.slice(9, 12) !== '200') throw new Error(`an answer was not 200: ${answer}`);
  if (client.isSecond && !answer.includes(benchValue))
    throw new Error(`a value did not come back: ${answer}`);
  if (job.kind === 'get' && !answer.endsWith('hello world')) throw new Error(`a strange greeting: ${answer}`);
}

function percentile(sorted: Float64Array, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

function cpuSeconds(since: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1e6;
}

/** What a run has come to. */
interface Progress {
  readonly latencies: Float64Array;
  requests: number;
  started: number;
  ended: number;
}

function send(socket: Socket<Client>, bytes: Buffer): void {
  socket.data.pending = '';
  socket.data.sentAt = performance.now();
  if (socket.write(bytes) !== bytes.length) throw new Error('a request did not fit into the socket');
}

function startTrip(job: Job, progress: Progress, socket: Socket<Client>): void {
  if (progress.started === job.trips) return;
  progress.started += 1;
  socket.data.isSecond = false;
  send(socket, firstRequest[job.kind]);
}

/** Bytes of an answer: when it is whole, the trip's next request or the next trip. */
function take(job: Job, progress: Progress, socket: Socket<Client>, bytes: Buffer): void {
  const client = socket.data;
  client.pending += bytes.toString('latin1');
  const answer = wholeAnswer(client.pending);
  if (answer === null) return;
  progress.latencies[progress.requests] = performance.now() - client.sentAt;
  progress.requests += 1;
  checkAnswer(job, client, answer);
  const second = client.isSecond ? null : secondRequest(job.kind, answer);
  if (second === null) {
    progress.ended += 1;
    startTrip(job, progress, socket);
  } else {
    client.isSecond = true;
    send(socket, second);
  }
}

/** Connects all; the promise of the end resolves after the last answer and rejects at the first fault. */
async function connectAll(job: Job, progress: Progress) {
  const end = Promise.withResolvers<void>();
  const data = (socket: Socket<Client>, bytes: Buffer) => {
    try {
      take(job, progress, socket, bytes);
      if (progress.ended === job.trips) end.resolve();
    } catch (fault) {
      end.reject(fault);
    }
  };
  const close = () => end.reject(new Error(`a connection was closed after ${progress.ended} trips`));
  const open = () =>
    Bun.connect<Client>({
      hostname: '127.0.0.1',
      port: job.port,
      data: { pending: '', sentAt: 0, isSecond: false },
      socket: { data, close },
    });
  const sockets = await Promise.all(Array.from({ length: job.connections }, open));
  return { sockets, end: end.promise };
}

/** Connects, makes the trips, and resolves with the figures. */
async function run(job: Job): Promise<JobResult> {
  const progress: Progress = {
    latencies: new Float64Array(job.trips * 2),
    requests: 0,
    started: 0,
    ended: 0,
  };
  const { sockets, end } = await connectAll(job, progress);
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  for (const socket of sockets) startTrip(job, progress, socket);
  await end;
  const seconds = (performance.now() - startedAt) / 1000;
  const generatorCpuSeconds = cpuSeconds(cpuBefore);
  for (const socket of sockets) socket.end();
  const sorted = progress.latencies.subarray(0, progress.requests).sort();
  return {
    trips: progress.ended,
    seconds,
    p50Milliseconds: percentile(sorted, 0.5),
    p99Milliseconds: percentile(sorted, 0.99),
    generatorCpuSeconds,
  };
}

for await (const line of createInterface({ input: process.stdin })) {
  const result = await run(JSON.parse(line) as Job);
  console.log(JSON.stringify(result));
}
