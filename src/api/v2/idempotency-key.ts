/** API v2: the `Idempotency-Key` header. `core/secrets/idempotency.ts` explains the rule. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Caller } from '../../core/account.ts';
import type { TokenCaller } from '../../core/secrets/idempotency.ts';
import type { Idempotency } from '../../core/secrets/outcomes.ts';
import type { Exchange } from '../../http/operation.ts';
import { invalidFields } from './wire.ts';

const idempotencyHeader = 'Idempotency-Key';

/** Visible ASCII and spaces, which every proxy forwards unchanged. Commas are excluded because they join repeated headers. */
const keyForm = /^[\x20-\x2b\x2d-\x7e]{1,255}$/;

export const creationHeaders = z.object({
  [idempotencyHeader]: z
    .string()
    .optional()
    .meta({
      description:
        'Makes retries safe: for 24 hours, equal requests of one API token with one key create one secret and answer the same ' +
        'keys. 1 to 255 characters of ASCII without a comma, a random one for each secret. Ignored without an API token.',
    }),
});

export const repeated = z
  .literal(true)
  .optional()
  .meta({
    description: `An earlier request with this ${idempotencyHeader} created it: the record shows its state now, and no mail was sent.`,
  });

/** A repeatable creation by a caller with an API token. */
export interface Once {
  readonly caller: TokenCaller;
  readonly idempotency: Idempotency;
}

export interface ReadKey {
  /** `null` if no key was given or it is ignored. */
  readonly once: Once | null;
  /** The header's name if it was ignored; otherwise empty. */
  readonly ignored: readonly string[];
}

/** @throws RequestProblem if the key is too long, empty or not ASCII, or if two keys were sent */
export async function readKey(exchange: Exchange, caller: Caller): Promise<ReadKey> {
  const { request, path } = exchange;
  const key = request.headers.get('idempotency-key');
  if (key === null) return { once: null, ignored: [] };
  if (caller.kind !== 'account' || caller.apiToken === null)
    return { once: null, ignored: [idempotencyHeader] };
  if (!keyForm.test(key))
    throw invalidFields({
      field: idempotencyHeader,
      message: 'Must be one key, of 1 to 255 characters of ASCII without a comma',
    });
  const { apiToken } = caller;
  const bodyHash = new Uint8Array(
    createHash('sha256')
      .update(await exchange.body())
      .digest(),
  );
  const idempotency = { key, index: 0, request: { target: `${request.method} ${path}`, bodyHash } };
  return { once: { caller: { ...caller, apiToken }, idempotency }, ignored: [] };
}
