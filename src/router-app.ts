/**
 * Composes `mayfly router`: settings, log and counters around `router/`. It opens no store and no key file, and listens only once it has
 * its internal port.
 */
import type { Settings } from './config/read.ts';
import { type InternalServer, startInternalServer } from './http/internal-server.ts';
import type { Log } from './ops/log.ts';
import { noRouterMetrics, type OpenRouterMetrics, openRouterMetrics } from './ops/metrics.ts';
import { type RouterStart, startRouter } from './router/start.ts';

async function listenInternally(
  { internalHost: hostname, internalPort: port }: Settings,
  metrics: OpenRouterMetrics | null,
  log: Log,
): Promise<InternalServer | null> {
  if (port === null || metrics === null) return null;
  // Share domains are the regions': a router has none to get a certificate for.
  const isVerified = async () => false;
  const onFault = (error: unknown) => log({ event: 'fault', where: 'request', error });
  return startInternalServer({ hostname, port }, { metrics, isVerified, onFault });
}

export async function startRouterApp(settings: Settings, log: Log): Promise<RouterStart> {
  const opened = settings.internalPort === null ? null : await openRouterMetrics();
  const internal = await listenInternally(settings, opened, log);
  if (internal?.outcome === 'refused') return internal;
  const metrics = opened ?? noRouterMetrics;
  const router = await startRouter({
    hostname: settings.host,
    port: settings.port,
    regions: settings.regions,
    upstreams: settings.routerUpstreams,
    weights: settings.routerWeights,
    deprecatedSince: settings.routerDeprecation,
    trustedProxies: settings.trustedProxies,
    onChange: (region, isHealthy) => {
      log({ event: isHealthy ? 'region_back' : 'region_lost', region });
      metrics.noteRegion(region, isHealthy);
    },
    onAnswer: metrics.countAnswer,
    onUntrustedProxy: () => log({ event: 'proxy_untrusted' }),
    onFault: (error, requestId) => log({ event: 'fault', where: 'request', error, requestId }),
    onCrowd: () => log({ event: 'descriptors_used_up' }),
  });
  const stopInternal = async () => void (await internal?.stop());
  if (router.outcome === 'refused') {
    await stopInternal();
    return router;
  }
  return { ...router, stop: () => router.stop().then(stopInternal) };
}
