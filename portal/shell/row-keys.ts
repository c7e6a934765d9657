/**
 * The keys of a list: `j` and `k` go down and up, Enter opens the row, Escape selects none. The
 * selected row is in the address.
 */
import { useKeys } from "./keys.ts";
import { rowBelow } from "./place.ts";
import { changeQuery, go } from "./url.tsx";

export type RowList = {
  /** A row's page is at `<screen>/<row>`. */
  readonly screen: string;
  readonly rows: readonly string[];
  /** The id of the field that `/` goes to. */
  readonly search?: string;
};

export function useRowKeys({ screen, rows, search }: RowList): void {
  const selected = () => new URLSearchParams(location.search).get("row") ?? "";
  const move = (by: number) => {
    const row = rowBelow(rows, selected(), by);
    changeQuery({ row }, { replaces: true });
    document.querySelector(`[data-row="${row}"]`)?.scrollIntoView({ block: "nearest" });
  };
  const open = () => {
    if (rows.includes(selected())) go(`${screen}/${selected()}`);
  };
  useKeys([
    ...(search === undefined
      ? []
      : [["/", () => document.getElementById(search)?.focus()] as const]),
    ["j", () => move(1)],
    ["k", () => move(-1)],
    ["Enter", open],
    ["Escape", () => changeQuery({ row: undefined }, { replaces: true })],
  ]);
}

/** Of a row's element; `selected` is the address's. */
export function rowMarks(row: string, selected: string | null) {
  return { "data-row": row, "data-selected": row === selected || undefined };
}
