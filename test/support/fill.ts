/** Many secrets of one account, stored through the core and the store without a server. */
import { systemRandom } from '../../src/crypto/random.ts';
import { readRootKeys } from '../../src/ops/root-key-file.ts';
import type { Store } from '../../src/store/store.ts';
import type { Ledger } from './ledger.ts';
import { createBench } from './service-bench.ts';
import type { Credentials } from './started-server.ts';

export interface Filling {
  readonly store: Store;
  readonly keysFile: string;
  readonly owner: Credentials;
  readonly ledger: Ledger;
  readonly secretCount: number;
}

const atOnce = 100;

export async function fillStore({ store, keysFile, owner, ledger, secretCount }: Filling): Promise<void> {
  const file = readRootKeys(keysFile);
  if (file.outcome !== 'read') throw new Error(`the key file is ${file.outcome}`);
  const { service, share } = createBench({ deps: { store, ring: file.ring, random: systemRandom } });
  const caller = await service.authenticate(owner.username, owner.token);
  if (caller === null) throw new Error('the account is not there');
  const storeOne = async () => {
    const entry = ledger.open();
    const { secretKey, metadataKey } = await share(entry.value, { caller });
    ledger.acknowledge(entry, { secretKey, metadataKey });
  };
  for (let left = secretCount; left > 0; left -= atOnce)
    await Promise.all(Array.from({ length: Math.min(atOnce, left) }, storeOne));
}
