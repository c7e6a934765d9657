/**
 * Reads and changes an address of the portal: the screen, its item, and in the query the filters,
 * the page and the selected row.
 */

export const root = "/portal/";

export type Address = {
  readonly screen: string;
  readonly item: string;
  readonly query: URLSearchParams;
};

export type QueryChange = Readonly<Record<string, string | undefined>>;

/** Reads a path with its query. */
export function readAddress(address: string): Address {
  const { pathname, searchParams } = new URL(address, "http://portal");
  const [screen = "", item = ""] = pathname.replace(/^\/portal\/?/, "").split("/");
  return { screen, item: decodeURIComponent(item), query: searchParams };
}

/**
 * Returns the path below the root with a changed query. Parameters that the change does not name
 * stay, and an empty value removes a parameter.
 */
export function changeAddress(
  { pathname, search }: Pick<Location, "pathname" | "search">,
  change: QueryChange,
): string {
  const query = new URLSearchParams(search);
  for (const [name, value = ""] of Object.entries(change)) {
    if (value === "") query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString().replaceAll("%2C", ",");
  return pathname.slice(root.length) + (text && `?${text}`);
}

/**
 * Returns the row that is `by` rows below the selected one. At the ends of the list it returns the
 * first or last row.
 */
export function rowBelow(rows: readonly string[], selected: string, by: number) {
  return rows[Math.max(0, Math.min(rows.length - 1, rows.indexOf(selected) + by))];
}
