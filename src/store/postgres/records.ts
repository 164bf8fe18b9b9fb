/** Secrets and receipts. */
import type { SecretStore } from '../../core/ports.ts';
import type { Engine } from './engine.ts';
import { decision } from './statement.ts';

const insertRecord = decision(`
  INSERT INTO records (secret_id, receipt_id, owner, created_at, expires_at, receipt_expires_at, sweep_at, marks, share_domain, sealed_secret)
  VALUES ($3, $4, $5, $6, $7, $8, $7, 0, $9, $10)`);

export function createRecordStore(engine: Engine): Pick<SecretStore, 'put'> {
  return {
    async put(r) {
      await engine.decide(insertRecord, [
        r.secretId,
        r.receiptId,
        r.owner,
        r.createdAt,
        r.expiresAt,
        r.receiptExpiresAt,
        r.shareDomain,
        r.sealedSecret,
      ]);
    },
  };
}
