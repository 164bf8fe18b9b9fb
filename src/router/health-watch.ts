/**
 * Asking every server of every region whether it can serve.
 *
 * Owns: when `/readyz` is asked, and what its answers mean. Invariant: at most one question to a server is under way; a
 * question has a limit, and the next one is asked only after its end. A server that says no or takes no connection is not
 * well at once; one that is slow only when it is slow twice in a row, because a busy second is no outage.
 */
import type { Fleet } from './fleet.ts';
import type { Hop, RegionServer } from './hop.ts';

export interface HealthWatchDeps {
  readonly fleet: Fleet;
  readonly hop: Hop;
  /** Runs a function once, after so many milliseconds; returns what cancels it. */
  readonly after: (milliseconds: number, run: () => void) => () => void;
  readonly everyMs: number;
  readonly limitMs: number;
}

export interface HealthWatch {
  /** Asks this server now, because something failed there. */
  check(server: RegionServer): Promise<void>;
  /** Asks all, and resolves when each has answered or not. */
  checkAll(): Promise<void>;
  stop(): void;
}

export function createHealthWatch({ fleet, hop, after, everyMs, limitMs }: HealthWatchDeps): HealthWatch {
  const underWay = new Map<RegionServer, Promise<void>>();
  const cancels = new Map<RegionServer, () => void>();
  const slow = new Set<RegionServer>();
  let isStopped = false;

  const ask = async (server: RegionServer): Promise<void> => {
    const limit = new AbortController();
    const cancel = after(limitMs, () => limit.abort());
    const request = { method: 'GET', target: '/readyz', fields: [], body: null, signal: limit.signal };
    const answer = await hop(server, request).finally(cancel);
    underWay.delete(server);
    if (isStopped) return;
    const wasSlow = slow.delete(server);
    if (answer.outcome === 'left' && !wasSlow) slow.add(server);
    else fleet.note(server, answer.outcome === 'answered' && answer.response.status === 200);
    cancels.set(
      server,
      after(everyMs, () => void check(server)),
    );
  };
  const check = (server: RegionServer): Promise<void> => {
    const running = underWay.get(server);
    if (running !== undefined || isStopped) return running ?? Promise.resolve();
    cancels.get(server)?.();
    const asked = ask(server);
    underWay.set(server, asked);
    return asked;
  };
  return {
    check,
    async checkAll() {
      await Promise.all(fleet.regions.flatMap(({ servers }) => servers.map(check)));
    },
    stop() {
      isStopped = true;
      for (const cancel of cancels.values()) cancel();
    },
  };
}
