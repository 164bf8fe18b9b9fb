/** All columns but the sealed bytes, which are read only if needed. */
export const secretColumns = 'r.row_version, r.owner, r.created_at, r.expires_at, r.marks, r.share_domain';

const textOf = (id: Uint8Array): string => Buffer.from(id).toString('latin1');

/** Returns each ask's row, or `null`. Statements return rows in any order, one for each ask whose id is known. */
export function rowsInOrderOf<Ask, Row extends { readonly asked_id: Uint8Array }>(
  asks: readonly Ask[],
  idOf: (ask: Ask) => Uint8Array,
  rows: readonly Row[],
): (Row | null)[] {
  const byId = Map.groupBy(rows, (row) => textOf(row.asked_id));
  return asks.map((ask) => byId.get(textOf(idOf(ask)))?.pop() ?? null);
}
