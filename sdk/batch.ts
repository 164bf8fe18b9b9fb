/** Many secrets with one request. */
import type { ConcealOptions, CreateOptions, GenerateOptions } from './creation.ts';
import type { MayflyError } from './error.ts';
import type { Json } from './json.ts';
import { type CallOptions, withinOneLimit } from './limit.ts';
import { creationCall, type Prepared, prepareConceal, prepareGenerate } from './preparing.ts';
import type { Created, Generated, WireBatch } from './records.ts';
import type { Connection } from './transport.ts';
import { listAt, type Raw, unexpected } from './wire.ts';

export interface BatchOptions extends CallOptions, Pick<CreateOptions, 'idempotencyKey'> {}

type OfCall = keyof BatchOptions;
type Item<Options> = Options extends unknown ? Omit<Options, OfCall> : never;

/** What `conceal` takes, or what `generate` does; what belongs to the call is given once. */
export type BatchItem =
  | (Item<ConcealOptions> & { readonly generate?: undefined })
  | { readonly generate: Item<GenerateOptions> };

/** In place of one that was not created. */
export type BatchResult = Created | Generated | MayflyError;

async function prepare(
  connection: Connection,
  item: BatchItem,
): Promise<Prepared<Created | Generated> & { readonly sent: Json }> {
  if (item.generate === undefined) {
    const prepared = await prepareConceal(connection, item as ConcealOptions);
    return { ...prepared, sent: prepared.fields };
  }
  const prepared = await prepareGenerate(connection, item.generate);
  return { ...prepared, sent: prepared.isDrawn ? { generate: prepared.fields } : prepared.fields };
}

export async function batch(
  connection: Connection,
  items: readonly BatchItem[],
  options: BatchOptions,
): Promise<readonly BatchResult[]> {
  if (items.length === 0) return [];
  return withinOneLimit(connection.timeoutMs, options, async (own) => {
    const prepared: Awaited<ReturnType<typeof prepare>>[] = [];
    // One after the other: a passphrase takes 19 MiB.
    for (const item of items) prepared.push(await prepare(connection, item));
    const body = { secrets: prepared.map(({ sent }) => sent) };
    const answer: Raw<WireBatch> = await connection.call(
      creationCall('batch', body, options, connection),
      own,
    );
    const results = listAt(answer, 'results');
    if (results.length !== prepared.length) throw unexpected();
    return prepared.map(({ read }, n) => {
      const result = results[n] ?? {};
      return result.success === true ? read(result) : connection.problemOf(result);
    });
  });
}
