/** Starts the app. While the database is unreachable, listens, reports not ready and retries every second. Any other fault is fatal. */
import { type Closers, closeAll, type Door, type RunningApp, serveAt } from './app.ts';
import type { Settings } from './config/read.ts';
import { createLinks } from './core/links.ts';
import { answerEarly } from './http/health.ts';
import { ListenError, type RunningServer, type ServerOptions, startServer } from './http/server.ts';
import type { Log } from './ops/log.ts';
import { outageCodeOf } from './ops/store-watch.ts';
import { refusalOf, StartRefusal } from './stores.ts';
import { basePathOf } from './web/kit/routes.ts';

export interface Start {
  readonly settings: Settings;
  readonly version: string;
  readonly log: Log;
  /** Resolves when the app must stop, which ends the wait immediately. */
  readonly stopped: Promise<unknown>;
  /** Receives a sentence about what startup is waiting for. */
  readonly onWait: (sentence: string) => void;
}

/** Most of the ten seconds allowed for shutdown. */
const requestGraceMs = 8_000;
const retryMs = 1_000;
const toldEveryMs = 10_000;

/** Opens the port only once: when startup begins to wait or, if it need not wait, when the app is ready. */
function createDoor({ settings: { host: hostname, port }, log }: Start): Door {
  let answer: ServerOptions['fetch'];
  let server: RunningServer | null = null;
  const onFault: ServerOptions['onFault'] = (error, requestId) =>
    log({ event: 'fault', where: 'request', error, requestId });
  return {
    async open(fetch: ServerOptions['fetch']): Promise<number> {
      answer = fetch;
      server ??= await startServer({
        ...{ fetch: (...request) => answer(...request), hostname, port, onFault },
        onCrowd: () => log({ event: 'descriptors_used_up' }),
      });
      return server.port;
    },
    close: async () => server?.stop(requestGraceMs),
  };
}

/**
 * Resolves once the app serves requests, or to `null` if it was stopped first.
 * @throws StartRefusal if the settings, store, keys or port prevent startup
 */
export async function startApp(given: Start): Promise<RunningApp | null> {
  const { settings, version, log, onWait } = given;
  const door = createDoor(given);
  const stopped = given.stopped.then(() => null);
  let waitsFor: string | null = null;
  let toldAtMs = Number.NEGATIVE_INFINITY;

  /** @throws the fault, unless its cause may go away by itself */
  async function wait(error: unknown): Promise<void> {
    const refusal = await refusalOf(error, settings);
    if (!(refusal instanceof StartRefusal && refusal.mayPass)) throw refusal;
    await door.open(answerEarly(basePathOf(createLinks(settings.baseUrl).baseUrl)));
    if (refusal.message !== waitsFor) onWait(refusal.message);
    waitsFor = refusal.message;
    if (performance.now() - toldAtMs < toldEveryMs) return;
    toldAtMs = performance.now();
    log({ event: 'store_awaited', code: outageCodeOf(refusal.cause) });
  }

  for (;;) {
    const closers: Closers = [];
    const serving = serveAt(door, settings, version, log, closers);
    // After a stop, nothing awaits this promise: the process ends, and everything in flight with it.
    serving.catch(() => {});
    try {
      return await (waitsFor === null ? serving : Promise.race([serving, stopped]));
    } catch (error) {
      await closeAll(closers);
      await wait(error).catch((cause) => {
        throw cause instanceof ListenError ? new StartRefusal(cause.message, { cause }) : cause;
      });
    }
    if ((await Promise.race([stopped, Bun.sleep(retryMs)])) === null) return null;
  }
}
