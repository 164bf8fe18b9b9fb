/**
 * Finds an account's home region. The cache stores only a hash of the credentials, under a key that this process keeps to itself. A cached
 * entry grants nothing: every request's credentials are checked by the target region or, if that is not their home, by their home via
 * `ask`. Unknown credentials are not cached, so a new account works immediately.
 */
import { createHmac } from 'node:crypto';
import type { RouterRegion } from './fleet.ts';

export type Recognition =
  | 'known'
  | 'unknown'
  /** The region refused to check: this client has failed there too often. */
  | 'withheld'
  | 'lost';

export type Home =
  | { readonly outcome: 'home'; readonly region: RouterRegion }
  | { readonly outcome: 'stranger' }
  /** This region would not check the credentials but may know them, so the request goes there. */
  | { readonly outcome: 'withheld'; readonly region: RouterRegion }
  /** No region that responded knows the credentials, and this one did not respond. */
  | { readonly outcome: 'lost'; readonly region: RouterRegion };

export interface HomeRegionsDeps {
  /** In the operator's order; the first match wins. */
  readonly regions: readonly RouterRegion[];
  readonly ask: (region: RouterRegion, authorization: string, clientAddress: string) => Promise<Recognition>;
  readonly key: Uint8Array;
  readonly nowMs: () => number;
  readonly maxEntries?: number;
  readonly keepMs?: number;
}

export interface HomeRegions {
  /** @param keeper the region that the request's key belongs to, asked first; `null` if it has no key */
  find(authorization: string, clientAddress: string, keeper: RouterRegion | null): Promise<Home>;
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
    // Reinsert it at the end, so that the least recently used entry is evicted first.
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
    // Most keys belong to the account's own region, so usually no other region is asked.
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
      // Concurrent requests share one search.
      const running = searches.get(name) ?? search(name, authorization, clientAddress, keeper);
      searches.set(name, running);
      return running.finally(() => searches.delete(name));
    },
    forget: (authorization) => void entries.delete(nameOf(authorization)),
  };
}
