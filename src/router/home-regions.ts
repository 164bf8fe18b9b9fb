/**
 * Finds an account's home region.
 *
 * Remembers a hash of the credentials under a key of this process, never the credentials. The memory grants nothing, because
 * a region checks them on every request: the one that it goes to, or, where that is not their home, their home when it is asked
 * here. Unknown credentials are never remembered, so a new account is found at once.
 */
import { createHmac } from 'node:crypto';
import type { RouterRegion } from './fleet.ts';

/** One region's answer to credentials. */
export type Recognition =
  | 'known'
  | 'unknown'
  /** It refuses to say: the client has failed too often there. */
  | 'withheld'
  | 'lost';

export type Home =
  | { readonly outcome: 'home'; readonly region: RouterRegion }
  /** No region knows them. */
  | { readonly outcome: 'stranger' }
  /** This region may know them and answers for itself. */
  | { readonly outcome: 'withheld'; readonly region: RouterRegion }
  /** No region that answered knows them, and this region did not answer. */
  | { readonly outcome: 'lost'; readonly region: RouterRegion };

export interface HomeRegionsDeps {
  /** In the operator's order, which decides between several. */
  readonly regions: readonly RouterRegion[];
  readonly ask: (region: RouterRegion, authorization: string, clientAddress: string) => Promise<Recognition>;
  /** 32 random bytes. */
  readonly key: Uint8Array;
  readonly nowMs: () => number;
  readonly maxEntries?: number;
  readonly keepMs?: number;
}

export interface HomeRegions {
  /** @param keeper where the request goes, because it names a key from there: asked first; `null` without a key */
  find(authorization: string, clientAddress: string, keeper: RouterRegion | null): Promise<Home>;
  /** The region no longer knows them. */
  forget(authorization: string): void;
}

interface Entry {
  readonly region: RouterRegion;
  readonly untilMs: number;
}

const usualEntries = 10_000;
const usualKeepMs = 300_000;

export function createHomeRegions(deps: HomeRegionsDeps): HomeRegions {
  const { regions, ask, key, nowMs, maxEntries = usualEntries, keepMs = usualKeepMs } = deps;
  const entries = new Map<string, Entry>();
  const searches = new Map<string, Promise<Home>>();
  const nameOf = (authorization: string) => createHmac('sha256', key).update(authorization).digest('base64');

  const recall = (name: string): RouterRegion | null => {
    const entry = entries.get(name);
    if (entry === undefined) return null;
    entries.delete(name);
    if (entry.untilMs <= nowMs()) return null;
    // Reinserted last, because the least recently used entry makes room first.
    entries.set(name, entry);
    return entry.region;
  };
  const remember = (name: string, region: RouterRegion) => {
    for (const oldest of entries.keys()) {
      if (entries.size < maxEntries) break;
      entries.delete(oldest);
    }
    entries.set(name, { region, untilMs: nowMs() + keepMs });
  };
  const search = async (
    name: string,
    authorization: string,
    clientAddress: string,
    keeper: RouterRegion | null,
  ): Promise<Home> => {
    const askOne = async (region: RouterRegion) => ({
      region,
      says: await ask(region, authorization, clientAddress),
    });
    // Most keys are of the account's own region, and then no other one is needed.
    const said = keeper === null ? [] : [await askOne(keeper)];
    if (said[0]?.says !== 'known')
      said.push(...(await Promise.all(regions.filter((region) => region !== keeper).map(askOne))));
    const first = (says: Recognition) => said.find((one) => one.says === says)?.region;
    const home = first('known');
    if (home !== undefined) {
      remember(name, home);
      return { outcome: 'home', region: home };
    }
    const [withheld, lost] = [first('withheld'), first('lost')];
    if (withheld !== undefined) return { outcome: 'withheld', region: withheld };
    return lost === undefined ? { outcome: 'stranger' } : { outcome: 'lost', region: lost };
  };
  return {
    async find(authorization, clientAddress, keeper) {
      const name = nameOf(authorization);
      const home = recall(name);
      if (home !== null) {
        const isAbroad = keeper !== null && keeper !== home;
        const says = isAbroad ? await ask(home, authorization, clientAddress) : 'known';
        if (says !== 'unknown') return { outcome: says === 'known' ? 'home' : says, region: home };
        entries.delete(name);
      }
      // Concurrent requests ask once.
      const running = searches.get(name) ?? search(name, authorization, clientAddress, keeper);
      searches.set(name, running);
      return running.finally(() => searches.delete(name));
    },
    forget: (authorization) => void entries.delete(nameOf(authorization)),
  };
}
