/**
 * Tables of rows. If rows open a page, `j` and `k` move the selection down and up, Enter opens the
 * selected row, and Escape removes the selection. The selected row is in the URL.
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
  /** `false` stands for a column that the user may not see. */
  readonly columns: readonly (Column<Row> | false)[];
  /** Returns the path of the screen that a click on the row opens. */
  readonly opens?: (row: Row) => string;
  readonly actions?: ((row: Row) => ReactNode) | false;
  readonly className?: string;
  /** Whether the rows still match the previous filters, because new rows have not arrived. */
  readonly isOld?: boolean | undefined;
  /** Shown instead of a table without rows. */
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
              // On a phone, the first cell has no heading, and the second only if it is a number.
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

/** `rows` maps the id of each row to the path of the page that the row opens. */
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

/** The name is a link if the row has a page. */
export function Name({ name, to, note }: NameProps) {
  const text = <b>{name}</b>;
  return (
    <>
      {to === undefined ? text : <Link to={to}>{text}</Link>} {note && <small>{note}</small>}
    </>
  );
}
