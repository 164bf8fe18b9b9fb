/**
 * The connections to the servers of all regions.
 *
 * Owns: which connection carries a request, and how long one may wait. Invariant: at most one request is under way on a
 * connection; none waits longer than its limit; a kept connection is given up well before a server would end it (30 s), so
 * that a request seldom meets its end.
 */
import { type Connection, type ConnectionOwner, openConnection } from './connection.ts';
import type { Hop, RegionServer } from './hop.ts';

export interface UpstreamLimits {
  /** Until a connection stands. */
  readonly connectMs: number;
  /** Without a byte of an answer. */
  readonly answerMs: number;
  /** Kept unused. */
  readonly idleMs: number;
}

/** An answer may take as long as a server lets a request take (30 s), less what the way back takes. */
const usualLimits: UpstreamLimits = { connectMs: 1_500, answerMs: 28_000, idleMs: 10_000 };
const sweepsPerLimit = 8;

export interface UpstreamClient {
  readonly hop: Hop;
  /** Ends every connection. */
  close(): void;
}

export function createUpstreamClient(limits: UpstreamLimits = usualLimits): UpstreamClient {
  const idle = new Map<RegionServer, Connection[]>();
  const all = new Set<Connection>();
  const idleOf = (server: RegionServer) => {
    const known = idle.get(server) ?? [];
    idle.set(server, known);
    return known;
  };
  const owner: ConnectionOwner = {
    free: (connection) => void idleOf(connection.server).push(connection),
    closed: (connection) => void all.delete(connection),
  };
  const sweep = () => {
    const now = performance.now();
    for (const connection of all) {
      const limitMs = connection.isBusy ? limits.answerMs : limits.idleMs;
      if (now - connection.lastMs > limitMs) connection.end();
    }
    for (const [server, kept] of idle)
      idle.set(
        server,
        kept.filter(({ isEnded }) => !isEnded),
      );
  };
  const sweepMs = Math.min(limits.answerMs, limits.idleMs) / sweepsPerLimit;
  const timer = setInterval(sweep, sweepMs).unref();

  const takeIdle = (server: RegionServer): Connection | null => {
    const kept = idleOf(server);
    for (let last = kept.pop(); last !== undefined; last = kept.pop()) if (!last.isEnded) return last;
    return null;
  };
  const open = async (server: RegionServer): Promise<Connection | null> => {
    const connection = await openConnection(server, owner, limits.connectMs);
    if (connection !== null) all.add(connection);
    return connection;
  };
  /** What was kept is as stale as the one that turned out to be. */
  const dropIdle = (server: RegionServer) => {
    for (const connection of idleOf(server).splice(0)) connection.end();
  };
  const hop: Hop = async (server, request) => {
    const connection = takeIdle(server) ?? (await open(server));
    if (connection === null || connection.isEnded) return { outcome: 'not_sent' };
    if (request.signal.aborted) {
      owner.free(connection);
      return { outcome: 'left' };
    }
    const { isUsed } = connection;
    const outcome = await connection.send(request);
    if (outcome.outcome === 'unknown' && isUsed) dropIdle(server);
    return outcome;
  };
  return {
    hop,
    close() {
      clearInterval(timer);
      for (const connection of [...all]) connection.end();
    },
  };
}
