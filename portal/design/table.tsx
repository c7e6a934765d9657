/**
 * Tables of rows. On a phone, a table of settings shows the cells of each row one below the other.
 * If rows open a page, `j` and `k` move the selection down and up, Enter opens the selected row,
 * and Escape removes the selection. The selected row is in the address.
 */
import type { ReactNode } from "react";
import { useMessages } from "../language/language.tsx";
import { rowBelow } from "../shell/address.ts";
import { useKeys } from "../shell/keys.ts";
import { changeQuery, go, Link, useAddress } from "../shell/url.tsx";

type Column<Row> = readonly [
  heading: string,
  cell: (row: Row) => ReactNode,
  className?: string,
  title?: (row: Row) => string,
];

export type TableProps<Row> = {
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** The columns. `false` stands for a column that the user may not see. */
  readonly columns: readonly (Column<Row> | false)[];
  /** Returns the path of the screen that a click on the row opens. */
  readonly opens?: (row: Row) => string;
  readonly actions?: ((row: Row) => ReactNode) | false;
  readonly className?: string;
  /**
   * Whether the rows are still those of the previous filters, because the rows of the new ones have
   * not arrived.
   */
  readonly isOld?: boolean | undefined;
  /** The text that is shown instead of a table without rows. */
  readonly none?: string;
};

export function Table<Row>({
  rows,
  keyOf,
  columns,
  opens,
  actions,
  none,
  ...given
}: TableProps<Row>) {
  const { action } = useMessages().fields;
  const selected = useAddress().query.get("row");
  const shown = columns.filter((column) => column !== false);
  const { className = opens ? "rows stacked" : "rows stacked still", isOld = false } = given;
  useKeys(opens === undefined ? [] : keysOf(new Map(rows.map((row) => [keyOf(row), opens(row)]))));
  if (rows.length === 0 && none !== undefined) return <p className="quiet">{none}</p>;
  return (
    <table className={className} aria-busy={isOld}>
      <thead>
        <tr>
          {shown.map(([heading, , cells = ""]) => (
            <th scope="col" key={heading} className={/number|time|minor|type/.exec(cells)?.[0]}>
              {heading}
            </th>
          ))}
          {actions && <th scope="col" aria-label={action} />}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr
            key={keyOf(row)}
            {...(opens && { onClick: () => go(opens(row)), "data-row": keyOf(row) })}
            data-selected={keyOf(row) === selected || undefined}
          >
            {shown.map(([heading, cell, cells = "", title], at) => (
              // Where a phone shows the cells of a row one below the other, the first two have no
              // heading, unless the second is a number.
              <td
                key={heading}
                className={cells}
                title={title?.(row)}
                {...(at > (cells.includes("number") ? 0 : 1) && { "data-name": heading })}
              >
                {cell(row)}
              </td>
            ))}
            {actions && <td className="row-actions">{actions(row)}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/**
 * Returns the keyboard shortcuts that select and open rows. `rows` has the address of each row by
 * the row's key.
 */
function keysOf(rows: ReadonlyMap<string, string>) {
  const selected = () => new URLSearchParams(location.search).get("row") ?? "";
  const select = (row: string | undefined) => changeQuery({ row }, { replaces: true });
  const move = (by: number) => {
    const row = rowBelow([...rows.keys()], selected(), by);
    select(row);
    document.querySelector(`[data-row="${row}"]`)?.scrollIntoView({ block: "nearest" });
  };
  const open = () => {
    const address = rows.get(selected());
    if (address !== undefined) go(address);
  };
  return [
    ["j", () => move(1)],
    ["k", () => move(-1)],
    ["Enter", open],
    ["Escape", () => select(undefined)],
  ] as const;
}

type NameProps = {
  readonly name: string | undefined;
  readonly to?: string;
  readonly note?: string | false | undefined;
};

/** The name of a row, as a link if the row has a page, and a note beside it. */
export function Name({ name, to, note }: NameProps) {
  const text = <b>{name}</b>;
  return (
    <>
      {to === undefined ? text : <Link to={to}>{text}</Link>} {note && <small>{note}</small>}
    </>
  );
}
