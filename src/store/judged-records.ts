/**
 * Records judged by store time, the same for every store (P8): while the wall clock is in doubt, nothing is erased, and what
 * has expired by one clock only is neither released nor called gone.
 */
import type { SecretStore } from '../core/ports.ts';
import type { StoreTime } from './store-time.ts';

/** @param records gives out every secret and receipt that has not expired by `time.earliest()` */
export function judgeByStoreTime(records: SecretStore, time: StoreTime): SecretStore {
  return {
    ...records,
    async findSecret(id) {
      const secret = await records.findSecret(id);
      return secret !== null && time.isLive(secret) ? secret : null;
    },
    claim: async (target, isAbandoned) => (time.isLive(target) ? records.claim(target, isAbandoned) : 'gone'),
    async findReceipt(id) {
      const receipt = await records.findReceipt(id);
      if (receipt === null) return null;
      const { createdAt, receiptExpiresAt } = receipt;
      if (receipt.state === 'waiting') time.assertProven(receipt);
      time.assertProven({ createdAt, expiresAt: receiptExpiresAt });
      return receipt;
    },
    sweep: async (limit) => (time.maySweep() ? records.sweep(limit) : 0),
  };
}
