/**
 * Reads the query of the orders screen from its URL: the search, the filters, the dates and the
 * page. A date in the URL means a day in the zone of the user's browser.
 */
import { type InputOf, type OutputOf, type User, useAnswer } from "../shell/call.ts";

export type OrdersInput = InputOf<"GET /orders">;
export type OrderLine = OutputOf<"GET /orders">["orders"][number];

/** These filters can have several values. The URL and the gateway's API use the same names. */
const filterNames = [
  ...(["status", "stage", "type", "endpoint", "gate", "currency", "network"] as const),
  ...(["outcome", "reason", "threeds", "country", "band"] as const),
];

/** A saved view contains these parameters of the URL, and not the page and the selected row. */
const kept = ["search", "merchant", "from", "until", ...filterNames] as const;

export function readOrdersQuery(query: URLSearchParams): OrdersInput {
  return readListQuery(query, filterNames);
}

/** `listed` contains the names of filters that can have several values. */
export function readListQuery(query: URLSearchParams, listed: readonly string[]) {
  const text = (name: string) => query.get(name)?.trim() || undefined;
  const lists = listed.flatMap((name) => {
    const values = valuesOf(query, name);
    return values.length === 0 ? [] : [[name, values] as const];
  });
  const [from, until] = [startOfDay(text("from")), startOfDay(text("until"), 1)];
  const [search, merchant, after] = [text("search"), text("merchant"), text("after")];
  return {
    ...Object.fromEntries(lists),
    ...(search && { search }),
    ...(merchant && { merchant }),
    ...(after && { after }),
    ...(from !== undefined && { from }),
    ...(until !== undefined && { until }),
  };
}

export function valuesOf(query: URLSearchParams, name: string): readonly string[] {
  return (query.get(name) ?? "").split(",").filter((value) => value !== "");
}

/** Returns whether the URL sets any of these filters, and how to change it to remove them all. */
export function makeFilters(names: readonly string[]) {
  return {
    isFiltered: (query: URLSearchParams) => names.some((name) => query.has(name)),
    withoutFilters: Object.fromEntries([...names, "after", "row"].map((name) => [name, undefined])),
  };
}

export const filters = makeFilters(kept);

export function viewOf(query: URLSearchParams): string {
  const entries = kept.flatMap((name) => {
    const value = query.get(name);
    return value ? [[name, value] as [string, string]] : [];
  });
  return new URLSearchParams(entries).toString().replaceAll("%2C", ",");
}

type SearchKind = "name" | "email" | "lastFour" | "amount" | "order" | "reference";

/** Returns the kinds of values that the search text may be, such as an amount or email address. */
export function kindsOfSearch(search: string): readonly SearchKind[] {
  const text = search.trim();
  if (text.includes("@")) return ["email"];
  if (/[^\d.,\s]/.test(text)) return ["name", "email", "order", "reference"];
  return [...(/^\d{4}$/.test(text) ? ["lastFour" as const] : []), "amount", "order", "reference"];
}

/** Formats a time for a date filter, which has no seconds. */
export function momentOf(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16)}Z`;
}

/** Returns when a day begins. A text that contains a time is read as that time. */
export function startOfDay(day: string | undefined, plusDays = 0): number | undefined {
  if (isMoment(day)) return Date.parse(day);
  const [, year, month, date] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day ?? "") ?? [];
  if (year === undefined) return undefined;
  return new Date(Number(year), Number(month) - 1, Number(date) + plusDays).getTime();
}

export function isMoment(text: string | undefined): text is string {
  return /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}Z$/.test(text ?? "");
}

export function dayOf(at: Date): string {
  const two = (number: number) => String(number).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

export function rangeSince(days: number, now: Date) {
  const first = new Date(now.getFullYear(), now.getMonth(), now.getDate() - days);
  return { from: dayOf(first), until: undefined };
}

/** A click on a value of a filter adds or removes the value. */
export function toggle(chosen: readonly string[], value: string, isSingle: boolean) {
  const rest = isSingle ? [] : chosen.filter((each) => each !== value);
  return chosen.includes(value) ? rest : [...rest, value];
}

/** Endpoints, gates, merchants and currencies rarely change, so the answer is kept for a while. */
export function useKnown(isWanted = true) {
  return useAnswer("GET /filters", {}, { staleMs: 60_000, isWanted });
}

export function configured(known: OutputOf<"GET /filters"> | undefined) {
  const { endpoints = [], gates = [], merchants = [] } = known ?? {};
  return {
    endpoint: endpoints.map(({ id, name, currency }) => ({
      value: id,
      label: name === "" ? `${id} ${currency}` : `${name} ${currency}`,
    })),
    gate: gates.map(({ id, name }) => ({ value: id, label: name || id })),
    merchant: merchants.map(({ login, name }) => ({ value: login, label: name || login })),
  };
}

export type View = { readonly name: string; readonly query: string };

/** A view with a search may not be shared, because the search may contain a person's name. */
export function mayBeShared(query: string, { rights }: Pick<User, "rights">): boolean {
  return rights.includes("share_views") && !new URLSearchParams(query).has("search");
}

/** Views that this version of the portal does not understand are left out. */
export function readViews(kept: string | null): readonly View[] {
  try {
    const stored: unknown = JSON.parse(kept ?? "[]");
    return Array.isArray(stored) ? stored.filter(isView) : [];
  } catch {
    return [];
  }
}

function isView(view: Partial<View>): view is View {
  return typeof view?.name === "string" && typeof view.query === "string";
}

export const exportedRowsMax = 1_000_000;
type Part = OutputOf<"GET /exports/orders">;

/** Reads an export part by part, from the top of the list to its end. */
export async function readParts(
  { after: _, limit: __, ...input }: OrdersInput,
  read: (input: OrdersInput) => Promise<Part>,
  report: (count: number) => void,
): Promise<{ readonly parts: readonly string[]; readonly rows: number }> {
  const parts: string[] = [];
  let [rows, after]: [number, string | undefined] = [0, undefined];
  do {
    const part: Part = await read(after === undefined ? input : { ...input, after });
    parts.push(part.csv);
    rows += part.rows;
    report(rows);
    after = part.next;
  } while (after !== undefined && rows < exportedRowsMax);
  return { parts, rows };
}
