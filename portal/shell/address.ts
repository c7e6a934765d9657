/**
 * Reads and changes a URL of the portal. It names the screen and its item, and its query has the
 * filters, the page and the selected row.
 */

export const root = "/portal/";

export type Address = {
  readonly screen: string;
  readonly item: string;
  readonly query: URLSearchParams;
};

export type QueryChange = Readonly<Record<string, string | undefined>>;

export function readAddress(address: string): Address {
  const { pathname, searchParams } = new URL(address, "http://portal");
  const [screen = "", item = ""] = pathname.replace(/^\/portal\/?/, "").split("/");
  return { screen, item: decodeURIComponent(item), query: searchParams };
}

/**
 * Returns the changed URL below the portal's root. Parameters that the change does not name stay as
 * they are. A parameter with an empty value is removed.
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

/** Beyond an end of the list, returns the first or the last row. */
export function rowBelow(rows: readonly string[], selected: string, by: number) {
  return rows[Math.max(0, Math.min(rows.length - 1, rows.indexOf(selected) + by))];
}
