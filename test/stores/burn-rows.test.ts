/** Who burned a secret, in the files of the embedded store: the row keeps its size, and stores of earlier versions say nothing of it. */
import { Database } from 'bun:sqlite';
import { describe, expect, it } from 'bun:test';
import { join } from 'node:path';
import type { NewRecord } from '../../src/core/secret.ts';
import type { SqliteStore } from '../../src/store/sqlite/store.ts';
import { clientStays, found, putNew } from './conformance/check.ts';
import { useStoreFolder } from './store-folder.ts';

const { current, open, valuesOf } = useStoreFolder();

const burns: ReadonlyArray<[string, (store: SqliteStore, record: NewRecord) => Promise<unknown>]> = [
  ['creator', (store, { receiptId }) => store.burn(receiptId, clientStays)],
  ['recipient', async (store, { secretId }) => store.burnFound(await found(store, secretId), clientStays)],
];

/** Bytes that SQLite takes for a value in a row (https://sqlite.org/fileformat2.html#record_format). */
function widthOf(value: unknown): number {
  if (value === null) return 0;
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (value instanceof Uint8Array) return value.length;
  const whole = Number(value);
  if (whole === 0 || whole === 1) return 0;
  return [1, 2, 3, 4, 6].find((bytes) => Math.abs(whole) < 2 ** (8 * bytes - 1)) ?? 8;
}

const widths = () => valuesOf('SELECT * FROM records ORDER BY position').map((row) => row.map(widthOf));

function change(sql: string): void {
  using db = new Database(join(current.directory, 'mayfly.db'), { readwrite: true });
  db.run(sql);
}

describe.each(burns)('a burn by the %s', (burner, burn) => {
  it('P10: leaves the row as long as it was, column by column', async () => {
    await using store = await open();
    const record = await putNew(store, { deliveryStaleAt: store.now() + 60 });
    const before = widths();
    current.wallClock.advance(7);
    await burn(store, record);
    expect((await store.findReceipt(record.receiptId))?.burnedBy).toBe(burner as never);
    expect(widths()).toEqual(before);
  });

  it('leaves what became of the mail as it was', async () => {
    await using store = await open();
    for (const deliveryStaleAt of [null, store.now() + 60]) {
      const record = await putNew(store, { deliveryStaleAt });
      const before = await store.findReceipt(record.receiptId);
      await burn(store, record);
      expect((await store.findReceipt(record.receiptId))?.delivery).toEqual(before?.delivery ?? null);
    }
  });

  it('names nobody where an earlier version wrote it: that leaves the time of creation there', async () => {
    await using store = await open();
    const record = await putNew(store);
    await burn(store, record);
    change('UPDATE records SET delivery_at = created_at');
    expect(await store.findReceipt(record.receiptId)).toMatchObject({ state: 'burned', burnedBy: null });
  });

  it('keeps a mail noted in the record itself, by the first versions, from lying in the future', async () => {
    await using store = await open();
    const record = await putNew(store, { deliveryStaleAt: store.now() + 60 });
    change("UPDATE records SET delivery = 'a', delivery_at = created_at + 1");
    change('DELETE FROM deliveries');
    const at = record.createdAt + 1;
    expect((await store.findReceipt(record.receiptId))?.delivery).toMatchObject({ state: 'accepted', at });
    current.wallClock.advance(5);
    await burn(store, record);
    const { delivery, endedAt, burnedBy } = (await store.findReceipt(record.receiptId)) ?? {};
    expect(delivery).toMatchObject({ state: 'accepted', at: endedAt ?? 0 });
    expect(burnedBy).toBe(burner as never);
  });
});
