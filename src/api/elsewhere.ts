/** Tells callers with another region's key where to ask. The hint comes from the key's format alone, without a lookup (P17). */
import { z } from 'zod';
import { type Region, type RegionLabel, regionElsewhere } from '../core/keys.ts';
import type { Operation } from '../http/operation.ts';

export const hint = z
  .string()
  .optional()
  .meta({
    description: 'Where to ask instead, if the key is that of another region.',
    examples: ['The key is of the region eu: ask https://eu.example.com'],
  });

type Body = Readonly<Record<string, unknown>>;

const unknown: ReadonlySet<unknown> = new Set(['Unknown secret', 'Unknown request']);

const isBody = (value: unknown): value is Body => typeof value === 'object' && value !== null;

export function sayElsewhere(
  operations: readonly Operation[],
  { region: own, regions }: { readonly region: RegionLabel | null; readonly regions: readonly Region[] },
): readonly Operation[] {
  if (own === null) return operations;

  function withHint<T>(body: T): T {
    if (!isBody(body) || !(unknown.has(body.message) || body.state === 'unknown')) return body;
    const key = body.request_key ?? body.secret_key ?? body.metadata_key ?? body.key;
    const region = typeof key === 'string' ? regionElsewhere(key, own, regions) : null;
    if (region === null) return body;
    return { ...body, hint: `The key is of the region ${region.label}: ask ${region.baseUrl}` };
  }

  function withHints(body: unknown): unknown {
    if (!isBody(body)) return body;
    const { record, records } = body;
    if (Array.isArray(records)) return { ...body, records: records.map(withHint) };
    return isBody(record) && record.state === 'unknown'
      ? { ...body, record: withHint(record) }
      : withHint(body);
  }

  return operations.map((operation) => ({
    ...operation,
    async handle(...given) {
      const reply = await operation.handle(...given);
      return { ...reply, body: withHints(reply.body) };
    },
  }));
}
