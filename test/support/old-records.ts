/** Records as they were stored under version 1 of the envelope, which the product only reads. */
import { randomBytes } from 'node:crypto';
import type { StoredReceipt } from '../../src/core/secret.ts';
import type { ServiceParts } from '../../src/core/secrets/service.ts';
import { hex, utf8 } from '../../src/crypto/bytes.ts';
import * as reference from '../vectors/reference.ts';
import type { Bench } from './service-bench.ts';

type Sealed = Pick<StoredReceipt, 'creatorBox'> & { readonly sealedSecret: Uint8Array };

export interface OldRecord {
  readonly secretKey: string;
  readonly metadataKey: string;
  readonly value: string;
  /** The recipient's; `''` for none. */
  readonly address: string;
}

/** A store's wrap, and what turns a record without passphrase in that store into one of version 1. */
export function createOldRecords() {
  const old = new Map<string, Sealed>();

  function wrap(store: ServiceParts['store']): ServiceParts['store'] {
    return {
      ...store,
      async findSecret(id) {
        const found = await store.findSecret(id);
        return found && { ...found, sealedSecret: old.get(hex(id))?.sealedSecret ?? found.sealedSecret };
      },
      async findReceipt(...args) {
        const found = await store.findReceipt(...args);
        if (found === null || found.sealedSecret === null) return found;
        return { ...found, ...old.get(hex(found.secretId)) };
      },
    };
  }

  function turnOld(bench: Bench, { secretKey, metadataKey, value, address }: OldRecord): void {
    const secretId = hex(reference.secretIdOf(secretKey));
    const record = bench.records.find((each) => hex(each.secretId) === secretId);
    if (record === undefined) throw new Error('no such record was stored');
    const { kid, key } = bench.deps.ring.current;
    const root = { kid, key: Buffer.from(key) };
    const sealedSecret = reference.version1.sealRow({
      secretKey,
      value: Buffer.from(value),
      passphrase: null,
      r: randomBytes(32),
      r2: randomBytes(32),
      root: root.key,
      kid,
      context: record,
    });
    const binding = Buffer.from(record.receiptId);
    const content = Buffer.from(utf8(secretKey + address));
    const box = reference.sealBox('creator', Buffer.from(metadataKey), binding, content, randomBytes(32));
    const creatorBox = reference.version1.wrapCreatorBox(box, binding, root, randomBytes(32));
    old.set(secretId, { sealedSecret: new Uint8Array(sealedSecret), creatorBox: new Uint8Array(creatorBox) });
  }

  return { wrap, turnOld };
}
