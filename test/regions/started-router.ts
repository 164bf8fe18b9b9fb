/**
 * The router on a real socket in this process, in front of servers that a test names.
 *
 * Its limits are short enough for a test to see them expire; everything else is as in production.
 */

import { parseRegionLabel, type RegionLabel } from '../../src/core/keys.ts';
import { systemRandom } from '../../src/crypto/random.ts';
import { createClientAddressOf } from '../../src/http/client-address.ts';
import { startServer } from '../../src/http/server.ts';
import { createUpstreamClient, type UpstreamLimits } from '../../src/router/connection.ts';
import { type Hop, routerRegions } from '../../src/router/fleet.ts';
import { assembleRouter, type RouterParts } from '../../src/router/start.ts';
import { proxiesOf } from '../support/settings.ts';

export interface StartedRouter extends AsyncDisposable {
  readonly port: number;
  readonly parts: RouterParts;
  readonly faults: readonly unknown[];
  /** `us lost`, `us back`, in order. */
  readonly changes: readonly string[];
}

export interface RouterSetup {
  /** Server ports of each region, by label; the first region here is the router's first. */
  readonly regions: Readonly<Record<string, readonly number[]>>;
  readonly limits?: Partial<UpstreamLimits>;
  readonly trustedProxies?: readonly string[];
  readonly weights?: Readonly<Record<string, number>>;
  readonly deprecatedSince?: number;
  readonly bodyLimitMs?: number;
  /** Replaces the hop, given the real one: for seeded defects. */
  readonly wrapHop?: (hop: Hop) => Hop;
}

export function labelOf(text: string): RegionLabel {
  const label = parseRegionLabel(text);
  if (label === null) throw new Error(`${text} is no label`);
  return label;
}

export const ownAddress = (label: string) => `https://${label}.example.com`;

const limits: UpstreamLimits = { connectMs: 1_000, answerMs: 400, idleMs: 5_000 };

export async function startTestRouter(setup: RouterSetup): Promise<StartedRouter> {
  const labels = Object.keys(setup.regions).map(labelOf);
  const upstreams = labels.flatMap((label) =>
    (setup.regions[label] ?? []).map((port) => ({ label, baseUrl: `http://127.0.0.1:${port}` })),
  );
  const trusted = proxiesOf(setup.trustedProxies ?? []);
  const client = createUpstreamClient({ ...limits, ...setup.limits });
  const [faults, changes]: [unknown[], string[]] = [[], []];
  const parts = assembleRouter(
    {
      regions: routerRegions(
        labels.map((label) => ({ label, baseUrl: ownAddress(label) })),
        upstreams,
      ),
      weights: setup.weights ?? null,
      deprecatedSince: setup.deprecatedSince ?? null,
      clientAddressOf: createClientAddressOf(trusted),
      onChange: (label, isHealthy) => changes.push(`${label} ${isHealthy ? 'back' : 'lost'}`),
      onAnswer: () => {},
    },
    {
      hop: setup.wrapHop?.(client.hop) ?? client.hop,
      abandon: client.abandon,
      after: (milliseconds, run) => {
        const timer = setTimeout(run, milliseconds);
        return () => clearTimeout(timer);
      },
      random: systemRandom,
      nowMs: () => performance.now(),
      ...(setup.bodyLimitMs !== undefined && { bodyLimitMs: setup.bodyLimitMs }),
    },
  );
  await parts.health.checkAll();
  const onFault = (error: unknown) => faults.push(error);
  const server = await startServer({ fetch: parts.fetch, hostname: '127.0.0.1', port: 0, onFault });
  return {
    port: server.port,
    parts,
    faults,
    changes,
    async [Symbol.asyncDispose]() {
      await server.stop(0);
      parts.health.stop();
      client.close();
    },
  };
}
