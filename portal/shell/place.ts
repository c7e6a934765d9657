/**
 * An address of the portal, read and changed: the screen, its item, and in the query the filters,
 * the page and the selected row.
 */

export const root = "/portal/";

export type Place = {
  readonly screen: string;
  readonly item: string;
  readonly query: URLSearchParams;
};

export type QueryChange = Readonly<Record<string, string | undefined>>;

/** Of a path with its query. */
export function readPlace(address: string): Place {
  const { pathname, searchParams } = new URL(address, "http://portal");
  const [screen = "", item = ""] = pathname.replace(/^\/portal\/?/, "").split("/");
  return { screen, item: decodeURIComponent(item), query: searchParams };
}

/**
 * The path below the root with a changed query: what is not named stays as it is, and an empty
 * value removes the name.
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

/** The row so many below the selected one; the first and the last are not passed. */
export function rowBelow(rows: readonly string[], selected: string, by: number) {
  return rows[Math.max(0, Math.min(rows.length - 1, rows.indexOf(selected) + by))];
}
