/** What was just shared, as JSON has it. */
import type { Created, Generated } from '../../sdk/mayfly.ts';
import { receiptAddress } from './client.ts';
import { remarksJsonOf } from './receipts.ts';

/** Over the addresses of several receipts. */
export const receiptsFollow =
  'Each opens once. Watch or burn them at these addresses, and keep those to yourself:\n';

export function createdJsonOf(created: Created | Generated, server: string) {
  return {
    link: created.link,
    secret_key: created.secretKey,
    metadata_key: created.metadataKey,
    receipt: receiptAddress(server, created.metadataKey),
    ttl: created.ttlSeconds,
    sealed: created.isSealed,
    created: created.createdAt.getTime() / 1000,
    ...(created.repeated && { repeated: true, state: created.state }),
    ...('value' in created ? { value: created.value } : {}),
    ...remarksJsonOf(created),
  };
}
