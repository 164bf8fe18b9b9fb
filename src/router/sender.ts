/**
 * A request to a region, whichever of its servers answers.
 *
 * Owns: trying the servers of one region. Invariant: what can have been carried out is sent to no second server unless it
 * changes nothing; a server that takes no connection counts as lost at once.
 */
import type { Fleet, RouterRegion } from './fleet.ts';
import type { HealthWatch } from './health-watch.ts';
import { type Hop, type HopRequest, isSafe, type RegionServer } from './hop.ts';

export type Sent =
  | { readonly outcome: 'answered'; readonly response: Response }
  /** No server took it: nothing was done. */
  | { readonly outcome: 'lost' }
  /** A server took it and gave no answer. */
  | { readonly outcome: 'unknown' }
  /** The client is gone. */
  | { readonly outcome: 'left' };

export type Send = (region: RouterRegion, request: HopRequest) => Promise<Sent>;

export interface SenderDeps {
  readonly fleet: Fleet;
  readonly hop: Hop;
  readonly check: HealthWatch['check'];
}

export function createSender({ fleet, hop, check }: SenderDeps): Send {
  return async (region, request) => {
    let isUnknown = false;
    for (const server of tries(fleet.inTurn(region), isSafe(request.method))) {
      const sent = await hop(server, request);
      if (sent.outcome === 'answered' || sent.outcome === 'left') return sent;
      if (sent.outcome === 'not_sent') {
        fleet.note(server, false);
        continue;
      }
      void check(server);
      if (!isSafe(request.method)) return { outcome: 'unknown' };
      isUnknown = true;
    }
    return { outcome: isUnknown ? 'unknown' : 'lost' };
  };
}

/** Each server once; a lone one a second time for what changes nothing, because a kept connection may have just ended. */
function tries(servers: readonly RegionServer[], isRepeatable: boolean): readonly RegionServer[] {
  return isRepeatable && servers.length === 1 ? [...servers, ...servers] : servers;
}
