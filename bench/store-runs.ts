/** `store.ts` in a process of its own, so that neither's memory is the other's. */
import { execFileSync } from 'node:child_process';
import { repositoryRoot } from '../test/support/started-server.ts';
import type { StoreFigures } from './store.ts';

export interface StoreSize {
  readonly liveSecrets: number;
  readonly seconds: number;
}

/** @param checkout whose store is measured, by its own `store.ts`: a store's interface is not fixed as the API is */
export function runStore({ liveSecrets, seconds }: StoreSize, checkout = repositoryRoot): StoreFigures {
  const text = execFileSync(process.execPath, ['bench/store.ts', String(liveSecrets), String(seconds)], {
    cwd: checkout,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 2],
  });
  return JSON.parse(text) as StoreFigures;
}
