/**
 * All store calls of a request share two seconds, so that slow calls do not add up. Time during which calls overlap
 * counts once. Calls made after the response have their own deadlines.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

interface Waits {
  ms: number;
  callsUnderWay: number;
  sinceMs: number;
  isAnswered: boolean;
}

export interface RequestWaits {
  during<T>(request: () => T | Promise<T>): Promise<T>;
  count<T>(call: () => Promise<T>): Promise<T>;
  /** Returns the current time less what the request has already waited. */
  beganMs(): number;
  apart<T>(work: () => T): T;
}

export function createRequestWaits(nowMs: () => number = () => performance.now()): RequestWaits {
  const requests = new AsyncLocalStorage<Waits | null>();

  function current(): Waits | null {
    const waits = requests.getStore() ?? null;
    return waits?.isAnswered === true ? null : waits;
  }

  return {
    during(request) {
      const waits: Waits = { ms: 0, callsUnderWay: 0, sinceMs: 0, isAnswered: false };
      return requests.run(waits, async () => {
        try {
          return await request();
        } finally {
          waits.isAnswered = true;
        }
      });
    },
    async count(call) {
      const waits = current();
      if (waits === null) return call();
      if (waits.callsUnderWay === 0) waits.sinceMs = nowMs();
      waits.callsUnderWay += 1;
      try {
        return await call();
      } finally {
        waits.callsUnderWay -= 1;
        if (waits.callsUnderWay === 0) waits.ms += nowMs() - waits.sinceMs;
      }
    },
    beganMs() {
      const waits = current();
      if (waits === null) return nowMs();
      return (waits.callsUnderWay > 0 ? waits.sinceMs : nowMs()) - waits.ms;
    },
    apart: (work) => requests.run(null, work),
  };
}

export const requestWaits = createRequestWaits();
