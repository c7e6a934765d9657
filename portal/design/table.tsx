/** A table of the configuration; on a phone each row is a stack of its cells. */
import type { ReactNode } from "react";
import { useConfigurationMessages } from "../language/language.tsx";
import { go, Link } from "../shell/url.tsx";

type Column<Row> = readonly [heading: string, cell: (row: Row) => ReactNode, className?: string];

type TableProps<Row> = {
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** `false` stands for a column that this user does not see. */
  readonly columns: readonly (Column<Row> | false)[];
  /** The screen that a click on the row opens. */
  readonly opens?: (row: Row) => string;
  readonly actions?: ((row: Row) => ReactNode) | false;
};

export function StackedTable<Row>({ rows, keyOf, columns, opens, actions }: TableProps<Row>) {
  const { does } = useConfigurationMessages();
  const shown = columns.filter((column) => column !== false);
  return (
    <table className={opens === undefined ? "rows stacked still" : "rows stacked"}>
      <TableHead
        columns={shown.map(([heading, , cells = ""]) => [heading, /number|time/.exec(cells)?.[0]])}
        actions={actions && does}
      />
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)} {...(opens && { onClick: () => go(opens(row)) })}>
            {shown.map(([heading, cell, className], at) => (
              // The first two say of themselves what they are.
              <td key={heading} className={className} {...(at > 1 && { "data-name": heading })}>
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

type Heading = string | readonly [heading: string, className: string | undefined];

type HeadProps = {
  /** `false` stands for a column that this user does not see. */
  readonly columns: readonly (Heading | false)[];
  /** What the last column does, which has no heading. */
  readonly actions?: string | false | undefined;
};

export function TableHead({ columns, actions }: HeadProps) {
  const shown = columns.filter((column) => column !== false);
  return (
    <thead>
      <tr>
        {shown.map((column) => {
          const [heading, className] = typeof column === "string" ? [column] : column;
          return (
            <th scope="col" key={heading} className={className}>
              {heading}
            </th>
          );
        })}
        {actions && <th scope="col" aria-label={actions} />}
      </tr>
    </thead>
  );
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
