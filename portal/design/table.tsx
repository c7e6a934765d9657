/**
 * Tables of rows. A table of the configuration shows each row as a stack of its cells on a phone.
 * Where rows open a page, `j` and `k` go down and up, Enter opens the row, and Escape selects none:
 * the selected row is in the address.
 */
import type { ReactNode } from "react";
import { useMessages } from "../language/language.tsx";
import { useKeys } from "../shell/keys.ts";
import { rowBelow } from "../shell/place.ts";
import { changeQuery, go, Link, usePlace } from "../shell/url.tsx";

type Column<Row> = readonly [
  heading: string,
  cell: (row: Row) => ReactNode,
  className?: string,
  title?: (row: Row) => string,
];

export type TableProps<Row> = {
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** `false` stands for a column that this user does not see. */
  readonly columns: readonly (Column<Row> | false)[];
  /** The screen that a click on the row opens. */
  readonly opens?: (row: Row) => string;
  readonly actions?: ((row: Row) => ReactNode) | false;
  readonly className?: string;
  /** The rows of the filters before, until those of the present ones are there. */
  readonly isOld?: boolean | undefined;
  /** In place of a table without rows. */
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
  const selected = usePlace().query.get("row");
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
              // The first two say of themselves what they are, unless the second is a number.
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

/** Of rows by their keys, each with the address that it opens. */
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

/** The name of a row, which may lead to its page, and a note beside it. */
export function Name({ name, to, note }: NameProps) {
  const text = <b>{name}</b>;
  return (
    <>
      {to === undefined ? text : <Link to={to}>{text}</Link>} {note && <small>{note}</small>}
    </>
  );
}
