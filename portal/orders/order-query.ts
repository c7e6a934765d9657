/**
 * The address of the orders screen and what it asks the gateway for: search, filters, dates and the
 * page. A date in the address is a day of the user's own calendar.
 */
import { type InputOf, type OutputOf, type User, useAnswer } from "../shell/call.ts";

export type OrdersInput = InputOf<"GET /orders">;
export type OrderLine = OutputOf<"GET /orders">["orders"][number];

/** Filters with several values each, by their name in the address and in the API. */
export const filterNames = [
  ...(["status", "stage", "type", "endpoint", "gate", "currency", "network"] as const),
  ...(["outcome", "reason", "threeds"] as const),
];

/** What the address has besides the page and the selected row. */
const kept = ["search", "merchant", "from", "until", ...filterNames] as const;

export function readOrdersQuery(query: URLSearchParams): OrdersInput {
  return readListQuery(query, filterNames);
}

/** What a list with a search and a date is asked for; `listed` are the filters with many values. */
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

/** Says whether the address sets one of these filters, and how to remove all of them. */
export function makeFilters(names: readonly string[]) {
  return {
    isFiltered: (query: URLSearchParams) => names.some((name) => query.has(name)),
    withoutFilters: Object.fromEntries([...names, "after", "row"].map((name) => [name, undefined])),
  };
}

export const filters = makeFilters(kept);

/** The query of a view: what is searched and filtered, without the page. */
export function viewOf(query: URLSearchParams): string {
  const entries = kept.flatMap((name) => {
    const value = query.get(name);
    return value ? [[name, value] as [string, string]] : [];
  });
  return new URLSearchParams(entries).toString().replaceAll("%2C", ",");
}

export type SearchKind = "name" | "email" | "lastFour" | "amount" | "order" | "reference";

/** What the gateway takes a search for. */
export function kindsOfSearch(search: string): readonly SearchKind[] {
  const text = search.trim();
  if (text.includes("@")) return ["email"];
  if (/[^\d.,\s]/.test(text)) return ["name", "email", "order", "reference"];
  return [...(/^\d{4}$/.test(text) ? ["lastFour" as const] : []), "amount", "order", "reference"];
}

/** A moment of the address, as figures name the beginning of their range, in whole minutes. */
export function momentOf(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16)}Z`;
}

/** Returns the start of a day, or the moment itself; undefined for a text that is neither. */
export function startOfDay(day: string | undefined, plusDays = 0): number | undefined {
  if (isMoment(day)) return Date.parse(day);
  const [, year, month, date] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day ?? "") ?? [];
  if (year === undefined) return undefined;
  return new Date(Number(year), Number(month) - 1, Number(date) + plusDays).getTime();
}

export function isMoment(text: string | undefined): text is string {
  return /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}Z$/.test(text ?? "");
}

/** A day as the address and a date field have it. */
export function dayOf(at: Date): string {
  const two = (number: number) => String(number).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

/** From the day so many days before this one. */
export function rangeSince(days: number, now: Date) {
  const first = new Date(now.getFullYear(), now.getMonth(), now.getDate() - days);
  return { from: dayOf(first), until: undefined };
}

/** The values of a filter after a click on one of them. */
export function toggle(chosen: readonly string[], value: string, isSingle: boolean) {
  const rest = isSingle ? [] : chosen.filter((each) => each !== value);
  return chosen.includes(value) ? rest : [...rest, value];
}

/** Endpoints, gates, merchants and currencies, which change seldom. */
export function useKnown(isWanted = true) {
  return useAnswer("GET /filters", {}, { staleMs: 60_000, isWanted });
}

/** What filters offer of the configuration. */
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

/** A search may name a person, and stays in the browser of the user who has made it. */
export function mayBeShared(query: string, { rights }: Pick<User, "rights">): boolean {
  return rights.includes("share_views") && !new URLSearchParams(query).has("search");
}

/** What another version of the portal has kept may have another form. */
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

/** The whole list of an export, part by part, from its beginning. */
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
