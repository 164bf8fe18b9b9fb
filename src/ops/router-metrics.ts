/**
 * The router's counters for Prometheus.
 *
 * Owns: the names of its series. Invariant: labels are labels of regions and statuses, both closed sets, so no key or
 * address becomes one (P18) and the number of series is bounded. Off unless `MAYFLY_INTERNAL_PORT` is set.
 */
import type { RegionLabel } from '../core/keys.ts';

export interface RouterMetrics {
  /** @param region `null` for an answer that no region had a part in */
  countAnswer(region: RegionLabel | null, status: number): void;
  noteRegion(region: RegionLabel, isHealthy: boolean): void;
}

export interface OpenRouterMetrics extends RouterMetrics {
  /** The text of all series, in Prometheus' exposition format. */
  render(): Promise<string>;
}

/** Counts nothing. */
export const noRouterMetrics: RouterMetrics = { countAnswer: () => {}, noteRegion: () => {} };

export async function openRouterMetrics(): Promise<OpenRouterMetrics> {
  const prom = await import('prom-client');
  const registry = new prom.Registry();
  const registers = [registry];
  const answers = new prom.Counter({
    name: 'mayfly_router_answers_total',
    help: 'Answers through the router',
    labelNames: ['region', 'status'],
    registers,
  });
  const up = new prom.Gauge({
    name: 'mayfly_router_region_up',
    help: 'Whether a server of the region can serve',
    labelNames: ['region'],
    registers,
  });
  return {
    countAnswer: (region, status) => answers.inc({ region: region ?? 'none', status: String(status) }),
    noteRegion: (region, isHealthy) => up.set({ region }, isHealthy ? 1 : 0),
    render: () => registry.metrics(),
  };
}
