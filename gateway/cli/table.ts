/**
 * Prints tables for people within the width of a terminal. Columns that do not fit are printed
 * below their row with their names, without empty values. A value that is longer than a line is not
 * broken, so that it can be copied.
 */
import type { Lines } from "../administration/session.ts";

/** The width of a line in columns. */
const lineWidth = 100;
const between = "  ";
const indent = "    ";

export function formatTable(rows: readonly Lines[]): readonly string[] {
  const names = Object.keys(rows[0] ?? {});
  const cellsOf = (row: Lines) => names.map((name) => String(row[name] ?? ""));
  const cells = [names.map(inWords), ...rows.map(cellsOf)];
  const columns = names.map((name, at) => ({
    name: inWords(name),
    at,
    width: Math.max(...cells.map((row) => row[at]?.length ?? 0)),
  }));
  const fitting = chooseFitting(columns);
  const others = columns.filter((column) => !fitting.includes(column));
  return cells.flatMap((row, line) => {
    const padded = fitting.map(({ at, width }) => (row[at] ?? "").padEnd(width));
    const named = others
      .filter(({ at }) => line > 0 && row[at] !== "")
      .map(({ name, at }) => `${name}: ${row[at]}`);
    return [padded.join(between).trimEnd(), ...pack(named)];
  });
}

/**
 * Returns a name as people read it: `client order id` for `clientOrderId`. Other names stay as they
 * are.
 */
export function inWords(name: string): string {
  if (!/^[a-z]+(?:[A-Z][a-z]+)+$/.test(name)) return name;
  return name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/** Returns the first columns that fit into a line. */
function chooseFitting<Column extends { readonly width: number }>(columns: readonly Column[]) {
  const fitting: Column[] = [];
  let left = lineWidth + between.length;
  for (const column of columns) {
    const needed = column.width + between.length;
    if (needed > left) continue;
    fitting.push(column);
    left -= needed;
  }
  return fitting;
}

/** Puts as many texts into each line as fit. */
function pack(texts: readonly string[]): readonly string[] {
  const lines: string[] = [];
  for (const text of texts) {
    const longer = `${lines.at(-1)}${between}${text}`;
    if (lines.length > 0 && longer.length <= lineWidth) lines[lines.length - 1] = longer;
    else lines.push(`${indent}${text}`);
  }
  return lines;
}
