/**
 * A table that becomes a list of cards where there is no room.
 *
 * Owns: its markup. Invariants: the roles are written out, because some browsers drop them when the style shows rows as
 * blocks; in a card every value stands below the name of its column.
 */
import type { FC } from 'hono/jsx';

type Cell = ReturnType<FC> | string;

export interface TableProps {
  readonly caption: string;
  /** Whether the caption is only for screen readers, because a heading says the same. */
  readonly captionIsHidden?: boolean;
  /** The names of the columns; `''` for one of buttons. */
  readonly columns: readonly string[];
  /** A cell for each column; the first names its row. */
  readonly rows: readonly (readonly Cell[])[];
}

// Spread, because where the roles are lost they are not redundant.
const roles = {
  table: { role: 'table' },
  rowgroup: { role: 'rowgroup' },
  row: { role: 'row' },
  cell: { role: 'cell' },
  columnheader: { role: 'columnheader' },
  rowheader: { role: 'rowheader' },
} as const;

export const Table: FC<TableProps> = ({ caption, captionIsHidden = false, columns, rows }) => (
  <table class="table" {...roles.table}>
    <caption class={captionIsHidden ? 'visually-hidden' : undefined}>{caption}</caption>
    <thead {...roles.rowgroup}>
      <tr {...roles.row}>
        {columns.map((column) =>
          column === '' ? (
            <td {...roles.cell} />
          ) : (
            <th {...roles.columnheader} scope="col">
              {column}
            </th>
          ),
        )}
      </tr>
    </thead>
    <tbody {...roles.rowgroup}>
      {rows.map((cells) => (
        <tr {...roles.row}>
          {cells.map((cell, at) => (
            <TableCell cell={cell} label={columns[at] ?? ''} isFirst={at === 0} />
          ))}
        </tr>
      ))}
    </tbody>
  </table>
);

const TableCell: FC<{ cell: Cell; label: string; isFirst: boolean }> = ({ cell, label, isFirst }) => {
  const labelled = label === '' ? {} : { 'data-label': label };
  return isFirst ? (
    <th {...roles.rowheader} scope="row" {...labelled}>
      {cell}
    </th>
  ) : (
    <td {...roles.cell} {...labelled}>
      {cell}
    </td>
  );
};
